package record

import (
	"strings"

	"hark/controller/internal/ui/view"
)

// Fold shortens a list of hosts: consecutive numbers become a range, as in view.Fold. A name that looks like a range
// gets an equals sign before it.
func Fold(hosts []string) []string {
	var out []string
	for i := 0; i < len(hosts); {
		if literal(hosts[i]) {
			out = append(out, "="+hosts[i])
			i++
			continue
		}
		end := i
		for end < len(hosts) && !literal(hosts[end]) {
			end++
		}
		out = append(out, view.Fold(hosts[i:end])...)
		i = end
	}
	return out
}

func literal(host string) bool {
	return strings.HasPrefix(host, "=") || strings.HasSuffix(host, "]") && len(view.Unfold(host)) > 1 ||
		host != view.Unfold(host)[0]
}

// Unfold returns the hosts of what Fold wrote.
func Unfold(folded []string) []string {
	out := make([]string, 0, len(folded))
	for _, entry := range folded {
		if name, ok := strings.CutPrefix(entry, "="); ok {
			out = append(out, name)
		} else {
			out = append(out, view.Unfold(entry)...)
		}
	}
	return out
}

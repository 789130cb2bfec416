package compare

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"hark/controller/internal/ui/view"
)

// Text returns the comparison for people.
func (r *Result) Text() string {
	var b strings.Builder
	if len(r.Rows) > 0 {
		w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		fmt.Fprintf(w, "TASK\tHOSTS\t%s\t\t%s\t\n", r.Old, r.New)
		for _, row := range r.Rows {
			fmt.Fprintf(w, "%s\t%s\t%s\t->\t%s\t%s\n", view.OneLine(row.Task), hostsText(row.Hosts), word(string(row.Old)),
				word(string(row.New)), short(row.Msg))
		}
		_ = w.Flush() // into memory
	}
	for _, o := range r.Only {
		sign, whose := "-", r.Old
		if o.New {
			sign, whose = "+", r.New
		}
		fmt.Fprintf(&b, "%s %s: only in %s (%d hosts)\n", sign, view.OneLine(o.Task), whose, o.Hosts)
	}
	for _, s := range r.Slower {
		fmt.Fprintf(&b, "slower: %s: %s -> %s (median of %d hosts)\n", view.OneLine(s.Task), took(s.Old), took(s.New),
			s.Hosts)
	}
	fmt.Fprintf(&b, "%d of %d hosts came out the same\n", r.Same, r.Hosts)
	return b.String()
}

// word returns a status, or a word for a host that was not there.
func word(status string) string {
	if status == "" {
		return "none"
	}
	return status
}

// mostText is how many characters of a column are shown.
const mostText = 60

func short(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(view.OneLine(line))
	if len(runes) > mostText {
		return string(runes[:mostText-3]) + "..."
	}
	return string(runes)
}

func hostsText(folded []string) string {
	const most = 5
	if len(folded) > most {
		return strings.Join(folded[:most], " ") + fmt.Sprintf(" and %d more", len(folded)-most)
	}
	return strings.Join(folded, " ")
}

func took(us int64) string {
	return (time.Duration(us) * time.Microsecond).Round(100 * time.Millisecond).String()
}

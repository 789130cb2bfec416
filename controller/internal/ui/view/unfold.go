package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Unfold returns the hosts of one entry that Fold wrote. A host that is called like a range is taken for one.
func Unfold(entry string) []string {
	stem, span, ok := strings.Cut(strings.TrimSuffix(entry, "]"), "[")
	from, to, two := strings.Cut(span, ":")
	first, err := strconv.Atoi(from)
	last, bad := strconv.Atoi(to)
	if !ok || !two || err != nil || bad != nil || !strings.HasSuffix(entry, "]") || last < first ||
		last-first > mostFolded {
		return []string{entry}
	}
	names := make([]string, 0, last-first+1)
	for n := first; n <= last; n++ {
		names = append(names, stem+strconv.Itoa(n))
	}
	return names
}

// mostFolded bounds what one entry stands for: entries are read from files.
const mostFolded = 10_000_000

// SortHosts puts web2 before web10, so that hosts fold that were in no order.
func SortHosts(hosts []string) {
	slices.SortFunc(hosts, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
}

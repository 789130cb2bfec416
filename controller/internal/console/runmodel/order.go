package runmodel

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// order is the hosts of a run in natural order, prepared for naming many groups of them.
type order struct {
	rank  []int32  // by the number of the host
	names []string // by rank
	stems []string // the name without its number at the end, by rank
	ends  []int    // that number, -1 if there is none
}

// ranks returns the order of the present hosts. It assumes mu held.
func (r *Run) ranks() *order {
	if o := r.order.Load(); o != nil && len(o.rank) == len(r.hosts) {
		return o
	}
	byRank := make([]int32, len(r.hosts))
	for i := range byRank {
		byRank[i] = int32(i)
	}
	slices.SortFunc(byRank, func(a, b int32) int { return compare(r.hosts[a].Name, r.hosts[b].Name) })
	o := &order{rank: make([]int32, len(byRank)), names: make([]string, len(byRank)), stems: make([]string, len(byRank)),
		ends: make([]int, len(byRank))}
	for rank, h := range byRank {
		o.rank[h] = int32(rank)
		o.names[rank] = r.hosts[h].Name
		o.stems[rank], o.ends[rank] = parted(r.hosts[h].Name)
	}
	r.order.Store(o)
	return o
}

// parted returns a name and the number at its end, as ranges of inventories have them; -1 if there is none.
func parted(name string) (string, int) {
	i := len(name)
	for i > 0 && digit(name[i-1]) {
		i--
	}
	const longest = 9
	end := name[i:]
	if end == "" || len(end) > longest || len(end) > 1 && end[0] == '0' {
		return name, -1
	}
	n, err := strconv.Atoi(end)
	if err != nil {
		return name, -1
	}
	return name[:i], n
}

// each calls f with the ranks of hosts from the first on, until it returns false.
func (o *order) each(hosts *hostSet, f func(rank int) bool) {
	set := make([]uint64, (len(o.rank)+63)/64)
	hosts.each(func(h int32) { set[o.rank[h]/64] |= 1 << (o.rank[h] % 64) })
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			if !f(i*64 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// ranges names hosts, numbered ones as view.Fold does, in at most so many ranges, and returns how many it named.
func (o *order) ranges(hosts *hostSet, most int) (text string, told int) {
	var parts []string
	first, last := -1, -1
	flush := func() {
		switch {
		case first < 0:
		case last-first > 1:
			parts = append(parts, fmt.Sprintf("%s[%d:%d]", o.stems[first], o.ends[first], o.ends[last]))
		default:
			parts = append(parts, o.names[first:last+1]...)
		}
		if first >= 0 {
			told += last - first + 1
		}
	}
	o.each(hosts, func(rank int) bool {
		if first >= 0 && rank == last+1 && o.ends[rank] >= 0 && o.ends[rank] == o.ends[last]+1 &&
			o.stems[rank] == o.stems[last] {
			last = rank
			return true
		}
		flush()
		if len(parts) >= most {
			first = -1
			return false
		}
		first, last = rank, rank
		return true
	})
	flush()
	return strings.Join(parts, " "), told
}

// Before reports whether a name comes before another in natural order: numbers in them count by value.
func Before(a, b string) bool { return compare(a, b) < 0 }

func compare(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if digit(a[i]) && digit(b[j]) {
			x, y := digits(a[i:]), digits(b[j:])
			m, n := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(m) != len(n) {
				return len(m) - len(n)
			}
			if m != n {
				return strings.Compare(m, n)
			}
			i, j = i+len(x), j+len(y)
			continue
		}
		if a[i] != b[j] {
			return int(a[i]) - int(b[j])
		}
		i, j = i+1, j+1
	}
	if rest := (len(a) - i) - (len(b) - j); rest != 0 {
		return rest
	}
	return strings.Compare(a, b)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func digits(s string) string {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return s[:n]
}

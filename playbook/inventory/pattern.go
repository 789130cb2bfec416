package inventory

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hark/modules/dialect"
	"hark/modules/py/fnmatch"
	"hark/modules/py/pyre"
)

// SplitPattern splits a host pattern: at commas, or without commas at colons that are no part of an address or a range.
func SplitPattern(pattern string) []string {
	var parts []string
	if strings.Contains(pattern, ",") {
		parts = strings.Split(pattern, ",")
	} else if _, _, err := parseAddress(pattern, true); err == nil {
		parts = []string{pattern}
	} else {
		parts = colonParts().FindAllString(pattern, -1)
	}
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

var colonParts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:[^\s:\[\]]|\[[^\]]*\])+`) })

func splitPatterns(patterns []string) []string {
	var out []string
	for _, p := range patterns {
		out = append(out, SplitPattern(p)...)
	}
	return out
}

// Limit restricts what Match finds, as --limit does; @file reads patterns from a file, a line each. "" removes the
// limit.
func (inv *Inventory) Limit(pattern string) error {
	limit, err := limitPatterns(pattern)
	if err != nil {
		return err
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.patterns.limit = limit
	return nil
}

// Match returns the hosts of patterns, within the limit, in the order of the inventory's groups; each host once.
// Several patterns are one list. A pattern without a match is a warning, or what Options.Mismatch says.
func (inv *Inventory) Match(patterns ...string) ([]*Host, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.patterns.within(splitPatterns(patterns))
}

// Peek is Match for a look ahead: a pattern without a match is no problem yet, since a run adds hosts and groups too.
func (inv *Inventory) Peek(patterns ...string) ([]*Host, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.patterns.quiet().within(splitPatterns(patterns))
}

// MatchAll is Match without the limit.
func (inv *Inventory) MatchAll(patterns ...string) ([]*Host, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.patterns.evaluate(splitPatterns(patterns))
}

// limitPatterns returns the patterns of a limit, nil for none.
func limitPatterns(limit string) ([]string, error) {
	if limit == "" {
		return nil, nil
	}
	patterns := []string{}
	for _, p := range SplitPattern(limit) {
		file, ok := strings.CutPrefix(p, "@")
		if !ok {
			patterns = append(patterns, p)
			continue
		}
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return nil, failf("Unable to find limit file b'%s'", file)
		case !info.Mode().IsRegular():
			return nil, failf(`Limit starting with "@" must be a file, not a directory: b'%s'`, file)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, failf("cannot read the limit file %s: %s", file, err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			patterns = append(patterns, strings.TrimSpace(line))
		}
	}
	return patterns, nil
}

// matcher finds the hosts of patterns.
type matcher struct {
	notices  *notices
	tree     *tree
	mismatch string             // see Options
	limit    []string           // patterns; nil is no limit
	matched  map[string][]*Host // by pattern
}

// over makes it search another tree, with its present limit.
func (m *matcher) over(t *tree) {
	m.tree = t
	m.forget()
}

// forget drops results that may have changed.
func (m *matcher) forget() { m.matched = map[string][]*Host{} }

func (m *matcher) limited() bool { return len(m.limit) > 0 }

// quiet returns a matcher that finds the same and does not warn of patterns without hosts. It does not share its
// results, since a warning may be due later.
func (m *matcher) quiet() *matcher {
	return &matcher{notices: m.notices, tree: m.tree, mismatch: "ignore", limit: m.limit, matched: map[string][]*Host{}}
}

// within returns the hosts of patterns that are within the limit.
func (m *matcher) within(patterns []string) ([]*Host, error) {
	hosts, err := m.evaluate(patterns)
	if err != nil || !m.limited() {
		return hosts, err
	}
	within, err := m.evaluate(m.limit)
	if err != nil {
		return nil, err
	}
	in := setOf(within)
	return slices.DeleteFunc(hosts, func(h *Host) bool { return !in[h] }), nil
}

func setOf(hosts []*Host) map[*Host]bool {
	set := make(map[*Host]bool, len(hosts))
	for _, h := range hosts {
		set[h] = true
	}
	return set
}

// evaluate combines patterns: first those without a sign, then the intersections, then the exclusions.
func (m *matcher) evaluate(patterns []string) ([]*Host, error) {
	var plain, and, not []string
	for _, p := range patterns {
		switch {
		case p == "":
		case p[0] == '!':
			not = append(not, p)
		case p[0] == '&':
			and = append(and, p)
		default:
			plain = append(plain, p)
		}
	}
	if plain == nil {
		plain = []string{"all"}
	}
	var hosts []*Host
	seen := map[*Host]bool{}
	for _, p := range slices.Concat(plain, and, not) {
		if h := m.tree.hosts[p]; h != nil {
			if !seen[h] {
				seen[h] = true
				hosts = append(hosts, h)
			}
			continue
		}
		that, err := m.one(strings.TrimLeft(p[:1], "!&") + p[1:])
		if err != nil {
			return nil, err
		}
		switch p[0] {
		case '!':
			out := setOf(that)
			hosts = slices.DeleteFunc(hosts, func(h *Host) bool { return out[h] })
		case '&':
			in := setOf(that)
			hosts = slices.DeleteFunc(hosts, func(h *Host) bool { return !in[h] })
		default:
			for _, h := range that {
				if !seen[h] {
					seen[h] = true
					hosts = append(hosts, h)
				}
			}
		}
	}
	return hosts, nil
}

var subscripted = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^(.+)\[(?:(-?[0-9]+)|([0-9]+)([:-])([0-9]*))\]$`) })

// one finds the hosts of a single pattern without a sign.
func (m *matcher) one(pattern string) ([]*Host, error) {
	if hosts, ok := m.matched[pattern]; ok {
		return hosts, nil
	}
	expr := pattern
	var sub []string
	if !strings.HasPrefix(pattern, "~") {
		if m := subscripted().FindStringSubmatch(pattern); m != nil {
			expr, sub = m[1], m[2:]
		}
	}
	hosts, err := m.enumerate(expr)
	if err != nil {
		return nil, err
	}
	if sub != nil && len(hosts) > 0 {
		if hosts, err = m.subscript(hosts, sub, pattern); err != nil {
			return nil, err
		}
	}
	m.matched[pattern] = hosts
	return hosts, nil
}

// subscript applies [n] or [from:to], both ends included.
func (m *matcher) subscript(hosts []*Host, sub []string, pattern string) ([]*Host, error) {
	if sub[0] != "" {
		i, err := strconv.Atoi(sub[0])
		if i < 0 {
			i += len(hosts)
		}
		if err != nil || i < 0 || i >= len(hosts) {
			return nil, failf("No hosts matched the subscripted pattern '%s'", pattern)
		}
		return hosts[i : i+1], nil
	}
	if sub[2] == "-" {
		m.notices.warn("Use [x:y] inclusive subscripts instead of [x-y] which has been removed")
	}
	from, _ := strconv.Atoi(sub[1])
	to := len(hosts) - 1
	if sub[3] != "" {
		to, _ = strconv.Atoi(sub[3])
	}
	if to == 0 { // Python treats an end of 0 as none
		if from >= len(hosts) {
			return nil, failf("No hosts matched the subscripted pattern '%s'", pattern)
		}
		return hosts[from : from+1], nil
	}
	from, to = min(from, len(hosts)), min(to+1, len(hosts))
	return hosts[from:max(from, to)], nil
}

// enumerate finds hosts by the names of groups, and by their own names if no group matched or the pattern is no plain
// word.
func (m *matcher) enumerate(pattern string) ([]*Host, error) {
	match, err := nameMatcher(pattern)
	if err != nil {
		return nil, failf("Invalid host list pattern: %s", pattern)
	}
	// A host that matches twice is in the list twice: subscripts count it so, as Ansible's do.
	var hosts []*Host
	grouped := false
	literal := !strings.HasPrefix(pattern, "~") && !strings.ContainsAny(pattern, "?*[")
	if literal {
		if g := m.tree.groups[pattern]; g != nil {
			grouped = true
			hosts = slices.Clip(g.allHosts())
		}
		if h := m.tree.hosts[pattern]; h != nil && (!grouped || strings.Contains(pattern, ".")) {
			hosts = append(hosts, h)
		}
	} else {
		for _, g := range m.tree.groupList {
			if match(g.Name) {
				grouped = true
				hosts = append(hosts, g.allHosts()...)
			}
		}
		for _, h := range m.tree.hostList {
			if match(h.Name) {
				hosts = append(hosts, h)
			}
		}
	}
	if len(hosts) == 0 && isLocal(pattern) {
		hosts = []*Host{m.tree.host(pattern)}
	}
	if len(hosts) == 0 && !grouped && pattern != "all" {
		return nil, m.without(pattern)
	}
	return hosts, nil
}

// without reports a pattern without hosts.
func (m *matcher) without(pattern string) error {
	switch m.mismatch {
	case "ignore":
	case "error":
		return failf(dialect.NoHostMatches.Format, pattern)
	default:
		m.notices.warn(dialect.NoHostMatches.Format, pattern)
	}
	return nil
}

// matchTimeout is how long one regular expression may take on one name.
const matchTimeout = 2 * time.Second

// nameMatcher compiles a shell pattern, or a regular expression after ~, which need only match the beginning of a name.
func nameMatcher(pattern string) (func(name string) bool, error) {
	expr, isRegexp := strings.CutPrefix(pattern, "~")
	if !isRegexp {
		return fnmatch.Compile(pattern).Match, nil
	}
	re, err := pyre.Compile(expr, pyre.Options{Anchor: pyre.AtStart, Limit: matchTimeout})
	if err != nil {
		return nil, err
	}
	return func(name string) bool {
		ok, err := re.Matches(name)
		return ok && err == nil
	}, nil
}

// Order returns hosts in the order that a play asks for: "" or inventory, reverse_inventory, sorted, reverse_sorted,
// shuffle.
func Order(hosts []*Host, order string) ([]*Host, error) {
	hosts = slices.Clone(hosts)
	byName := func(a, b *Host) int { return strings.Compare(a.Name, b.Name) }
	switch order {
	case "", "inventory":
	case "reverse_inventory":
		slices.Reverse(hosts)
	case "sorted":
		slices.SortStableFunc(hosts, byName)
	case "reverse_sorted":
		slices.SortStableFunc(hosts, func(a, b *Host) int { return byName(b, a) })
	case "shuffle":
		rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	default:
		return nil, failf("Invalid 'order' specified for inventory hosts: %s", order)
	}
	return hosts, nil
}

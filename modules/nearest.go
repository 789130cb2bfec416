package modules

import "slices"

// Nearest is the parameter or alias whose name is most like a wrong one, "" if none is like it.
func (m *Module) Nearest(wrong string) string {
	best, least := "", len(wrong)/2+1
	for _, p := range m.Params {
		if p.inner() {
			continue
		}
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if d := distance(wrong, name); d < least {
				best, least = name, d
			}
		}
	}
	return best
}

// Wrong are the names among args that the module does not know, sorted. A module that takes any has none.
func (m *Module) Wrong(args map[string]any) []string {
	if m.AnyArgs {
		return nil
	}
	var wrong []string
	for name := range args {
		known := slices.ContainsFunc(m.Params, func(p Param) bool {
			return !p.inner() && (p.Name == name || slices.Contains(p.Aliases, name))
		})
		if !known {
			wrong = append(wrong, name)
		}
	}
	slices.Sort(wrong)
	return wrong
}

// distance counts the letters to change, add or leave out to make one word of the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		last := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := last
			if a[i-1] != b[j-1] {
				cost = 1 + min(last, row[j], row[j-1])
			}
			last, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}

package builtin

import (
	"slices"
	"strings"

	"hark/modules/py/pep440"
)

// allows reports whether a version meets the specifier.
func (s specifier) allows(text string) bool {
	if s.op == "===" {
		return strings.EqualFold(text, s.version)
	}
	have, ok := pep440.Parse(text)
	if !ok {
		return false
	}
	wanted, prefix := strings.CutSuffix(s.version, ".*")
	want, ok := pep440.Parse(wanted)
	if !ok {
		return false
	}
	switch s.op {
	case "==":
		if prefix {
			return have.Begins(wanted)
		}
		return have.ComparePublic(want) == 0 && (want.Local == "" || have.Local == want.Local)
	case "!=":
		if prefix {
			return !have.Begins(wanted)
		}
		return have.ComparePublic(want) != 0 || want.Local != "" && have.Local != want.Local
	case ">=":
		return have.ComparePublic(want) >= 0
	case "<=":
		return have.ComparePublic(want) <= 0
	case ">":
		return have.ComparePublic(want) > 0 && (!have.Post || want.Post || !slices.Equal(have.Release, want.Release))
	case "<":
		return have.ComparePublic(want) < 0 && (!have.Pre || want.Pre || !slices.Equal(have.Release, want.Release))
	}
	cut := strings.LastIndexByte(wanted, '.') // ~=
	return cut > 0 && have.ComparePublic(want) >= 0 && have.Begins(wanted[:cut])
}

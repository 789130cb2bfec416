package utils

import (
	"context"
	"slices"
	"sort"
	"strings"

	"hark/modules/py/value"
)

// Var returns a variable of the dict, and no other.
func (l layered) Var(_ context.Context, name string) (value.Value, bool, error) {
	v, ok := l.vars.Get(name)
	return v, ok, nil
}

func printedItems(v value.Value) []string {
	l, _ := v.(*value.List)
	if l == nil {
		return nil
	}
	var out []string
	for _, item := range l.Items {
		out = append(out, value.Printed(item))
	}
	return out
}

func listOf(items []string) value.Value {
	out := value.NewList()
	for _, s := range items {
		out.Items = append(out.Items, text(s))
	}
	return out
}

// compareLists reads a list of names that may say all and !name against those that there are.
func compareLists(base, target []string) (actionable, unsupported value.Value) {
	var chosen, without, odd []string
	if slices.Contains(target, "all") {
		chosen = slices.Clone(base)
	}
	for _, s := range target {
		if name, not := strings.CutPrefix(s, "!"); not {
			without = append(without, name)
		}
	}
	for _, name := range without {
		if i := slices.Index(chosen, name); i >= 0 {
			chosen = slices.Delete(chosen, i, i+1)
		}
	}
	for _, s := range target {
		switch {
		case s == "all" || strings.HasPrefix(s, "!"):
		case !slices.Contains(base, s):
			odd = append(odd, s)
		case !slices.Contains(chosen, s):
			chosen = append(chosen, s)
		}
	}
	sort.Strings(chosen)
	return listOf(chosen), listOf(odd)
}

package modules

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"hark/modules/py/value"
)

// given counts the named parameters that the arguments hold, None included, as Ansible counts them.
func given(names []string, args *value.Dict) int {
	n := 0
	for _, name := range names {
		if args.Has(name) {
			n++
		}
	}
	return n
}

func (r *Rules) exclusive(args *value.Dict) error {
	var groups []string
	for _, names := range r.Exclusive {
		if given(names, args) > 1 {
			groups = append(groups, strings.Join(names, "|"))
		}
	}
	if groups == nil {
		return nil
	}
	return errors.New("parameters are mutually exclusive: " + strings.Join(groups, ", "))
}

// demands returns the first broken rule of each kind, in the order in which Ansible looks.
func (r *Rules) demands(args *value.Dict) []error {
	return []error{r.together(args), r.oneOf(args), r.requiredIf(args), r.requiredBy(args)}
}

func (r *Rules) together(args *value.Dict) error {
	for _, names := range r.Together {
		if n := given(names, args); n > 0 && n < len(names) {
			return errors.New("parameters are required together: " + strings.Join(names, ", "))
		}
	}
	return nil
}

func (r *Rules) oneOf(args *value.Dict) error {
	for _, names := range r.OneOf {
		if given(names, args) == 0 {
			return errors.New("one of the following is required: " + strings.Join(names, ", "))
		}
	}
	return nil
}

func (r *Rules) requiredIf(args *value.Dict) error {
	for _, rule := range r.If {
		v, ok := args.Get(rule.Param)
		if !ok || Repr(v) != Repr(rule.Value) {
			continue
		}
		var missing []string
		for _, name := range rule.Names {
			if !args.Has(name) {
				missing = append(missing, name)
			}
		}
		need, enough := "all", len(missing) == 0
		if rule.Any {
			need, enough = "any", len(missing) < len(rule.Names)
		}
		if !enough {
			return fmt.Errorf("%s is %s but %s of the following are missing: %s", rule.Param, Str(rule.Value), need,
				strings.Join(missing, ", "))
		}
	}
	return nil
}

func (r *Rules) requiredBy(args *value.Dict) error {
	keys := make([]string, 0, len(r.By))
	for k := range r.By {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if !IsGiven(args, k) {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(r.By[k]), func(name string) bool { return IsGiven(args, name) })
		if len(missing) > 0 {
			return fmt.Errorf("missing parameter(s) required by '%s': %s", k, strings.Join(missing, ", "))
		}
	}
	return nil
}

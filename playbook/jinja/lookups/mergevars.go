package lookups

import (
	"sort"
	"strings"

	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// mergeVariables joins the lists or dicts of all variables whose names match.
func mergeVariables(c *jinja.Call, terms []value.Value, kw *value.Dict) ([]value.Value, error) {
	m := merger{way: "regex", override: "error"}
	if err := m.options(kw); err != nil {
		return nil, err
	}
	out := []value.Value{}
	for _, t := range terms {
		pattern, ok := value.Text(t)
		if !ok {
			return nil, failf("Non-string type '%s' passed, only 'str' types are allowed!", class(t))
		}
		names, err := m.names(c, pattern)
		if err != nil {
			return nil, err
		}
		merged, err := m.merge(c, names)
		if err != nil {
			return nil, err
		}
		out = append(out, merged)
	}
	return out, nil
}

// merger is how variables are chosen and joined.
type merger struct {
	way      string // regex, prefix or suffix
	override string // error, warn or ignore
	initial  value.Value
}

func (m *merger) options(kw *value.Dict) error {
	for _, o := range []struct {
		name    string
		to      *string
		choices string
	}{{"pattern_type", &m.way, "prefix, suffix, regex"}, {"override", &m.override, "error, warn, ignore"}} {
		v, ok := kw.Get(o.name)
		if !ok {
			continue
		}
		s, err := value.ToStr(v)
		if err != nil {
			return err
		}
		if !strings.Contains(", "+o.choices+",", ", "+s+",") {
			return value.Errorf("AnsibleOptionsError",
				`Invalid value "%s" for configuration option "plugin_type: lookup plugin: ansible_collections.community.general.plugins.lookup.merge_variables setting: %s ", valid values are: %s`, s, o.name, o.choices)
		}
		*o.to = s
	}
	if v, ok := kw.Get("initial_value"); ok && !value.IsNone(v) {
		m.initial = v
	}
	return nil
}

// names returns the variables that match, in alphabetical order.
func (m *merger) names(c *jinja.Call, pattern string) ([]string, error) {
	scope, ok := c.Scope.(namer)
	if !ok {
		return nil, failf("No variables available to search")
	}
	fits := func(name string) (bool, error) { return strings.HasPrefix(name, pattern), nil }
	switch m.way {
	case "suffix":
		fits = func(name string) (bool, error) { return strings.HasSuffix(name, pattern), nil }
	case "regex":
		re, err := pyre.Compile(pattern, pyre.Options{})
		if err != nil {
			return nil, err
		}
		fits = re.Matches
	}
	var names []string
	for _, name := range scope.Names(c.Ctx) {
		ok, err := fits(name)
		if err != nil {
			return nil, err
		}
		if ok {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names, nil
}

func (m *merger) merge(c *jinja.Call, names []string) (value.Value, error) {
	var result value.Value
	if m.initial != nil {
		if _, err := mergeType(m.initial); err != nil {
			return nil, err
		}
		result = copied(m.initial)
	}
	for _, name := range names {
		v, _, err := c.Scope.Var(c.Ctx, name)
		if err != nil {
			return nil, err
		}
		if result, err = m.join(result, v, name); err != nil {
			return nil, err
		}
	}
	if result == nil {
		return value.None{}, nil
	}
	return result, nil
}

// join adds a variable to what was merged, which is nil before the first.
func (m *merger) join(result, v value.Value, name string) (value.Value, error) {
	kind, err := mergeType(v)
	if err != nil || result == nil {
		return copied(v), err
	}
	before, err := mergeType(result)
	switch {
	case err != nil:
		return nil, err
	case before != kind:
		return nil, failf("Unable to merge, not all variables are of the same type")
	case kind == "list":
		return value.Binary("+", result, v)
	}
	return result, m.into(result.(*value.Dict), v.(*value.Dict), name)
}

func mergeType(v value.Value) (string, error) {
	switch v := v.(type) {
	case *value.List:
		return "list", nil
	case *value.Dict:
		return "dict", nil
	case *value.Undefined:
		return "", v.Use()
	}
	return "", failf("Not supported type detected, variable must be a list or a dict")
}

// copied returns a copy of the dicts in v, so that merging does not change variables.
func copied(v value.Value) value.Value {
	d, ok := v.(*value.Dict)
	if !ok {
		return v
	}
	out := value.NewDict()
	d.Each(func(k, item value.Value) bool { return out.SetKey(k, copied(item)) })
	return out
}

func (m *merger) into(dest, src *value.Dict, path string) error {
	for i := range src.Len() {
		k, v := src.At(i)
		old, has := dest.GetKey(k)
		key, err := value.ToStr(k)
		if err != nil {
			return err
		}
		inner, isDict := v.(*value.Dict)
		_, isList := v.(*value.List)
		oldDict, oldIsDict := old.(*value.Dict)
		switch {
		case isDict && has && oldIsDict:
			if err := m.into(oldDict, inner, path+"."+key); err != nil {
				return err
			}
			continue
		case isList && has:
			if v, err = value.Binary("+", old, v); err != nil {
				return err
			}
		case has && m.override == "error":
			same, err := value.Equal(old, v)
			if err != nil {
				return err
			}
			if !same {
				return failf("The key '%s' with value '%s' will be overwritten with value '%s' from '%s.%s'", key,
					value.Printed(old), value.Printed(v), path, key)
			}
		}
		dest.SetKey(k, copied(v))
	}
	return nil
}

package value

import (
	"fmt"
	"strings"
)

// Args are the arguments of a call.
type Args struct {
	Pos []Value
	Kw  []Kwarg
}

// Kwarg is one keyword argument.
type Kwarg struct {
	Name string
	V    Value
}

// Param is a parameter of a function. A nil Default makes it required.
type Param struct {
	Name    string
	Default Value
}

// Req returns a required parameter.
func Req(name string) Param { return Param{Name: name} }

// Opt returns a parameter with a default.
func Opt(name string, def Value) Param { return Param{Name: name, Default: def} }

// KwOf returns a keyword argument.
func (a *Args) KwOf(name string) (Value, bool) {
	for _, k := range a.Kw {
		if k.Name == name {
			return k.V, true
		}
	}
	return nil, false
}

// Bind matches the arguments of a filter or test with its parameters, given without the first, the value that is
// filtered. The result has one value per parameter. Errors are Python's, which count the value too.
func (a *Args) Bind(fn string, params ...Param) ([]Value, error) {
	return a.bind(fn, 1, params)
}

// BindCall is Bind for a function, which has no value before its arguments.
func (a *Args) BindCall(fn string, params ...Param) ([]Value, error) {
	return a.bind(fn, 0, params)
}

// BindMethod is Bind for methods of Python's types, whose parameters mostly cannot be named and whose errors
// name no parameter: min and max arguments, and the names of those that may come by keyword, "" for the others.
// A name that ends with () makes errors about the count in another of Python's styles.
func (a *Args) BindMethod(fn string, minArgs int, names ...string) ([]Value, error) {
	out := make([]Value, len(names))
	counted := fn
	fn = strings.TrimSuffix(fn, "()")
	if len(a.Pos) > len(names) {
		return nil, countError(counted, minArgs, len(names), len(a.Pos))
	}
	copy(out, a.Pos)
	for _, k := range a.Kw {
		i := indexOf(names, k.Name)
		if i < 0 {
			if strings.Join(names, "") == "" {
				return nil, TypeErrorf("%s() takes no keyword arguments", fn)
			}
			return nil, TypeErrorf("'%s' is an invalid keyword argument for %s()", k.Name, shortName(fn))
		}
		if out[i] != nil {
			return nil, TypeErrorf("argument for %s() given by name ('%s') and position (%d)", shortName(fn), k.Name, i+1)
		}
		out[i] = k.V
	}
	for i := 0; i < minArgs; i++ {
		if out[i] == nil {
			return nil, countError(counted, minArgs, len(names), len(a.Pos))
		}
	}
	return out, nil
}

func shortName(fn string) string { return fn[strings.LastIndexByte(fn, '.')+1:] }

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name && n != "" {
			return i
		}
	}
	return -1
}

func countError(fn string, minArgs, maxArgs, got int) error {
	name, spelled := strings.CutSuffix(fn, "()")
	switch {
	case spelled && got < minArgs:
		return TypeErrorf("%s() takes at least %d argument%s (%d given)", shortName(name), minArgs, plural(minArgs), got)
	case spelled:
		return TypeErrorf("%s() takes at most %d argument%s (%d given)", shortName(name), maxArgs, plural(maxArgs), got)
	case maxArgs == 0:
		return TypeErrorf("%s() takes no arguments (%d given)", fn, got)
	case minArgs == maxArgs && maxArgs == 1:
		return TypeErrorf("%s() takes exactly one argument (%d given)", fn, got)
	case minArgs == maxArgs:
		return TypeErrorf("%s expected %d arguments, got %d", shortName(fn), maxArgs, got)
	case got < minArgs:
		return TypeErrorf("%s expected at least %d argument%s, got %d", shortName(fn), minArgs, plural(minArgs), got)
	}
	return TypeErrorf("%s expected at most %d argument%s, got %d", shortName(fn), maxArgs, plural(maxArgs), got)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

func (a *Args) bind(fn string, before int, params []Param) ([]Value, error) {
	out := make([]Value, len(params))
	n := copy(out, a.Pos)
	for _, k := range a.Kw {
		i := paramIndex(params, k.Name)
		if i < 0 {
			return nil, TypeErrorf("%s() got an unexpected keyword argument '%s'", fn, k.Name)
		}
		if out[i] != nil {
			return nil, TypeErrorf("%s() got multiple values for argument '%s'", fn, k.Name)
		}
		out[i] = k.V
	}
	if len(a.Pos) > n {
		return nil, tooMany(fn, before, params, len(a.Pos))
	}
	var missing []string
	for i, p := range params {
		if out[i] != nil {
			continue
		}
		if p.Default == nil {
			missing = append(missing, "'"+p.Name+"'")
			continue
		}
		out[i] = p.Default
	}
	if len(missing) > 0 {
		return nil, missingError(fn, missing)
	}
	return out, nil
}

func paramIndex(params []Param, name string) int {
	for i, p := range params {
		if p.Name == name {
			return i
		}
	}
	return -1
}

func tooMany(fn string, before int, params []Param, got int) error {
	required := 0
	for _, p := range params {
		if p.Default == nil {
			required++
		}
	}
	count := fmt.Sprint(before + len(params))
	if required < len(params) {
		count = fmt.Sprintf("from %d to %d", before+required, before+len(params))
	}
	were := "were"
	if before+got == 1 {
		were = "was"
	}
	return TypeErrorf("%s() takes %s positional argument%s but %d %s given",
		fn, count, plural(before+len(params)), before+got, were)
}

func missingError(fn string, missing []string) error {
	n := len(missing)
	list := missing[0]
	if n == 2 {
		list = missing[0] + " and " + missing[1]
	} else if n > 2 {
		list = strings.Join(missing[:n-1], ", ") + ", and " + missing[n-1]
	}
	return TypeErrorf("%s() missing %d required positional argument%s: %s", fn, n, plural(n), list)
}

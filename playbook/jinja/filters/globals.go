package filters

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/methods"
)

// Globals are Jinja's global functions.
func Globals() map[string]value.Value {
	return map[string]value.Value{
		"range":     rangeType{},
		"dict":      dictType{},
		"lipsum":    &value.Func{Name: "lipsum", Fn: lipsum},
		"cycler":    &value.Func{Name: "cycler", Fn: newCycler},
		"joiner":    &value.Func{Name: "joiner", Fn: newJoiner},
		"namespace": &value.Func{Name: "namespace", Fn: namespace},
	}
}

// rangeType is the class range, which can be called.
type rangeType struct{}

func (rangeType) Type() string { return "type" }
func (rangeType) Str() string  { return "<class 'range'>" }
func (rangeType) Repr() string { return "<class 'range'>" }

func (rangeType) Call(_ *jinja.Call, args *jinja.Args) (value.Value, error) { return rangeFunc(args) }

func rangeFunc(args *value.Args) (value.Value, error) {
	if len(args.Kw) > 0 {
		return nil, value.TypeErrorf("range() takes no keyword arguments")
	}
	n := len(args.Pos)
	if n == 0 || n > 3 {
		if n == 0 {
			return nil, value.TypeErrorf("range expected at least 1 argument, got 0")
		}
		return nil, value.TypeErrorf("range expected at most 3 arguments, got %d", n)
	}
	var bounds [3]int64
	for i, v := range args.Pos {
		k, ok := value.AsInt(v)
		if !ok {
			return nil, value.TypeErrorf("'%s' object cannot be interpreted as an integer", v.Type())
		}
		bounds[i] = k
	}
	switch {
	case n == 1:
		return value.Range{Stop: bounds[0], Step: 1}, nil
	case n == 2:
		return value.Range{Start: bounds[0], Stop: bounds[1], Step: 1}, nil
	case bounds[2] == 0:
		return nil, value.ValueErrorf("range() arg 3 must not be zero")
	}
	return value.Range{Start: bounds[0], Stop: bounds[1], Step: bounds[2]}, nil
}

// dictType is the class dict, which can be called and has fromkeys.
type dictType struct{}

func (dictType) Type() string { return "type" }
func (dictType) Str() string  { return "<class 'dict'>" }
func (dictType) Repr() string { return "<class 'dict'>" }

func (dictType) Attr(name string) (value.Value, bool) {
	if name != "fromkeys" {
		return nil, false
	}
	return &value.Func{Name: name, Fn: methods.FromKeys}, true
}

func (dictType) Call(_ *jinja.Call, args *jinja.Args) (value.Value, error) {
	if len(args.Pos) > 1 {
		return nil, value.TypeErrorf("dict expected at most 1 argument, got %d", len(args.Pos))
	}
	d := value.NewDict()
	for _, v := range args.Pos {
		if err := methods.Merge(d, v); err != nil {
			return nil, err
		}
	}
	for _, k := range args.Kw {
		d.SetKey(value.Str(k.Name), k.V)
	}
	return d, nil
}

func namespace(args *value.Args) (value.Value, error) {
	ns := &value.Namespace{}
	for _, v := range args.Pos {
		if err := methods.Merge(&ns.Attrs, v); err != nil {
			return nil, err
		}
	}
	for _, k := range args.Kw {
		ns.Attrs.SetKey(value.Str(k.Name), k.V)
	}
	return ns, nil
}

// cycler gives its items in turn.
type cycler struct {
	items []value.Value
	at    int
}

func newCycler(args *value.Args) (value.Value, error) {
	if len(args.Pos) == 0 {
		return nil, value.Errorf("RuntimeError", "at least one item has to be provided")
	}
	return &cycler{items: args.Pos}, nil
}

func (*cycler) Type() string { return "Cycler" }

func (*cycler) QualifiedType() string { return "jinja2.utils.Cycler" }

func (c *cycler) Attr(name string) (value.Value, bool) {
	switch name {
	case "current":
		return c.items[c.at], true
	case "items":
		return value.NewTuple(c.items...), true
	case "pos":
		return value.Int(c.at), true
	case "next":
		return &value.Func{Name: name, Fn: func(*value.Args) (value.Value, error) {
			v := c.items[c.at]
			c.at = (c.at + 1) % len(c.items)
			return v, nil
		}}, true
	case "reset":
		return &value.Func{Name: name, Fn: func(*value.Args) (value.Value, error) {
			c.at = 0
			return value.None{}, nil
		}}, true
	}
	return nil, false
}

// joiner gives nothing when it is first called, then its separator.
type joiner struct {
	sep  value.Value
	used bool
}

func newJoiner(args *value.Args) (value.Value, error) {
	a, err := args.BindCall("joiner", value.Opt("sep", value.Str(", ")))
	if err != nil {
		return nil, err
	}
	return &joiner{sep: a[0]}, nil
}

func (*joiner) Type() string { return "Joiner" }

func (*joiner) QualifiedType() string { return "jinja2.utils.Joiner" }

// Attr returns the separator and whether it was used.
func (j *joiner) Attr(name string) (value.Value, bool) {
	switch name {
	case "sep":
		return j.sep, true
	case "used":
		return value.Bool(j.used), true
	}
	return nil, false
}

func (j *joiner) Call(*jinja.Call, *jinja.Args) (value.Value, error) {
	if !j.used {
		j.used = true
		return value.Str(""), nil
	}
	return j.sep, nil
}

const lorem = "a ac accumsan ad adipiscing aenean aliquam aliquet amet ante aptent arcu at auctor augue bibendum " +
	"blandit class commodo condimentum congue consectetuer consequat conubia convallis cras cubilia cum curabitur curae " +
	"cursus dapibus"

// lipsum gives paragraphs of filler text. Jinja's are random; these are not.
func lipsum(args *value.Args) (value.Value, error) {
	a, err := args.BindCall("generate_lorem_ipsum", value.Opt("n", value.Int(5)), value.Opt("html", value.Bool(true)),
		value.Opt("min", value.Int(20)), value.Opt("max", value.Int(100)))
	if err != nil {
		return nil, err
	}
	n, ok := value.AsInt(a[0])
	if !ok || n > 1000 {
		return nil, value.ValueErrorf("lipsum() wants a number of paragraphs up to 1000")
	}
	html, err := value.Truth(a[1])
	if err != nil {
		return nil, err
	}
	words := strings.Fields(lorem)
	size, ok := value.AsInt(a[2])
	if !ok || size > 10_000 {
		return nil, value.ValueErrorf("lipsum() wants a number of words up to 10000")
	}
	var paragraphs []string
	for i := range int(n) {
		var p []string
		for w := range int(max(1, size)) {
			p = append(p, words[(i*7+w*3)%len(words)])
		}
		text := methods.Capitalize(strings.Join(p, " ")) + "."
		if html {
			text = "<p>" + text + "</p>"
		}
		paragraphs = append(paragraphs, text)
	}
	if html {
		return value.Markup(strings.Join(paragraphs, "\n")), nil
	}
	return value.Str(strings.Join(paragraphs, "\n\n")), nil
}

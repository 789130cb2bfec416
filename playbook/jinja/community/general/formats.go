package general

import (
	"errors"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/jmespath"
	"hark/playbook/jinja/pycsv"
	"hark/playbook/jinja/pyini"
)

func jsonQuery(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("json_query", value.Req("expr"))
	if err != nil {
		return nil, err
	}
	expr, err := value.ToStr(a[0])
	if err != nil {
		return nil, err
	}
	found, err := jmespath.Search(expr, in)
	var bad *jmespath.Error
	switch {
	case errors.As(err, &bad):
		return nil, value.FilterErrorf("JMESPathError in json_query filter plugin:\n%s", err)
	case err != nil:
		return nil, value.FilterErrorf("Error in jmespath.search in json_query filter plugin:\n%s", err)
	}
	return found, nil
}

// dialectOf reads the arguments of from_csv about how its text is written.
func dialectOf(a []value.Value) (pycsv.Dialect, error) {
	d := pycsv.Dialect{Delimiter: ','}
	name, err := value.ToStr(a[0])
	if err != nil {
		return d, err
	}
	switch name {
	case "excel", "unix":
	case "excel-tab":
		d.Delimiter = '\t'
	default:
		return d, value.FilterErrorf("Dialect '%s' is not supported by your version of python.", name)
	}
	if !value.IsNone(a[2]) {
		s, ok := value.Text(a[2])
		if !ok {
			return d, value.FilterErrorf(`Unable to create custom dialect: "delimiter" must be string, not %s`, a[2].Type())
		}
		if d.Delimiter, err = pycsv.Delimiter(s); err != nil {
			return d, value.FilterErrorf("Unable to create custom dialect: %s", err)
		}
	}
	if d.SkipInitialSpace, err = value.Truth(a[3]); err != nil {
		return d, err
	}
	d.Strict, err = value.Truth(a[4])
	return d, err
}

func fromCSV(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	a, err := args.Bind("from_csv", value.Opt("dialect", text("excel")), value.Opt("fieldnames", none),
		value.Opt("delimiter", none),
		value.Opt("skipinitialspace", none), value.Opt("strict", none))
	if err != nil {
		return nil, err
	}
	dialect, err := dialectOf(a)
	if err != nil {
		return nil, err
	}
	data, err := value.ToStr(in)
	if err != nil {
		return nil, err
	}
	rows, err := pycsv.Read(strings.TrimPrefix(data, "\ufeff"), dialect)
	if err != nil {
		return nil, value.FilterErrorf("Unable to process file: %s", err)
	}
	var names []value.Value
	if given, err := value.Truth(a[1]); err != nil {
		return nil, err
	} else if given {
		if names, err = value.Elements(a[1]); err != nil {
			return nil, err
		}
	} else if len(rows) > 0 {
		names, rows = values(rows[0]), rows[1:]
	}
	out := value.NewList()
	for _, row := range rows {
		if len(row) > 0 {
			out.Items = append(out.Items, record(names, values(row)))
		}
	}
	return out, nil
}

func values(row []string) []value.Value {
	out := make([]value.Value, len(row))
	for i, s := range row {
		out[i] = text(s)
	}
	return out
}

// record names the fields of a row; those without a name are a list under None, and missing ones None.
func record(names, row []value.Value) value.Value {
	d := value.NewDict()
	for i, name := range names {
		if i < len(row) {
			d.SetKey(name, row[i])
		}
	}
	if len(row) > len(names) {
		d.SetKey(none, value.NewList(row[len(names):]...))
	}
	for i := len(row); i < len(names); i++ {
		d.SetKey(names[i], none)
	}
	return d
}

func fromINI(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("from_ini"); err != nil {
		return nil, err
	}
	s, ok := value.Text(in)
	if !ok {
		return nil, value.FilterErrorf("from_ini requires a str, got %s", value.ClassOf(in).Str())
	}
	f, err := pyini.Parse(s, pyini.Options{CaseSensitive: true})
	if err != nil {
		return nil, value.FilterErrorf("from_ini failed to parse given string: %s", err)
	}
	out := value.NewDict()
	for _, name := range f.Names {
		out.SetKey(text(name), sectionDict(f.Section(name)))
	}
	if defaults := sectionDict(f.Defaults); defaults.Len() > 0 {
		out.SetKey(text("DEFAULT"), defaults)
	}
	return out, nil
}

func sectionDict(s *pyini.Section) *value.Dict {
	d := value.NewDict()
	for _, name := range s.Options() {
		v, _ := s.Raw(name)
		if v == nil {
			d.SetKey(text(name), none)
		} else {
			d.SetKey(text(name), text(*v))
		}
	}
	return d
}

func toINI(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if _, err := args.Bind("to_ini"); err != nil {
		return nil, err
	}
	if !value.IsMapping(in) {
		return nil, value.FilterErrorf("to_ini requires a dict, got %s", value.ClassOf(in).Str())
	}
	sections, err := value.ToDict(in)
	if err != nil {
		return nil, err
	}
	if sections.Len() == 0 {
		return nil, value.FilterErrorf("to_ini received an empty dict. An empty dict cannot be converted.")
	}
	var b strings.Builder
	for i := range sections.Len() {
		name, section := sections.At(i)
		if !value.IsMapping(section) {
			return nil, value.FilterErrorf("to_ini failed to parse given dict:'%s' object has no attribute 'items'",
				section.Type())
		}
		options, err := value.ToDict(section)
		if err != nil {
			return nil, err
		}
		b.WriteString("[" + value.Printed(name) + "]\n")
		options.Each(func(k, v value.Value) bool {
			b.WriteString(value.Printed(k) + " = " + strings.ReplaceAll(value.Printed(v), "\n", "\n\t") + "\n")
			return true
		})
		b.WriteString("\n")
	}
	return text(b.String()), nil
}

package filters

import (
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/pyyaml"
)

// ansibleJSON are Ansible's filters of JSON.
func ansibleJSON() map[string]jinja.Filter {
	return map[string]jinja.Filter{"to_json": toJSON, "to_nice_json": toNiceJSON, "from_json": fromJSON}
}

func toJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if len(args.Pos) > 0 {
		return nil, dumpsPositional(len(args.Pos), args.Kw, "cls")
	}
	return dumpJSON(in, value.JSONOptions{}, args.Kw)
}

func toNiceJSON(_ *jinja.Call, in value.Value, args *jinja.Args) (value.Value, error) {
	if n := len(args.Pos); n > 2 {
		return nil, dumpsPositional(n-2, args.Kw, "indent", "separators", "sort_keys", "cls")
	}
	a, rest, err := bindSome(args, "to_nice_json", value.Opt("indent", value.Int(4)),
		value.Opt("sort_keys", value.Bool(true)))
	if err != nil {
		return nil, err
	}
	return dumpJSON(in, value.JSONOptions{Item: ",", Colon: ": "},
		append([]jinja.Kwarg{{Name: "indent", V: a[0]}, {Name: "sort_keys", V: a[1]}}, rest...))
}

// dumpsPositional is the error of json.dumps for n arguments by position. Ansible gives it some by keyword besides
// those of the template.
func dumpsPositional(n int, kw []jinja.Kwarg, ansibles ...string) error {
	for _, k := range kw {
		if !slices.Contains(ansibles, k.Name) && slices.Contains(dumpsOptions, k.Name) {
			ansibles = append(ansibles, k.Name)
		}
	}
	s := "s"
	if len(ansibles) == 1 {
		s = ""
	}
	return value.TypeErrorf(
		"dumps() takes 1 positional argument but %d positional arguments (and %d keyword-only argument%s) were given", n+1,
		len(ansibles), s)
}

// dumpsOptions are what json.dumps takes by keyword.
var dumpsOptions = []string{"skipkeys", "ensure_ascii", "check_circular", "allow_nan", "cls", "indent", "separators",
	"default", "sort_keys"}

// dumpJSON prints with the options that json.dumps takes by keyword. What lies between items and after keys is set by
// separators, or else by indent.
func dumpJSON(in value.Value, o value.JSONOptions, options []jinja.Kwarg) (value.Value, error) {
	o.ASCII = true
	for _, k := range options {
		if err := jsonOption(&o, k); err != nil {
			return nil, err
		}
	}
	s, err := value.Dumps(in, o)
	return value.NativeStr(s), err
}

func jsonOption(o *value.JSONOptions, k jinja.Kwarg) error {
	var err error
	switch k.Name {
	case "ensure_ascii":
		o.ASCII, err = value.Truth(k.V)
	case "sort_keys":
		o.Sorted, err = value.Truth(k.V)
	case "indent":
		err = jsonIndent(o, k.V)
	case "separators":
		var items []value.Value
		if items, err = value.Elements(k.V); err == nil && len(items) == 2 {
			o.Item, _ = value.Text(items[0])
			o.Colon, _ = value.Text(items[1])
		}
	case "skipkeys", "check_circular", "allow_nan", "default", "vault_to_text", "preprocess_unsafe", "profile":
		// they do not change what plain data gives
	default:
		err = value.TypeErrorf("JSONEncoder.__init__() got an unexpected keyword argument '%s'", k.Name)
	}
	return err
}

func jsonIndent(o *value.JSONOptions, v value.Value) error {
	if value.IsNone(v) {
		return nil
	}
	o.Lines = true
	if s, ok := value.Text(v); ok {
		o.Indent = s
		return nil
	}
	n, ok := value.AsInt(v)
	if !ok {
		return value.TypeErrorf("can't multiply sequence by non-int of type '%s'", v.Type())
	}
	o.Indent = strings.Repeat(" ", int(max(0, min(n, 1000))))
	return nil
}

func fromJSON(_ *jinja.Call, in value.Value, _ *jinja.Args) (value.Value, error) {
	s, ok := value.Text(in)
	if !ok {
		return nil, value.TypeErrorf("the JSON object must be str, bytes or bytearray, not %s", in.Type())
	}
	v, err := pyyaml.JSON(s, textKind(in))
	if err != nil {
		return nil, value.Errorf("JSONDecodeError", "%s", err)
	}
	return v, nil
}

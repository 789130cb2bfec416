package argspec

import (
	"testing"

	"hark/modules/py/value"
)

func options() []Option {
	return []Option{
		{Name: "value", Kind: "str", Required: true}, {Name: "n", Kind: "int"}, {Name: "b", Kind: "bool"}, {Name: "l", Kind: "list"}, {Name: "d", Kind: "dict"},
		{Name: "c", Kind: "str", Choices: []string{"x", "y"}}, {Name: "q", Kind: "str", Default: value.Str("usual")}, {Name: "r", Kind: "raw"}, {Name: "i", Kind: "items"},
	}
}

func args(pairs ...any) *value.Args {
	a := &value.Args{}
	for i := 0; i < len(pairs); i += 2 {
		a.Kw = append(a.Kw, value.Kwarg{Name: pairs[i].(string), V: value.FromGo(pairs[i+1], value.KindStr)})
	}
	return a
}

// The expectations are what ArgumentSpecValidator of ansible-core 2.14.18 makes of the same arguments.
func TestArgumentsAreConverted(t *testing.T) {
	a := args("n", "7", "b", "yes", "l", "p,q", "d", map[string]any{}, "c", "y", "r", []any{1}, "i", "1,2")
	got, err := Bind(value.Int(5), a, options()...)
	if want := "['5', 7, True, ['p', 'q'], {}, 'y', 'usual', [1], ['1', '2']]"; err != nil || value.PrintedRepr(value.NewList(got...)) != want {
		t.Errorf("%s, %v", value.PrintedRepr(value.NewList(got...)), err)
	}
	got, err = Bind(value.Str("a"), &value.Args{Pos: []value.Value{value.Int(3), value.Str("no"), value.Int(3)}}, options()...)
	if want := "['a', 3, False, ['3'], None, None, 'usual', None, None]"; err != nil || value.PrintedRepr(value.NewList(got...)) != want {
		t.Errorf("by their places: %s, %v", value.PrintedRepr(value.NewList(got...)), err)
	}
}

func TestWrongArgumentsAreNamedInAnsiblesWords(t *testing.T) {
	for _, c := range []struct {
		in   value.Value
		args *value.Args
		want string
	}{
		{nil, args("n", 1), "missing required arguments: value"},
		{value.Str("a"), args("n", "x"), "argument 'n' is of type <class 'str'> and we were unable to convert to int: <class 'str'> cannot be converted to an int"},
		{value.Str("a"), args("l", map[string]any{}), "argument 'l' is of type <class 'dict'> and we were unable to convert to list: <class 'dict'> cannot be converted to a list"},
		{value.Str("a"), args("i", map[string]any{}), "argument 'i' is of type <class 'dict'> and we were unable to convert to list: <class 'dict'> cannot be converted to a list"},
		{value.Str("a"), args("d", []any{}), "argument 'd' is of type <class 'list'> and we were unable to convert to dict: <class 'list'> cannot be converted to a dict"},
		{value.Str("a"), args("c", "z"), "value of c must be one of: x, y, got: z"},
		{value.Str("a"), args("zz", 1, "yy", 2), "yy, zz. Supported parameters include: b, c, d, i, l, n, q, r, value."},
	} {
		_, err := Bind(c.in, c.args, options()...)
		if want := "[" + value.ReprText(c.want) + "]"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	const maybe = "The value 'maybe' is not a valid boolean."
	if _, err := Bind(value.Str("a"), args("b", "maybe", "n", "x"), options()...); err == nil || len(err.Error()) < len(maybe)*2 {
		t.Errorf("of two mistakes: %v", err)
	}
}

func TestTextIsWhatAnOptionOfKindStrWouldBe(t *testing.T) {
	for want, v := range map[string]value.Value{"a": value.SourceText("a"), "1": value.Int(1), "[1]": value.NewList(value.Int(1)), "True": value.Bool(true)} {
		if got, err := Text(v); err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

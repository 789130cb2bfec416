package modules

import (
	"context"
	"reflect"
	"testing"

	"hark/modules/py/value"
)

// The expectations are what Python 3.11 prints.
func TestReprIsPythons(t *testing.T) {
	for want, v := range map[string]any{
		"None": nil, "True": true, "12": int64(12), "1.0": 1.0, "0.1": 0.1, "1e+16": 1e16, "1e-05": 1e-5, "'a'": "a",
		`"it's"`:      "it's",
		`'it\'s "x"'`: `it's "x"`, `'a\n\x00ü'`: "a\n\x00ü", "['a', 1]": []any{"a", int64(1)},
		"{'a': None}": map[string]any{"a": nil},
	} {
		if got := Repr(v); got != want {
			t.Errorf("Repr(%#v) = %s, want %s", v, got, want)
		}
	}
}

func TestPyJSONIsPythons(t *testing.T) {
	for want, v := range map[string]any{
		`{"a": [1, 2.0, null], "b": "\u00fc\ud83d\ude00<"}`: map[string]any{"b": "ü😀<", "a": []any{int64(1), 2.0, nil}},
		`"\n\"\\"`: "\n\"\\",
	} {
		if got := PyJSON(v); got != want {
			t.Errorf("PyJSON(%#v) = %s, want %s", v, got, want)
		}
	}
}

func TestResultJSONKeepsFloats(t *testing.T) {
	raw, err := Result{Data: value.DictOf("f", 1.0, "n", 1, "l", []string{"ü"})}.JSON()
	if want := `{"changed":false,"f":1.0,"n":1,"l":["ü"]}`; err != nil || string(raw) != want {
		t.Errorf("%s %v", raw, err)
	}
}

func TestLinesAreSplitlines(t *testing.T) {
	if got := Lines("a\nb\r\nc\rd\ve\u2028f\n\n"); !reflect.DeepEqual(got, []any{"a", "b", "c", "d", "e", "f", ""}) {
		t.Errorf("%q", got)
	}
	if got := Lines(""); got == nil || len(got) != 0 {
		t.Errorf("%#v", got)
	}
}

func TestSizesHaveUnits(t *testing.T) {
	for _, c := range []struct {
		text, kind string
		want       int64
	}{{"10", "bytes", 10}, {"1K", "bytes", 1024}, {"2MB", "bytes", 2 << 20}, {"1.5G", "bytes", 3 << 29},
		{"1Mb", "bits", 1 << 20}} {
		if got, err := coerce(c.kind, value.Str(c.text), Reading{}); err != nil || got != value.Int(c.want) {
			t.Errorf("%s %s = %v, %v", c.kind, c.text, got, err)
		}
	}
	if _, err := coerce("bytes", value.Str("1Mb"), Reading{}); err == nil ||
		err.Error() != "<class 'str'> cannot be converted to a Byte value" {
		t.Errorf("got %v", err)
	}
}

func TestPanicsBecomeFailures(t *testing.T) {
	type none struct{}
	m := Define("a.b.c", "", func(_ context.Context, _ *Env, _ none) (Result, error) { panic("oops") })
	res := m.Run(t.Context(), &Env{}, value.NewDict())
	if !res.Failed || res.Msg != "internal error: module a.b.c broke: oops" {
		t.Errorf("%+v", res)
	}
}

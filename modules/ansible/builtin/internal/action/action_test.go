package action

import (
	"testing"

	"hark/modules"
	"hark/modules/py/value"
)

func TestNumbersAreThoseOfPythonsInt(t *testing.T) {
	for _, c := range []struct {
		v    any
		want int
		err  string
	}{
		{int64(7), 7, ""}, {" 12 ", 12, ""}, {2.9, 2, ""}, {-2.9, -2, ""}, {true, 1, ""}, {false, 0, ""},
		{"x", 0, "invalid literal for int() with base 10: 'x'"}, {"1.5", 0, "invalid literal for int() with base 10: '1.5'"},
		{[]any{}, 0, "int() argument must be a string, a bytes-like object or a real number, not 'list'"},
		{nil, 0, "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"},
	} {
		n, err := Int(value.FromGo(c.v, value.KindUnsafe))
		if n != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%v: %d, %v", c.v, n, err)
		}
	}
}

func TestOptionsThatAnActionDoesNotHaveAreNamed(t *testing.T) {
	env := &modules.Env{Name: "fail"}
	if err := ValidOptions(env, value.DictOf("b", 1, "a", 2)); err == nil || err.Error() != "Invalid options for fail: a,b" {
		t.Errorf("%v", err)
	}
	if err := ValidOptions(env, value.NewDict()); err != nil {
		t.Error(err)
	}
}

package value

import "testing"

// As Ansible's boolean(v, strict=False) has it.
func TestOptionsSayYesInAnsiblesWords(t *testing.T) {
	for _, v := range []Value{Bool(true), Int(1), Float(1), Str("yes"), SourceText(" Y "), UnsafeStr("ON"), NativeStr("true"), Str("1")} {
		if !SaysYes(v) {
			t.Errorf("%#v says no", v)
		}
	}
	for _, v := range []Value{nil, None{}, Bool(false), Int(0), Int(2), Float(1.5), Str(""), Str("abc"), Str("no"), NewList(Int(1)), &Undefined{}} {
		if SaysYes(v) {
			t.Errorf("%#v says yes", v)
		}
	}
}

func TestEntriesAreTrueAsPythonHasThem(t *testing.T) {
	d := NewDict()
	d.Set("text", Str("no"))
	d.Set("none", None{})
	d.Set("empty", NewList())
	d.Set("undefined", &Undefined{})
	if !d.True("text") {
		t.Error("a text is false")
	}
	for _, key := range []string{"none", "empty", "undefined", "missing"} {
		if d.True(key) {
			t.Errorf("%s is true", key)
		}
	}
}

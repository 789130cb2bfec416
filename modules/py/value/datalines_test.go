package value

import "testing"

// A result of a host is decoded as data. Its stdout_lines travel as a mark that names stdout, and are lines again
// beside it.
func TestLinesOfDataAreThoseOfTheirText(t *testing.T) {
	d := DictOf("stdout", UnsafeStr("a\nb"))
	d.SetKey(Str("stdout_lines"), NewLines(UnsafeStr("a\nb")))
	raw, err := EncodeShort(d)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Decode(raw, KindUnsafe)
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := v.(*Dict).Get("stdout_lines")
	list, ok := lines.(*List)
	if !ok || len(list.Items) != 2 || list.Items[0] != Value(UnsafeStr("a")) || list.Items[1] != Value(UnsafeStr("b")) {
		t.Errorf("lines of %s: %#v", raw, lines)
	}
}

package value

import "testing"

// TestTextKeepsItsTrustOnTheWire: what plans and variables are sent as is read as text of the same kind, in values
// and in keys.
func TestTextKeepsItsTrustOnTheWire(t *testing.T) {
	texts := []Value{
		SourceText("{{ a }}"), Str("{{ a }}"), Str("a == 'b'"), UnsafeStr("{{ a }}"), UnsafeStr("a b"), NativeStr("{{ a }}"), NativeUnsafeStr("[1]"), Omit{},
	}
	for _, text := range texts {
		d := NewDict()
		if !IsOmit(text) {
			d.SetKey(text, NewList(text))
		}
		for _, v := range []Value{text, NewList(text), d} {
			raw, err := EncodeSource(v, true)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(raw, KindSource)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := kindsOf(got), kindsOf(v); g != w {
				t.Errorf("%s: %s, want %s", raw, g, w)
			}
		}
	}
}

// TestDataHoldsNoOtherText: nothing that another host writes is read as anything but data, whatever tags it has.
func TestDataHoldsNoOtherText(t *testing.T) {
	for _, raw := range []string{
		`"{{ a }}"`, `["{{ a }}"]`, `{"{{ a }}": "{{ a }}"}`, `{"!s": "{{ a }}"}`, `{"!n": "{{ a }}"}`, `{"!u": "{{ a }}"}`, `{"!nu": "{{ a }}"}`,
		`{"!v": ["cipher", "{{ a }}"]}`, `{"!v": ["cipher", null, "why"]}`, `{"!m": "{{ a }}"}`, `{"!t": ["{{ a }}"]}`, `{"!o": 1}`,
		`{"!d": [["{{ a }}", "{{ a }}"], [{"!s": "b c"}, {"!v": ["c", "d"]}]]}`, `{"x": "{{ a }}", "x_lines": {"!l": "x"}}`,
	} {
		for name, read := range map[string]func() (Value, error){
			"as data": func() (Value, error) { return Decode([]byte(raw), KindUnsafe) },
			"made data": func() (Value, error) {
				v, err := Decode([]byte(raw), KindSource)
				if err != nil {
					return nil, err
				}
				return Data(v), nil
			},
		} {
			v, err := read()
			if err != nil {
				t.Fatalf("%s %s: %v", raw, name, err)
			}
			if other := otherText(v); other != nil {
				t.Errorf("%s %s: %T %v", raw, name, other, Printed(other))
			}
		}
	}
}

// otherText is a text in v that is not unsafe, and more than a name; nil if there is none.
func otherText(v Value) Value {
	switch v := v.(type) {
	case UnsafeStr, NativeUnsafeStr:
		return nil
	case *Dict:
		for i := range v.Len() {
			k, item := v.At(i)
			if s, _ := Text(k); !Inert(s) && otherText(k) != nil {
				return k
			}
			if other := otherText(item); other != nil {
				return other
			}
		}
		return nil
	}
	items, _ := Items(v)
	for _, item := range items {
		if other := otherText(item); other != nil {
			return other
		}
	}
	if IsText(v) {
		return v
	}
	return nil
}

// kindsOf prints a value with the types of its text.
func kindsOf(v Value) string {
	switch v := v.(type) {
	case *Dict:
		out := "{"
		for i := range v.Len() {
			k, item := v.At(i)
			out += kindsOf(k) + ": " + kindsOf(item)
		}
		return out + "}"
	case *List:
		out := "["
		for _, item := range v.Items {
			out += kindsOf(item)
		}
		return out + "]"
	case Omit:
		return "omit"
	}
	return v.Type() + " " + PrintedRepr(v)
}

func TestOnlyWordsAreInert(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "a-b_1.c": true, "/srv/ǺÑŚ/β": true, "12.5": true,
		"a b": false, "a\u00a0or\u00a0b": false, "f(x)": false, "{{ a }}": false, "é|upper": false, "é b": false, "a\xffb": false,
		"é{b}": false, "a\u2028b": false,
	} {
		if got := Inert(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

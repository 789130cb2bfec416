package value_test

import (
	"testing"

	"hark/modules/py/value"
)

// FuzzDecode shows that what is decoded encodes to something that decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x",null,true]}`, `{"!u":"x"}`, `{"!t":[1]}`, `{"!d":[[1,"a"]]}`, `{"!b":"YQ=="}`, `{"!f":"NaN"}`, `123456789012345678901234567890`, `1e400`, `{"!x":1}`, `{"a":"1\n2","a_lines":{"!l":"a"}}`, `[{"!l":"a"}]`, `{"a_lines":{"!l":"a"}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.Decode([]byte(s), value.KindSource)
		if err != nil {
			return
		}
		raw, err := value.EncodeShort(v)
		if err != nil {
			t.Fatalf("%q decodes to %v, which does not encode: %v", s, v, err)
		}
		again, err := value.Decode(raw, value.KindSource)
		if err != nil {
			t.Fatalf("%q encodes as %s, which does not decode: %v", s, raw, err)
		}
		a, errA := value.Repr(v)
		b, errB := value.Repr(again)
		if errA == nil && errB == nil && a != b {
			t.Fatalf("%s became %s", a, b)
		}
	})
}

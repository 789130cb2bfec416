package value_test

import (
	"testing"

	"hark/modules/py/value"
)

// What others said keeps its kind when it is a key, whoever reads it.
func TestForeignKeysStayForeign(t *testing.T) {
	for _, text := range []string{"{{ lookup('pipe', 'id') }}", "lookup('pipe', 'id')", "{% if x %}{% endif %}"} {
		d := value.NewDict()
		d.SetKey(value.UnsafeStr(text), value.Int(1))
		for name, encode := range map[string]func(value.Value) ([]byte, error){
			"Encode": value.Encode, "EncodeShort": value.EncodeShort,
		} {
			raw, err := encode(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range []value.Kind{value.KindStr, value.KindSource, value.KindUnsafe} {
				v, err := value.Decode(raw, kind)
				if err != nil {
					t.Fatal(err)
				}
				if k, _ := v.(*value.Dict).At(0); !value.IsUnsafe(k) {
					t.Errorf("%s, then Decode with kind %d: the key %q is a %T", name, kind, text, k)
				}
			}
		}
	}
}

package value_test

import (
	"encoding/json"
	"testing"

	"hark/modules/py/value"
)

// TestBytesStayWhatTheyAre on their way as JSON, whoever writes it: what is no UTF-8 is written as Python's
// surrogateescape has it, and read as it was.
func TestBytesStayWhatTheyAre(t *testing.T) {
	for _, text := range []string{"caf\xe9", "\xff", "\x80\xbf", "é\xe9é", "\xed\xa0\x80", "a\xf0\x9f\x92", "\xc3", "ok", "€\xa4", "\xe2\x80\xa8"} {
		v := value.DictOf("k", value.Str(text), "l", value.NewList(value.UnsafeStr(text)), text, true)
		plain := value.PlainJSON(v)
		encoded, err := value.Encode(v)
		source, err2 := value.EncodeSource(v, false)
		ascii, err3 := value.Dumps(v, value.JSONOptions{ASCII: true})
		if err != nil || err2 != nil || err3 != nil {
			t.Fatal(err, err2, err3)
		}
		for name, raw := range map[string][]byte{"plain": plain, "tagged": encoded, "source": source, "as Python": []byte(ascii)} {
			if !json.Valid(raw) {
				t.Errorf("%s: %q is no JSON", name, raw)
			}
			back, err := value.Decode(raw, value.KindStr)
			d, _ := back.(*value.Dict)
			if err != nil || d.Text("k") != text || !d.Has(text) {
				t.Errorf("%s: %q came back as %v (%v)", name, text, back, err)
				continue
			}
			l, _ := d.Get("l")
			if got, _ := value.Text(l.(*value.List).Items[0]); got != text {
				t.Errorf("%s: %q came back as %q in a list", name, text, got)
			}
		}
	}
	if got, _ := value.Dumps(value.Str("é\xe9"), value.JSONOptions{ASCII: true}); got != `"\u00e9\udce9"` {
		t.Errorf("json.dumps: %s", got)
	}
	if got, _ := value.Dumps(value.Str("é\xe9"), value.JSONOptions{}); got != "\"é\xe9\"" {
		t.Errorf("json.dumps without ensure_ascii: %q", got)
	}
}

// TestPeopleSeeAMarkForEachByte that is no UTF-8, and programs what Python says of the first.
func TestPeopleSeeAMarkForEachByte(t *testing.T) {
	if got := value.Readable("é\xe9\xe8!"); got != "é??!" {
		t.Error(got)
	}
	v := value.DictOf("a", value.NewList(value.Str("é\xe9")))
	if got := value.NotUTF8(v); got != `'utf-8' codec can't encode character '\udce9' in position 1: surrogates not allowed` {
		t.Error(got)
	}
	if got := value.NotUTF8(value.DictOf("é", "ü")); got != "" {
		t.Error(got)
	}
}

package pyjson

import (
	"math"
	"math/big"
	"testing"

	"hark/modules/py/value"
)

func sample() value.Value {
	inner := value.NewDict()
	inner.Set("b", value.Int(1))
	inner.Set("a", value.NewList(value.None{}, value.Bool(true), value.Float(1), value.Float(1e16), value.Float(1.5e-7)))
	d := value.NewDict()
	d.Set("z", inner)
	d.Set("empty", value.NewDict())
	d.Set("none", value.NewList())
	d.Set("text", value.YAMLStr("ü☺😀\"\\\n\t\x01\x7f/<>&"))
	d.SetKey(value.Int(3), value.NewTuple(value.Str("t")))
	d.SetKey(value.Bool(false), &value.BigInt{Int: new(big.Int).Lsh(big.NewInt(1), 70)})
	return d
}

// Expected text was printed by Python 3.11's json.dumps of the same data.
func TestDumpsPrintsAsPython(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"inline", Options{Inline: true},
			`{"z": {"b": 1, "a": [null, true, 1.0, 1e+16, 1.5e-07]}, "empty": {}, "none": [], "text": "ü☺😀\"\\\n\t\u0001` + "\x7f" +
				`/<>&", "3": ["t"], "false": 1180591620717411303424}`},
		{"ascii", Options{Inline: true, ASCII: true, SortKeys: true},
			`{"3": ["t"], "empty": {}, "false": 1180591620717411303424, "none": [], "text": "\u00fc\u263a\ud83d\ude00\"\\\n\t\u0001\u007f/<>&", ` +
				`"z": {"a": [null, true, 1.0, 1e+16, 1.5e-07], "b": 1}}`},
		{"flat", Options{SortKeys: true, ASCII: true},
			"{\n\"3\": [\n\"t\"\n],\n\"empty\": {},\n\"false\": 1180591620717411303424,\n\"none\": [],\n\"text\": " +
				`"\u00fc\u263a\ud83d\ude00\"\\\n\t\u0001\u007f/<>&"` + ",\n\"z\": {\n\"a\": [\nnull,\ntrue,\n1.0,\n1e+16,\n1.5e-07\n],\n\"b\": 1\n}\n}"},
	} {
		if got := Dumps(sample(), c.o); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestIndentDeepensWithTheLevel(t *testing.T) {
	d := value.NewDict()
	d.Set("l", value.NewList(value.Int(1), value.NewList(value.Int(2))))
	want := "{\n    \"l\": [\n        1,\n        [\n            2\n        ]\n    ]\n}"
	if got := Dumps(d, Options{Indent: 4}); got != want {
		t.Errorf("got %s", got)
	}
}

func TestFloatsBeyondJSONHavePythonsNames(t *testing.T) {
	l := value.NewList(value.Float(math.NaN()), value.Float(math.Inf(1)), value.Float(math.Inf(-1)))
	if got := Dumps(l, Options{Inline: true}); got != "[NaN, Infinity, -Infinity]" {
		t.Errorf("got %s", got)
	}
}

func TestVaultStringsAreOpened(t *testing.T) {
	v := &value.Vault{Cipher: "sealed", Decrypt: func(string) (string, error) { return "plain", nil }}
	if got := Dumps(v, Options{}); got != `"plain"` {
		t.Errorf("got %s", got)
	}
}

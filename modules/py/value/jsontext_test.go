package value

import (
	"math"
	"math/big"
	"testing"
)

func sample() Value {
	inner := NewDict()
	inner.Set("b", Int(1))
	inner.Set("a", NewList(None{}, Bool(true), Float(1), Float(1e16), Float(1.5e-7)))
	d := NewDict()
	d.Set("z", inner)
	d.Set("empty", NewDict())
	d.Set("none", NewList())
	d.Set("text", SourceText("ü☺😀\"\\\n\t\x01\x7f/<>&"))
	d.SetKey(Int(3), NewTuple(Str("t")))
	d.SetKey(Bool(false), &BigInt{Int: new(big.Int).Lsh(big.NewInt(1), 70)})
	return d
}

// Expected text was printed by Python 3.11's json.dumps of the same data.
func TestDumpsPrintsAsPython(t *testing.T) {
	for _, c := range []struct {
		name string
		o    JSONOptions
		want string
	}{
		{"inline", JSONOptions{},
			`{"z": {"b": 1, "a": [null, true, 1.0, 1e+16, 1.5e-07]}, "empty": {}, "none": [], "text": "ü☺😀\"\\\n\t\u0001` + "\x7f" +
				`/<>&", "3": ["t"], "false": 1180591620717411303424}`},
		{"ascii", JSONOptions{ASCII: true, Sorted: true},
			`{"3": ["t"], "empty": {}, "false": 1180591620717411303424, "none": [], "text": "\u00fc\u263a\ud83d\ude00\"\\\n\t\u0001\u007f/<>&", ` +
				`"z": {"a": [null, true, 1.0, 1e+16, 1.5e-07], "b": 1}}`},
		{"flat", JSONOptions{Lines: true, ASCII: true, Sorted: true},
			"{\n\"3\": [\n\"t\"\n],\n\"empty\": {},\n\"false\": 1180591620717411303424,\n\"none\": [],\n\"text\": " +
				`"\u00fc\u263a\ud83d\ude00\"\\\n\t\u0001\u007f/<>&"` + ",\n\"z\": {\n\"a\": [\nnull,\ntrue,\n1.0,\n1e+16,\n1.5e-07\n],\n\"b\": 1\n}\n}"},
	} {
		if got, err := Dumps(sample(), c.o); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
		if got := JSONText(sample(), c.o); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestIndentDeepensWithTheLevel(t *testing.T) {
	d := NewDict()
	d.Set("l", NewList(Int(1), NewList(Int(2))))
	want := "{\n    \"l\": [\n        1,\n        [\n            2\n        ]\n    ]\n}"
	if got := JSONText(d, JSONOptions{Lines: true, Indent: "    "}); got != want {
		t.Errorf("got %s", got)
	}
}

func TestFloatsBeyondJSONHavePythonsNames(t *testing.T) {
	l := NewList(Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(-1)))
	if got := JSONText(l, JSONOptions{}); got != "[NaN, Infinity, -Infinity]" {
		t.Errorf("got %s", got)
	}
}

func TestVaultStringsAreOpened(t *testing.T) {
	v := &Vault{Cipher: "sealed", Decrypt: func(string) (string, error) { return "plain", nil }}
	if got := JSONText(v, JSONOptions{}); got != `"plain"` {
		t.Errorf("got %s", got)
	}
}

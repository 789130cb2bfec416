package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// TestBytesOfNamesComeThrough: what is written into a message is what is read from it, whatever its bytes are.
func TestBytesOfNamesComeThrough(t *testing.T) {
	names := []string{"", "plain", "caf\u00e9", "caf\xe9", "\xff\xfe/x", "a\xed\xb3\xa9", "\ufffd", "with \x00 in it \xe9"}
	raw, err := json.Marshal(EscapedAll(names))
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	if got := UnescapedAll(fields); !slices.Equal(got, names) {
		t.Errorf("%q, want %q", got, names)
	}
	for _, valid := range []string{"plain", "caf\u00e9"} {
		if got := Escaped(valid); got != valid {
			t.Errorf("%q is written as %q", valid, got)
		}
	}
	if got := Unescaped("\x00zz"); got != "\x00zz" {
		t.Errorf("what nobody escaped becomes %q", got)
	}
}

// TestEnvironmentKeepsItsBytes: variables that are no UTF-8 come through a message as they are.
func TestEnvironmentKeepsItsBytes(t *testing.T) {
	want := Environment{"A": "caf\xe9", "B\xff": "1", "C": "é"}
	text, err := json.Marshal(Call{Environment: want})
	if err != nil {
		t.Fatal(err)
	}
	var got Call
	if err := json.Unmarshal(text, &got); err != nil || !maps.Equal(got.Environment, want) {
		t.Errorf("%q, %v", got.Environment, err)
	}
	if plain, err := json.Marshal(Environment{"A": "1"}); err != nil || string(plain) != `{"A":"1"}` {
		t.Errorf("%s, %v", plain, err)
	}
}

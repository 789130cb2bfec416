package mask_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"hark/modules/mask"
	"hark/modules/py/value"
)

// TestSecretsAreHiddenAsAnsibleHidesThem: the answers in testdata are those of ansible-core 2.22.0b2, of its masker
// and of what it masks results with.
func TestSecretsAreHiddenAsAnsibleHidesThem(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); n++ {
		var c struct {
			Secrets      []string
			Value, Shown json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		var m mask.Masker
		m.Add(c.Secrets...)
		v, err := value.Decode(c.Value, value.KindUnsafe)
		if err != nil {
			t.Fatal(err)
		}
		want, err := value.Decode(c.Shown, value.KindUnsafe)
		if err != nil {
			t.Fatal(err)
		}
		options := value.JSONOptions{}
		if got := value.JSONText(m.Value(v), options); got != value.JSONText(want, options) {
			t.Errorf("%q: %s\ngot  %s\nwant %s", c.Secrets, c.Value, got, c.Shown)
		}
		if changes := !bytes.Equal(c.Value, c.Shown); changes && !m.Holds(c.Value) {
			t.Errorf("%q: %s: nothing is said to be there", c.Secrets, c.Value)
		}
	}
	if n == 0 {
		t.Error("no cases")
	}
}

// TestNewSecretsAreToldOnce: those that were known, or are too short, are not new.
func TestNewSecretsAreToldOnce(t *testing.T) {
	var m mask.Masker
	if got := m.Add("first secret", "abc", " first secret\n", "second"); strings.Join(got, ",") != "first secret,second" {
		t.Errorf("%q", got)
	}
	if got := m.Add("first secret"); got != nil {
		t.Errorf("%q", got)
	}
	var none *mask.Masker
	if none.Add("a secret") != nil || none.Text("a secret") != "a secret" || none.Holds([]byte("a secret")) {
		t.Error("no masker hides")
	}
}

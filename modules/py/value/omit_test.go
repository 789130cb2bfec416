package value

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The text that stands for an argument that is left out is another one in each process. The same text said by a host is
// an argument like any other.
func TestTheOmitPlaceholderIsRandom(t *testing.T) {
	const mark = "OMIT_TEXT"
	if os.Getenv(mark) != "" {
		t.Log(OmitText())
		return
	}
	had := map[string]bool{OmitText(): true}
	for range 2 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), mark+"=1")
		out, err := cmd.CombinedOutput()
		_, text, ok := strings.Cut(string(out), "__omit_place_holder__")
		if err != nil || !ok {
			t.Fatalf("%v: %s", err, out)
		}
		text, _, _ = strings.Cut("__omit_place_holder__"+text, "\n")
		if had[text] || len(text) != len(OmitText()) {
			t.Errorf("%s came before", text)
		}
		had[text] = true
	}
	for _, said := range []Value{UnsafeStr(OmitText()), SourceText(OmitText())} {
		if IsOmit(said) {
			t.Errorf("%T is taken for omit", said)
		}
	}
	if !IsOmit(Omit{}) {
		t.Error("omit is none")
	}
}

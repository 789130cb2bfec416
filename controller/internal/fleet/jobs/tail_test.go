package jobs

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestLastLines(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"a\nb\nc\n", 2, "b\nc\n"}, {"a\nb\nc", 2, "b\nc"}, {"a\nb\n", 5, "a\nb\n"}, {"", 3, ""}, {"a\n", 0, ""},
	} {
		if got := string(lastLines([]byte(tt.text), tt.n)); got != tt.want {
			t.Errorf("the last %d of %q are %q, want %q", tt.n, tt.text, got, tt.want)
		}
	}
}

// TestLinesOfSeveralHostsAreWhole: what has no end yet waits, but not for ever.
func TestLinesOfSeveralHostsAreWhole(t *testing.T) {
	var out bytes.Buffer
	w := &writer{many: true, out: [2]io.Writer{&out, &out}}
	rest := w.write(0, "web1", []byte("one\ntw"))
	w.write(1, "web2", []byte("other\n"))
	w.write(0, "web1", append(rest, "o\n"...))
	if want := "web1 | one\nweb2 | other\nweb1 | two\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	out.Reset()
	w.write(0, "web1", []byte("10 %\rweb2 | all is well\r\n"))
	if want := "web1 | 10 %\\rweb2 | all is well\n"; out.String() != want {
		t.Errorf("a line that writes over its host's name: %q, want %q", out.String(), want)
	}
	out.Reset()
	rest = w.write(0, "web1", []byte(strings.Repeat("x", tailStart+1)))
	if string(rest) != "x" || out.Len() != tailStart+len("web1 | \n") {
		t.Errorf("a line without end: %d kept, %d written", len(rest), out.Len())
	}
}

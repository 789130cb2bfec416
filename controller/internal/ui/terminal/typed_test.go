package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinesOfAPipeAreRead as they are, each after its prompt; the last needs no end.
func TestLinesOfAPipeAreRead(t *testing.T) {
	var out bytes.Buffer
	typed := &Typed{Console: &Console{In: strings.NewReader("one\n\ntwo"), Out: &out}}
	var got []string
	for {
		line, err := typed.Line(t.Context(), "> ")
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if strings.Join(got, "|") != "one||two" || out.String() != "> > > > " {
		t.Errorf("%q, %q", got, out.String())
	}
}

// TestHistoriesAreKept for the owner alone, without repetitions, and not through a link of somebody else's.
func TestHistoriesAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	p := openPast(file)
	for _, line := range []string{"one", "two", "two", "", "three"} {
		p.Add(line)
	}
	if again := openPast(file); again.Len() != 3 || again.At(0) != "three" || again.At(2) != "one" {
		t.Errorf("%q", again.lines)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	for range pastLimit + 5 {
		p.Add("a")
		p.Add("b")
	}
	if p.Len() != pastLimit {
		t.Errorf("%d lines", p.Len())
	}
	linked := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(file+".other", linked); err != nil {
		t.Fatal(err)
	}
	openPast(linked).Add("x")
	if _, err := os.Stat(file + ".other"); err == nil {
		t.Error("a link was followed")
	}
}

// TestTabsComplete what stands before the cursor, and show the choices that are left.
func TestTabsComplete(t *testing.T) {
	var screen bytes.Buffer
	typed := &Typed{Complete: func(line string) (string, []string) {
		if line == "pi" {
			return line, []string{"ping", "pip"}
		}
		return line + "g ", nil
	}}
	if line, pos, ok := typed.tab(&screen, "pin data", 3, '\t'); line != "ping  data" || pos != 5 || !ok ||
		screen.Len() != 0 {
		t.Errorf("%q %d %v", line, pos, ok)
	}
	if line, _, ok := typed.tab(&screen, "pi", 2, '\t'); line != "pi" || !ok || screen.String() != "ping  pip\n" {
		t.Errorf("%q %v %q", line, ok, screen.String())
	}
	if _, _, ok := typed.tab(&screen, "pi", 2, 'x'); ok {
		t.Error("another key was taken")
	}
}

package check

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	// longestLine is how many characters a line of Go may have (docs/conventions.md).
	longestLine = 120
	// longLines is how many lines outside tests are still longer. Whoever breaks some lowers it.
	longLines = 201
)

func TestLongLinesBecomeFewer(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > longestLine {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case n > longLines:
		t.Errorf("%d lines of Go outside tests have more than %d characters; the limit is %d: break those that you wrote",
			n, longestLine, longLines)
	case n < longLines-50:
		t.Errorf("only %d lines of Go outside tests are too long: set longLines to that", n)
	}
}

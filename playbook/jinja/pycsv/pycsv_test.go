package pycsv

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// pythonCase is one line of testdata/csv.jsonl; see regen.py beside it.
type pythonCase struct {
	Text, Delimiter string
	Skip, Strict    bool
	Rows            [][]string
	Error           string
}

func TestRowsArePythons(t *testing.T) {
	f, err := os.Open("testdata/csv.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var c pythonCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		delimiter, err := Delimiter(c.Delimiter)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Read(c.Text, Dialect{Delimiter: delimiter, SkipInitialSpace: c.Skip, Strict: c.Strict})
		failed := ""
		if err != nil {
			failed, rows = err.Error(), nil
		}
		if diff := cmp.Diff(c.Rows, rows, cmpopts.EquateEmpty()); diff != "" || failed != c.Error {
			t.Errorf("%s: %s %s", lines.Text(), failed, diff)
		}
	}
	if n == 0 {
		t.Fatal("no cases")
	}
}

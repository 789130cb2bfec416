package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestResultOfAJobIsCutWithAWord(t *testing.T) {
	small := json.RawMessage(`{"rc":0,"stdout":"a"}`)
	if got := shortened(small); string(got) != string(small) {
		t.Errorf("a small result became %s", got)
	}
	raw, err := json.Marshal(map[string]any{
		"rc": 3, "stdout": strings.Repeat("é\x00", 7<<20), "stderr": strings.Repeat("b", 9<<20),
		"warnings": []string{"first"}})
	if err != nil {
		t.Fatal(err)
	}
	got := shortened(raw)
	var r struct {
		Rc             int
		Stdout, Stderr string
		Warnings       []string
	}
	if err := json.Unmarshal(got, &r); err != nil || len(got) > resultBytes {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	left := 21<<20 - len(r.Stdout)
	word := fmt.Sprintf("the output was too large to be kept: %d bytes at the end were left out", left)
	if r.Rc != 3 || left < 1 || len(r.Stderr) != 9<<20 || len(r.Warnings) != 2 || r.Warnings[1] != word {
		t.Errorf("rc %d, %d and %d bytes, %q", r.Rc, len(r.Stdout), len(r.Stderr), r.Warnings)
	}
	huge, _ := json.Marshal(map[string]any{"rc": 0, "content": strings.Repeat("b", 40<<20)})
	if got := string(shortened(huge)); got != `{"changed":true,"failed":true,"msg":"the result has 40 MB: more than 32 `+
		`MB of a job are not kept","rc":0}` {
		t.Errorf("got %.300s", got)
	}
}

func TestOldestResultsGoFirst(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 { // the disk holds holes
		id := fmt.Sprintf("j%d", i)
		if err := os.Mkdir(filepath.Join(dir, id), 0o700); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-10) * time.Minute)
		rec := record{ID: id, State: Finished, Began: at, Ended: at}
		if err := rec.write(filepath.Join(dir, id)); err != nil {
			t.Fatal(err)
		}
		name := []string{resultFile, "stdout.0"}[i%2]
		if err := os.WriteFile(filepath.Join(dir, id, name), []byte(`{}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, id, name), retainedBytes/3); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false, false} {
		j := s.job(fmt.Sprintf("j%d", i))
		if j == nil || j.record().Stripped != want || want && j.size() > 1<<10 {
			t.Errorf("job %d: stripped is not %v", i, want)
		}
	}
	if msg := s.job("j0").answer(true).
		Text("msg"); msg != "the result of the job is gone: the oldest are dropped when all take more than 256 MB" {
		t.Errorf("it says %v", msg)
	}
}

package jinja_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
)

// answerCase is one line of testdata/answers; see answers.py there.
type answerCase struct {
	T      json.RawMessage
	Mode   string
	Vars   json.RawMessage
	Files  map[string]string
	Opts   corpusOptions
	Native bool
	// Extensions are those of jinja2_extensions.
	Extensions []string
	Answer     string
	Ours       string
	Why        string
}

// TestAnswers compares with what ansible-core answered, to the letter of its errors.
func TestAnswers(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "answers", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	t.Setenv("TZ", "UTC")
	t.Setenv("HOME", "/root") // the answers were given there
	engine := templar.NewEngine()
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".jsonl"), func(t *testing.T) {
			shared, cases := readAnswers(t, path)
			for _, c := range cases {
				want := c.Answer
				if c.Ours != "" {
					want = c.Ours
				}
				if got := ourAnswer(t, engine, shared, c); got != want {
					t.Errorf("%s\n got  %s\n want %s", c.T, got, want)
				}
			}
		})
	}
}

func readAnswers(t *testing.T, path string) (shared answerCase, cases []answerCase) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for first := true; lines.Scan(); first = false {
		var c answerCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if first {
			shared = c
			continue
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return shared, cases
}

func ourAnswer(t *testing.T, engine *templar.Engine, shared, c answerCase) string {
	vars, err := decodeVars(shared.Vars)
	if err != nil {
		t.Fatal(err)
	}
	own, err := decodeVars(c.Vars)
	if err != nil {
		t.Fatal(err)
	}
	own.Dict.Each(func(k, v value.Value) bool { vars.Dict.SetKey(k, v); return true })
	text, err := value.Decode(c.T, value.KindYAML)
	if err != nil {
		t.Fatal(err)
	}
	tpl := templar.New(vars, templar.Options{
		Engine: engine,
		Native: shared.Native,
		Do:     slices.Contains(shared.Extensions, "jinja2.ext.do"), LoopControls: slices.Contains(shared.Extensions, "jinja2.ext.loopcontrols"),
		Load: func(_ context.Context, name string) (string, bool, error) {
			if s, ok := c.Files[name]; ok {
				return s, true, nil
			}
			s, ok := shared.Files[name]
			return s, ok, nil
		},
	})
	got, err := evaluate(tpl, c, text)
	if err != nil {
		return "ERR " + templar.ErrorClass(err) + ": " + err.Error()
	}
	r, err := value.Repr(got)
	if err != nil {
		t.Fatal(err)
	}
	return r + " <" + got.Type() + ">"
}

func evaluate(tpl *templar.Templar, c answerCase, text value.Value) (value.Value, error) {
	ctx := context.Background()
	switch c.Mode {
	case "when":
		ok, _, err := tpl.Condition(ctx, text)
		return value.Bool(ok), err
	case "file":
		s, _ := value.Text(text)
		out, err := tpl.File(ctx, s, templar.FileOptions{
			LstripBlocks: c.Opts.LstripBlocks, NoTrimBlocks: c.Opts.TrimBlocks != nil && !*c.Opts.TrimBlocks,
		})
		return value.Str(out), err
	}
	return tpl.Template(ctx, text)
}

// Package answertest holds templates against what Ansible answers to them: the cases of
// playbook/jinja/testdata/answers, each a test of its own. The packages that a file of cases is about run it, so that
// who breaks one finds it red.
package answertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// Case is one line of a file of answers; see answers.py beside them.
type Case struct {
	T      json.RawMessage
	Mode   string
	Vars   json.RawMessage
	Files  map[string]string
	Opts   FileOptions
	Native bool
	// Extensions are those of jinja2_extensions.
	Extensions []string
	Answer     string
	// Tagged is the answer of ansible-core 2.19, if it is another. In the first line of a file it is the release that
	// answered.
	Tagged string
	Ours   string
	Why    string

	line int
}

// FileOptions are those of the template module.
type FileOptions struct {
	LstripBlocks bool  `json:"lstrip_blocks"`
	TrimBlocks   *bool `json:"trim_blocks"`
}

// owners are the files that packages below playbook/jinja run, by their path there. All others are of the engine's.
var owners = map[string][]string{
	"ansible/utils":     {"ip_filters", "ip_queries", "utils_filters", "utils_lookups"},
	"community/general": {"community_filters"},
	"filters":           {"filters_data", "filters_jinja", "filters_text", "misuse", "native_misuse", "tests"},
	"lookups":           {"lookups"},
	"methods":           {"methods"},
}

// Run compares with what ansible-core answered, to the letter of its errors: the cases of the files of a package, the
// directory that the test runs in. A case is the test file/line.
func Run(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	top, room, below := strings.Cut(filepath.ToSlash(dir), "/playbook/jinja/")
	answers := filepath.Join(strings.TrimSuffix(top, "/playbook/jinja"), "playbook", "jinja", "testdata", "answers")
	names := owners[room]
	if !below {
		names = engines(t, answers)
	}
	if len(names) == 0 {
		t.Fatalf("no cases for %s", room)
	}
	t.Setenv("TZ", "UTC")
	t.Setenv("HOME", "/root") // the answers were given there
	engine := templar.NewEngine()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			shared, cases := readAnswers(t, filepath.Join(answers, name+".jsonl"))
			for _, c := range cases {
				t.Run(fmt.Sprint(c.line), func(t *testing.T) { c.run(t, engine, shared) })
			}
			if shared.Tagged != "" {
				t.Run("tagged", func(t *testing.T) { runTagged(t, engine.Tagged(), shared, cases, known(t, answers, name)) })
			}
		})
	}
}

// known returns the lines of a file whose answer in the tagged language is not yet that of ansible-core.
func known(t *testing.T, dir, name string) map[int]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "tagged.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]bool{}
	for _, row := range strings.Split(string(text), "\n") {
		words := strings.Fields(row)
		if len(words) == 0 || words[0] != name {
			continue
		}
		for _, word := range words[1:] {
			line, err := strconv.Atoi(word)
			if err != nil {
				t.Fatalf("tagged.txt: %v", err)
			}
			out[line] = true
		}
	}
	return out
}

// runTagged compares with what ansible-core 2.19 answered. What is known to differ must go on differing, or be taken
// off the list.
func runTagged(t *testing.T, engine *templar.Engine, shared Case, cases []Case, differs map[int]bool) {
	for _, c := range cases {
		want := c.Tagged
		if want == "" {
			want = c.Answer
		}
		got := ourAnswer(t, engine, shared, c)
		switch {
		case got != want && !differs[c.line]:
			t.Errorf("%d %s\n got  %s\n want %s", c.line, c.T, got, want)
		case got == want && differs[c.line]:
			t.Errorf("%d is right now: take it off tagged.txt", c.line)
		}
	}
}

// engines returns the files that are no other package's.
func engines(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var others, names []string
	for _, files := range owners {
		others = append(others, files...)
	}
	for _, path := range paths {
		if name := strings.TrimSuffix(filepath.Base(path), ".jsonl"); !slices.Contains(others, name) {
			names = append(names, name)
		}
	}
	return names
}

func (c Case) run(t *testing.T, engine *templar.Engine, shared Case) {
	want := c.Answer
	if c.Ours != "" {
		want = c.Ours
	}
	if got := ourAnswer(t, engine, shared, c); got != want {
		t.Errorf("%s\n got  %s\n want %s", c.T, got, want)
	}
}

func readAnswers(t *testing.T, path string) (shared Case, cases []Case) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for line := 1; lines.Scan(); line++ {
		c := Case{line: line}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if line == 1 {
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

func ourAnswer(t *testing.T, engine *templar.Engine, shared, c Case) string {
	vars, err := Vars(shared.Vars)
	if err != nil {
		t.Fatal(err)
	}
	own, err := Vars(c.Vars)
	if err != nil {
		t.Fatal(err)
	}
	own.Dict.Each(func(k, v value.Value) bool { vars.Dict.SetKey(k, v); return true })
	text, err := value.Decode(c.T, value.KindSource)
	if err != nil {
		t.Fatal(err)
	}
	tpl := templar.New(vars, templar.Options{
		Engine:       engine,
		Native:       shared.Native,
		Do:           slices.Contains(shared.Extensions, "jinja2.ext.do"),
		LoopControls: slices.Contains(shared.Extensions, "jinja2.ext.loopcontrols"),
		Load: func(_ context.Context, name string) (value.Source, bool, error) {
			if s, ok := c.Files[name]; ok {
				return value.SourceText(s), true, nil
			}
			s, ok := shared.Files[name]
			return value.SourceText(s), ok, nil
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
	if engine == engine.Tagged() {
		return r + " <" + value.PlainType(got) + ">"
	}
	return r + " <" + got.Type() + ">"
}

func evaluate(tpl *templar.Templar, c Case, text value.Value) (value.Value, error) {
	ctx := context.Background()
	switch c.Mode {
	case "when":
		ok, _, err := tpl.Condition(ctx, text)
		return value.Bool(ok), err
	case "file":
		s, _ := text.(value.Source)
		out, err := tpl.File(ctx, s, templar.FileOptions{
			LstripBlocks: c.Opts.LstripBlocks, NoTrimBlocks: c.Opts.TrimBlocks != nil && !*c.Opts.TrimBlocks,
		})
		return value.Str(out), err
	}
	return tpl.Template(ctx, text)
}

// Package modtest runs a module's cases from a file: arguments and files before, result and files after.
//
// A case file is YAML documents separated by "---", each a mapping:
//
//	name:    what the case shows
//	args:    the arguments; free-form text is _raw_params
//	files:   what is there before, by path under the case's directory: content, or a mapping with content, mode,
//	         link; a name ending in / is a directory
//	source:  the same for the controller's side: files/x, templates/y
//	vars:    variables that Render and Var know; answers: what Condition and Render give for a text
//	check, diff: true sets the mode;  verbosity: N;  local: true is a local connection; delegate: a host
//	release: that of the play's language, "2.19" or later
//	want:    the whole result
//	after:   what must be there then, as in files; null: nothing is
//	twice:   true: a second run changes nothing and leaves the same files
//
// In texts $DIR is the case's directory and $SRC the controller's side; in args also $NAME of Options.Vars. In want,
// what differs from host to host or run to run has names: $UID, $GID, $USER, $GROUP, $TIME, $FS (what depends on the
// file system), $STAGED (a temporary file) and $BACKUP; $ANY is any value. go test -update writes want and after as
// they came out, keeping $ANY where it stands: read the difference.
package modtest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"hark/modules"
	"hark/modules/py/value"
)

// Options change how cases run.
type Options struct {
	// File is the case file; default testdata/<last part of the module's name>.txt.
	File string
	// Tools is a directory of programs that stand for the host's, from the function Tools; $TOOLS in texts. Default
	// testdata/tools/<last part of the module's name>, if there is such a directory.
	Tools string
	// Setup completes the environment of a case, after Tools.
	Setup func(t *testing.T, env *modules.Env, dir string)
	// Asks answers the questions of session modules; VarsFile is answered from the case's source.
	Asks modules.Asks
	// Vars are replaced in args and want: $NAME.
	Vars map[string]string
	// Sorted are keys whose lists come in no certain order.
	Sorted []string
	// Any are keys whose values are never compared, at any depth.
	Any []string
	// Books are names of files and directories in which programs note something in check mode too.
	Books []string
}

type testCase struct {
	Name      string          `yaml:"name"`
	Args      map[string]any  `yaml:"args"`
	Files     map[string]any  `yaml:"files"`
	Source    map[string]any  `yaml:"source"`
	Vars      map[string]any  `yaml:"vars"`
	Answers   map[string]any  `yaml:"answers"`
	Check     bool            `yaml:"check"`
	Release   modules.Release `yaml:"release"`
	Diff      bool            `yaml:"diff"`
	Verbosity int             `yaml:"verbosity"`
	Local     bool            `yaml:"local"`
	Delegate  string          `yaml:"delegate"`
	Want      map[string]any  `yaml:"want"`
	After     map[string]any  `yaml:"after"`
	Twice     bool            `yaml:"twice"`

	node *yaml.Node
}

var update = flag.Bool("update", false, "rewrite the expected results of module cases")

// Run runs all cases of a module.
func Run(t *testing.T, m *modules.Module, o Options) {
	t.Helper()
	syscall.Umask(0o022) // the modes of new files are part of what is expected
	short := ShortName(m)
	if o.File == "" {
		o.File = "testdata/" + short + ".txt"
	}
	if o.Tools == "" {
		o.Tools = Tools(t, short)
	}
	cases := load(t, o.File)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t, m, o) })
	}
	if *update {
		save(t, o.File, cases)
	}
}

// Collection runs the cases of all modules of a collection that have a case file; options are those of modules whose
// cases need any, by the last part of their names. A case file that is no module's fails the test.
func Collection(t *testing.T, list []*modules.Module, options map[string]Options) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, m := range list {
		if !m.NoCheck && !m.Session && !m.Foreign {
			t.Run(ShortName(m)+"/examples", func(t *testing.T) { Examples(t, m, options[ShortName(m)]) })
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		i := slices.IndexFunc(list, func(m *modules.Module) bool { return ShortName(m) == name })
		if i < 0 {
			t.Errorf("%s has cases of no module", file)
			continue
		}
		t.Run(name, func(t *testing.T) { Run(t, list[i], options[name]) })
	}
}

// ShortName returns the last part of a module's name.
func ShortName(m *modules.Module) string { return m.Name[strings.LastIndexByte(m.Name, '.')+1:] }

func load(t *testing.T, file string) []*testCase {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []*testCase
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	for {
		var node yaml.Node
		if err := dec.Decode(&node); err != nil {
			break
		}
		c := &testCase{node: &node}
		if err := node.Decode(c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases = append(cases, c)
	}
	if n := bytes.Count(raw, []byte("\n---\n")) + 1; n != len(cases) {
		t.Fatalf("%s: %d cases of %d can be read", file, len(cases), n)
	}
	return cases
}

// rehearse runs a case in check mode, whatever it is about: that must change no file. Programs may note that they
// were called.
func (c *testCase) rehearse(t *testing.T, m *modules.Module, o Options) {
	dry := *c
	dry.Check = true
	b := newBench(t, &dry, m.Name, o)
	started := recorded(b.env, b.env.Exec)
	before := b.snapshot(t)
	traced(m, func() { b.call(t, m) })
	if more := unclaimed(m, started()); len(more) > 0 {
		t.Errorf("it starts %v in check mode, which is not declared", more)
	}
	after := b.snapshot(t)
	for _, files := range []map[string]string{before, after} {
		maps.DeleteFunc(files, func(path, _ string) bool {
			return slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool {
				return name == "told" || slices.Contains(o.Books, name)
			})
		})
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("check mode changed files:\n%s", d)
	}
}

func (c *testCase) run(t *testing.T, m *modules.Module, o Options) {
	if !m.NoCheck && !m.Session { // these are skipped in check mode, or touch no file
		c.rehearse(t, m, o)
	}
	if *rehearsal {
		return
	}
	if m.Runs || len(m.StartsInCheck)+len(m.Operands)+len(m.Programs) > 0 {
		c.dashes(t, m, o)
	}
	b := newBench(t, c, m.Name, o)
	b.sorted = o.Sorted
	got := b.plain(t, m, b.call(t, m))
	c.compare(t, "result", got, c.Want, "want", o.Any)
	if c.After != nil {
		c.compare(t, "files", b.tree(c.After), c.After, "after", nil)
	}
	before := b.snapshot(t)
	for path := range before {
		if strings.HasPrefix(filepath.Base(path), ".hark-") {
			t.Errorf("the module left %s behind", path)
		}
	}
	if !c.Twice {
		return
	}
	again := b.plain(t, m, b.call(t, m))
	if again["changed"] != false || again["failed"] == true {
		t.Errorf("the second run gave %v", again)
	}
	if d := cmp.Diff(before, b.snapshot(t)); d != "" {
		t.Errorf("the second run changed files:\n%s", d)
	}
}

// compare holds got against want; with -update it replaces want instead.
func (c *testCase) compare(t *testing.T, what string, got, want map[string]any, key string, anyKeys []string) {
	t.Helper()
	masked, _ := mask(got, want, anyKeys).(map[string]any)
	if *update {
		c.replace(t, key, masked)
		return
	}
	if d := cmp.Diff(normal(want), normal(masked)); d != "" {
		t.Errorf("%s (- expected, + got):\n%s", what, d)
	}
}

// mask puts $ANY where want has it.
func mask(got, want any, anyKeys []string) any {
	if want == "$ANY" {
		return want
	}
	switch g := got.(type) {
	case map[string]any:
		w, _ := want.(map[string]any)
		out := make(map[string]any, len(g))
		for k, v := range g {
			out[k] = mask(v, w[k], anyKeys)
			for _, name := range anyKeys {
				if k == name {
					out[k] = "$ANY"
				}
			}
		}
		return out
	case []any:
		w, _ := want.([]any)
		out := make([]any, len(g))
		for i, v := range g {
			var x any
			if i < len(w) {
				x = w[i]
			}
			out[i] = mask(v, x, anyKeys)
		}
		return out
	}
	return got
}

// normal makes YAML's and JSON's numbers comparable.
func normal(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&out) != nil {
		return v
	}
	return out
}

func (c *testCase) replace(t *testing.T, key string, v map[string]any) {
	t.Helper()
	var node yaml.Node
	if err := node.Encode(quoted(v)); err != nil {
		t.Fatal(err)
	}
	m := c.node.Content[0]
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content[i+1] = &node
			return
		}
	}
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &node)
}

// quoted makes of texts that begin with a line break nodes with quotes: as blocks they would be read back without it.
func quoted(v any) any {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "\n") {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: yaml.DoubleQuotedStyle}
		}
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = quoted(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = quoted(x)
		}
		return out
	}
	return v
}

func save(t *testing.T, file string, cases []*testCase) {
	t.Helper()
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	for _, c := range cases {
		if err := enc.Encode(c.node); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Clean(file), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// call runs the module once, with its stage inside the session if it has one.
func (b *bench) call(t *testing.T, m *modules.Module) modules.Result {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	args := value.NewDict()
	if filled, ok := b.fill(b.c.Args).(map[string]any); ok {
		args = Args(filled)
	}
	b.warnings = nil
	var res modules.Result
	if err := m.Resolve(ctx, b.env, args); err != nil {
		res = modules.Failure(err)
	} else {
		res = m.Run(ctx, b.env, args)
	}
	res.Warnings = append(res.Warnings, b.warnings...)
	return res
}

package compile

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestPlans compiles the projects in testdata/*.txt. A file holds cases separated by lines of ---. A case begins with
// settings (name: value), then come its files, each after a line "-- path --". The last ones are what is expected,
// and rewritten by -update: plan, the dump of every play; error, the errors; list; fragment, what the includes of the
// settings bring.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { testFile(t, file) })
	}
}

func testFile(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(strings.TrimRight(string(data), "\n"), "\n---\n")
	for i, text := range cases {
		c := parseCase(t, text)
		t.Run(c.settings["name"], func(t *testing.T) {
			got := c.run(t)
			if *update {
				cases[i] = c.head + got
			} else if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(cases, "\n---\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// testCase is one case of a file.
type testCase struct {
	head, want string // the text up to the expectations, and these
	settings   map[string]string
	includes   []string
	oracle     []string // what Ansible makes of it, see testdata/oracle.py
	files      map[string]string
}

func parseCase(t *testing.T, text string) *testCase {
	c := &testCase{settings: map[string]string{}, files: map[string]string{}}
	parts := strings.Split("\n"+text, "\n-- ")
	for _, line := range strings.Split(strings.TrimSpace(parts[0]), "\n") {
		k, v, ok := strings.Cut(line, ": ")
		switch {
		case !ok:
			t.Fatalf("setting %q has no value", line)
		case k == "include":
			c.includes = append(c.includes, v)
		default:
			c.settings[k] = v
		}
	}
	c.head = strings.TrimPrefix(parts[0], "\n")
	for _, part := range parts[1:] {
		name, body, _ := strings.Cut(part, " --\n")
		switch name {
		case "plan", "error", "list", "fragment", "warning":
			c.want += "\n-- " + part
		case "ansible":
			c.oracle = strings.Split(strings.TrimSpace(body), "\n")
			c.head += "\n-- " + part
		default:
			c.files[name] = body + "\n"
			c.head += "\n-- " + part
		}
	}
	c.want = strings.TrimRight(c.want, "\n")
	return c
}

// run compiles the case's site.yml and gives the expectations that hold.
func (c *testCase) run(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range c.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out results
	p := New(&syntax.Loader{}, c.config(t, dir, &out))
	pb, err := p.Playbook(filepath.Join(dir, "site.yml"))
	out.failed(err)
	for i, play := range pb.Plays {
		if err != nil {
			break
		}
		c.play(t, p, play, i, &out)
	}
	c.compare(t, out.described, dir)
	return strings.ReplaceAll(out.text(), dir, "$DIR")
}

// results are what a case gives.
type results struct {
	warnings, errors, plans, list, fragments []string
	// described are the steps as oracle.py describes tasks.
	described []map[string]any
}

func (r *results) failed(err error) {
	for _, e := range syntax.List(err) {
		text, place, kind := e.Error(), syntax.Place{}, "other"
		var form *syntax.Error
		var ours *Error
		switch {
		case errors.As(e, &form):
			text, place, kind = form.Msg, form.Place, "syntax"
		case errors.As(e, &ours):
			text, place, kind = ours.Msg, ours.Place, "error"
		}
		if place.Line > 0 {
			text = place.String() + ": " + text
		}
		r.errors = append(r.errors, kind+": "+text+"\n")
	}
}

func (r *results) text() string {
	out := ""
	for _, part := range []struct {
		name  string
		texts []string
	}{{"warning", r.warnings}, {"error", r.errors}, {"plan", r.plans}, {"fragment", r.fragments}, {"list", r.list}} {
		if len(part.texts) > 0 {
			out += "\n-- " + part.name + " --\n" + strings.Join(part.texts, "")
		}
	}
	return strings.TrimRight(out, "\n")
}

func (c *testCase) config(t *testing.T, dir string, out *results) Config {
	cfg := Config{
		Modules: testModules(), RolePaths: []string{filepath.Join(dir, "elsewhere")}, CollectionPaths: []string{dir},
		Tags: strings.Fields(c.settings["tags"]), SkipTags: strings.Fields(c.settings["skip_tags"]),
		InjectFacts: true, HashMerge: c.settings["merge"] != "",
		Warn: func(text string) { out.warnings = append(out.warnings, text+"\n") },
	}
	cfg.Extra = yamlDict(t, c.settings["extra"])
	cfg.Keywords = yamlDict(t, c.settings["keywords"])
	if c.settings["attach"] != "" {
		cfg.Attach = func(path, _ string, _ bool) (Attachment, bool) {
			data, err := os.ReadFile(path)
			return Attachment{File: plan.File{Path: path, Size: int64(len(data)), Inline: data}, Text: data}, err == nil
		}
	}
	return cfg
}

func yamlDict(t *testing.T, text string) *value.Dict {
	if text == "" {
		return nil
	}
	v, err := (&syntax.Loader{}).ParseValue("<string>", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		t.Fatalf("%s is no mapping", text)
	}
	return d
}

func (c *testCase) play(t *testing.T, p *Project, play *Play, i int, out *results) {
	ctx := context.Background()
	if c.settings["list"] != "" {
		list, err := p.List(ctx, play, World{})
		out.failed(err)
		for _, l := range list {
			out.list = append(out.list, l.Name+" ["+strings.Join(l.Tags, ", ")+"]\n")
		}
		return
	}
	hosts := strings.Fields(c.settings["hosts"])
	if len(hosts) == 0 {
		hosts = []string{"h1", "h2"}
	}
	u, err := p.Compile(ctx, play, Batch{
		Ahead: c.settings["attach"] != "",
		ID:    strconv.Itoa(i), AllHosts: hosts, Hosts: hosts, Batch: hosts, StartAt: c.settings["start_at"],
		GatherFacts: c.settings["facts"] != "",
	})
	out.failed(err)
	if u == nil {
		return
	}
	out.plans = append(out.plans, u.Plan.Dump())
	out.described = append(out.described, describe(u.Plan)...)
	if u.Start != "" {
		out.plans = append(out.plans, "start at "+string(u.Start)+"\n")
	}
	for n, line := range c.includes {
		c.include(t, u, n, line, out)
	}
}

// include is one evaluation of a dynamic include: its step, its arguments and its variables.
func (c *testCase) include(t *testing.T, u *Unit, n int, line string, out *results) {
	step, rest, _ := strings.Cut(line, " ")
	d := yamlDict(t, rest)
	args, _ := get(d, "args").(*value.Dict)
	vars, _ := get(d, "vars").(*value.Dict)
	f, err := u.Include(context.Background(), plan.ID(step), Call{Args: args, Vars: vars}, n)
	if err != nil {
		var ie *IncludeError
		if errors.As(err, &ie) {
			out.fragments = append(out.fragments, "fails for its host: "+ie.Reason+"\n")
			return
		}
		out.failed(err)
		return
	}
	out.fragments = append(out.fragments, f.Dump())
}

func testModules() *modules.Registry {
	type none struct{}
	run := func(context.Context, *modules.Env, none) (modules.Result, error) { return modules.Result{}, nil }
	var list []*modules.Module
	traits := map[string]modules.Trait{
		"copy": modules.ReadsFiles, "template": modules.ReadsTemplates,
		"group_by": modules.ChangesInventory | modules.AsksController, "debug": modules.ShowsOnly,
		"set_fact": modules.SetsVariables, "include_vars": modules.LoadsVariables | modules.AsksController,
	}
	bare := map[string][]string{"debug": {"var"}, "assert": {"that"}}
	for _, name := range []string{"command", "shell", "copy", "template", "file", "ping", "setup", "gather_facts",
		"group_by", "service"} {
		list = append(list, modules.Define("ansible.builtin."+name, name, run, modules.Is(traits[name])))
	}
	for _, name := range []string{"debug", "set_fact", "assert", "fail", "include_vars", "validate_argument_spec"} {
		list = append(list, modules.Define("ansible.builtin."+name, name, run, modules.IsPure, modules.Is(traits[name]),
			modules.With(func(m *modules.Module) { m.Bare = bare[name] })))
	}
	list = append(list, modules.Define("community.general.thing", "thing", run),
		modules.Define("my.own.ping", "ping", run))
	return modules.NewRegistry(list...)
}

package inventory

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hark/modules/py/value"
)

// sample is an archive of testdata: inventory sources beside what Ansible made of them (see regen.py).
type sample struct {
	dir      string
	o        Options
	want     map[string]string
	patterns []string
	warnings []string
}

func unpack(t *testing.T, path string) *sample {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{dir: dir, want: map[string]string{}}
	s.o.Warn = func(text string) { s.warnings = append(s.warnings, text) }
	s.o.Python = "/usr/bin/python3"
	sources := []string{"hosts"}
	for _, line := range strings.Split(string(archive.Comment), "\n") {
		if list, ok := strings.CutPrefix(line, "sources: "); ok {
			sources = strings.Fields(list)
		}
		if list, ok := strings.CutPrefix(line, "env: ANSIBLE_INVENTORY_ENABLED="); ok {
			s.o.Plugins = strings.Split(list, ",")
		}
		if how, ok := strings.CutPrefix(line, "env: ANSIBLE_TRANSFORM_INVALID_GROUP_CHARS="); ok {
			s.o.GroupChars = how
		}
		if playbook, ok := strings.CutPrefix(line, "playbook: "); ok {
			s.o.PlaybookDir = filepath.Join(dir, playbook)
		}
		s.o.HashMerge = s.o.HashMerge || line == "env: ANSIBLE_HASH_BEHAVIOUR=merge"
	}
	for _, source := range sources {
		if !strings.Contains(source, ",") {
			source = filepath.Join(dir, source)
		}
		s.o.Sources = append(s.o.Sources, source)
	}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "want."); ok {
			s.want[name] = strings.ReplaceAll(string(f.Data), "$DIR", dir)
			continue
		}
		if f.Name == "patterns" {
			s.patterns = strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
		}
		s.write(t, f)
	}
	return s
}

func (s *sample) write(t *testing.T, f txtar.File) {
	t.Helper()
	path := filepath.Join(s.dir, f.Name)
	mode := os.FileMode(0o600)
	if strings.HasPrefix(string(f.Data), "#!") {
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f.Data, mode); err != nil {
		t.Fatal(err)
	}
}

func (s *sample) load(t *testing.T) *Inventory {
	t.Helper()
	inv, err := Load(context.Background(), s.o)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// TestOutputIsAnsibles compares what every form of output shows with what the real commands printed.
func TestOutputIsAnsibles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			s := unpack(t, file)
			inv := s.load(t)
			for name, print := range map[string]func() (string, error){
				"list":       func() (string, error) { return inv.List(Output{}) },
				"export":     func() (string, error) { return inv.List(Output{Export: true}) },
				"graph":      func() (string, error) { return inv.Graph("all", Output{Vars: true}) },
				"yaml":       func() (string, error) { return inv.List(Output{Format: YAML}) },
				"yamlexport": func() (string, error) { return inv.List(Output{Format: YAML, Export: true}) },
				"toml":       func() (string, error) { return inv.List(Output{Format: TOML}) },
			} {
				got, err := print()
				if err != nil {
					if s.want[name] != "" {
						t.Errorf("%s: %v", name, err)
					}
					continue
				}
				if diff := cmp.Diff(strings.TrimRight(s.want[name], "\n"), strings.TrimRight(got, "\n")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			s.checkWarnings(t)
			s.checkPatterns(t, inv)
			s.checkChanges(t, inv)
		})
	}
}

var blanks = regexp.MustCompile(`\s+`)

// checkWarnings compares the warnings as sets: Ansible prints each once, wrapped to the terminal.
func (s *sample) checkWarnings(t *testing.T) {
	t.Helper()
	var got []string
	for _, w := range s.warnings {
		got = append(got, "[WARNING]: "+strings.TrimSpace(blanks.ReplaceAllString(w, " ")))
	}
	want := strings.Split(strings.TrimSuffix(s.want["warnings"], "\n"), "\n")
	if s.want["warnings"] == "" {
		want = nil
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func (s *sample) checkPatterns(t *testing.T, inv *Inventory) {
	t.Helper()
	want := strings.Split(strings.TrimSuffix(s.want["patterns"], "\n"), "\n")
	for i, p := range s.patterns {
		hosts, err := inv.Match(p)
		got := p + " => "
		if err != nil {
			got += "ERROR " + err.Error()
		}
		for j, h := range hosts {
			if j > 0 {
				got += " "
			}
			got += h.Name
		}
		if got != want[i] {
			t.Errorf("pattern\n got %s\nwant %s", got, want[i])
		}
	}
}

// checkChanges does what the file "dynamic" asks and compares what each line gave and the inventory at the end.
func (s *sample) checkChanges(t *testing.T, inv *Inventory) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, "dynamic"))
	if err != nil {
		return // this sample has none
	}
	t.Chdir(s.dir) // names of limit files are relative
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var do struct {
			Host, By, Group, Limit string
			Groups, Parents        []string
			Vars                   map[string]any
			Refresh                int
		}
		if err := json.Unmarshal([]byte(line), &do); err != nil {
			t.Fatal(err)
		}
		changed, err := false, error(nil)
		switch {
		case do.Host != "":
			vars, _ := value.FromGo(do.Vars, value.KindSource).(*value.Dict)
			changed, err = inv.AddHost(do.Host, do.Groups, vars)
		case do.Refresh != 0:
			err = inv.Refresh(t.Context())
			got = append(got, "")
		case do.Limit != "":
			if err = inv.Limit(do.Limit); err == nil {
				hosts, matchErr := inv.Match("all")
				got, err = append(got, pythonNames(hosts), ""), matchErr
			}
			if err := inv.Limit(""); err != nil {
				t.Error(err)
			}
		default:
			changed, err = inv.AddToGroup(do.By, do.Group, do.Parents)
		}
		switch {
		case err != nil:
			got = append(got, "ERROR "+err.Error())
		case do.Host != "" || do.By != "":
			got = append(got, map[bool]string{true: "True", false: "False"}[changed])
		}
	}
	got = append(got, s.standing(inv))
	if diff := cmp.Diff(strings.Split(strings.TrimSuffix(s.want["dynamic"], "\n"), "\n"), got); diff != "" {
		t.Errorf("dynamic (-want +got):\n%s", diff)
	}
}

func pythonNames(hosts []*Host) string {
	l := value.NewList()
	for _, h := range hosts {
		l.Items = append(l.Items, value.Str(h.Name))
	}
	s, _ := value.Repr(l)
	return s
}

// standing is the inventory as regen.py shows it in the end.
func (s *sample) standing(inv *Inventory) string {
	groups, hosts := map[string][]string{}, map[string]any{}
	for _, g := range inv.Groups() {
		groups[g.Name] = []string{}
		for _, h := range inv.HostsOf(g) {
			groups[g.Name] = append(groups[g.Name], h.Name)
		}
		slices.Sort(groups[g.Name])
	}
	for _, h := range inv.Hosts() {
		vars := any(map[string]any{})
		if h.vars != nil {
			vars, _ = value.ToGo(h.vars)
		}
		hosts[h.Name] = vars
	}
	out, _ := json.Marshal(map[string]any{"groups": groups, "hosts": hosts})
	return strings.NewReplacer(",", ", ", ":", ": ").Replace(string(out))
}

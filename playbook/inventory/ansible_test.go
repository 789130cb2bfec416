package inventory

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
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
					t.Errorf("%s: %v", name, err)
					continue
				}
				if diff := cmp.Diff(strings.TrimRight(s.want[name], "\n"), strings.TrimRight(got, "\n")); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			s.checkWarnings(t)
			s.checkPatterns(t, inv)
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

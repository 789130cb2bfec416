package docs_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/controller/internal/ansible/docs"
	"hark/controller/internal/play/answer"
	"hark/controller/internal/ui/view"
	"hark/modules/all"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan/keywordtest"
)

var update = flag.Bool("update", false, "write docs/modules")

const pagesDir = "../../../../docs/modules"

// The pages of docs/modules are what the declarations say.
func TestPagesAreFresh(t *testing.T) {
	want := docs.Pages(all.Modules())
	if *update {
		writePages(t, want)
	}
	got := map[string]string{}
	entries, err := os.ReadDir(pagesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(pagesDir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/modules is stale; go test ./controller/internal/ansible/docs -update makes it anew (-fresh +there):\n%s", diff)
	}
}

const keywordsPage = "../../../../docs/keywords.md"

// docs/keywords.md is what the table of keywords says.
func TestKeywordsPageIsFresh(t *testing.T) {
	want := docs.KeywordsPage()
	if *update {
		if err := os.WriteFile(keywordsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(keywordsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/keywords.md is stale; go test ./controller/internal/ansible/docs -update makes it anew (-fresh +there):\n%s",
			diff)
	}
}

const settingsPage = "../../../../docs/settings.md"

// docs/settings.md is what the table of settings says.
func TestSettingsPageIsFresh(t *testing.T) {
	want := docs.SettingsPage()
	if *update {
		if err := os.WriteFile(settingsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/settings.md is stale; go test ./controller/internal/ansible/docs -update makes it anew (-fresh +there):\n%s",
			diff)
	}
}

// Whatever Ansible knows as a keyword of plays, blocks, tasks and handlers is described, with what it stands on.
func TestEveryKeywordIsDescribed(t *testing.T) {
	places := map[string]string{"play": "Play", "role": "Role", "block": "Block", "task": "Task", "loop": "LoopControl"}
	for _, w := range keywordtest.Words(t) {
		if w.Name == "async_val" || w.Name == "loop_with" || w.Name == "vars_val" || w.Name == "import_playbook" {
			continue // nobody writes these, or not there
		}
		p, ok := docs.Find("keyword", w.Name)
		if !ok || p.Doc == "" {
			t.Errorf("there are no words on the keyword %s", w.Name)
		}
		for place, name := range places {
			if w.Stands(place) != slices.Contains(p.On, name) {
				t.Errorf("%s is said to stand on %s; Ansible: on %s", w.Name, p.On, w.On)
			}
		}
	}
}

func writePages(t *testing.T, pages map[string]string) {
	t.Helper()
	if err := os.RemoveAll(pagesDir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(pagesDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(pagesDir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// There is a line for every plug-in, and none for what is not there.
func TestEveryPluginIsDescribed(t *testing.T) {
	have := map[string][]string{
		"lookup":   append(append(slices.Collect(maps.Keys(templar.Lookups())), answer.LookupNames()...), "template"),
		"callback": view.Names(),
	}
	for kind, names := range have {
		described := map[string]bool{}
		for _, p := range docs.Plugins(kind) {
			described[p.Name] = true
			if !slices.Contains(names, p.Name) && !slices.Contains(names, p.FullName()) {
				t.Errorf("there is no %s %s to describe", kind, p.FullName())
			}
		}
		for _, name := range names {
			if !described[name[strings.LastIndexByte(name, '.')+1:]] {
				t.Errorf("there are no words on the %s %s", kind, name)
			}
		}
	}
}

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

	"hark/controller/internal/answer"
	"hark/controller/internal/docs"
	"hark/controller/internal/view"
	"hark/modules/all"
	"hark/playbook/jinja/filters"
	"hark/playbook/jinja/lookups"
)

var update = flag.Bool("update", false, "write docs/modules")

const pagesDir = "../../../docs/modules"

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
		t.Errorf("docs/modules is stale; go test ./controller/internal/docs -update makes it anew (-fresh +there):\n%s", diff)
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
		"filter": slices.Collect(maps.Keys(filters.Filters())), "test": slices.Collect(maps.Keys(filters.Tests())),
		"lookup":   append(append(slices.Collect(maps.Keys(lookups.All())), answer.LookupNames()...), "template"),
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

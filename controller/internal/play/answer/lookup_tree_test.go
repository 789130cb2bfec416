package answer

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules/py/value"
	"hark/playbook/search"
)

func callIn(dir string, terms ...string) *lookupCall {
	return &lookupCall{ctx: context.Background(), terms: strs(terms...), kw: value.NewDict(), dir: search.Dir(dir), paths: []string{dir}}
}

func TestFiletreeListsWhatIsBelow(t *testing.T) {
	dir := t.TempDir()
	web := filepath.Join(dir, "files", "web")
	write(t, filepath.Join(web, "a.txt"), "abc")
	write(t, filepath.Join(web, "sub", "b.txt"), "b")
	if err := os.Symlink("a.txt", filepath.Join(web, "l")); err != nil {
		t.Fatal(err)
	}
	found, err := lookupTree(New(Config{}), callIn(dir, "web/"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range found {
		line := ""
		for _, name := range []string{"path", "state", "src", "root", "mode", "size"} {
			v, ok, _ := value.Item(item, value.Str(name))
			state, _ := item.(*value.Dict).Get("state")
			if !ok || (name == "mode" || name == "size") && textOf(state) != "file" {
				continue
			}
			line += " " + strings.ReplaceAll(textOf(v), web, "WEB")
		}
		got = append(got, strings.TrimSpace(line))
	}
	sort.Strings(got)
	want := []string{
		"a.txt file WEB/a.txt WEB/ 0644 3", "l link a.txt WEB/", "sub directory WEB/", "sub/b.txt file WEB/sub/b.txt WEB/ 0644 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCollectionVersion(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "collections", "ansible_collections")
	write(t, filepath.Join(root, "my", "built", "MANIFEST.json"), `{"collection_info": {"version": "1.2.3"}}`)
	write(t, filepath.Join(root, "my", "source", "galaxy.yml"), "version: 0.9.0\n")
	write(t, filepath.Join(root, "my", "bare", "README"), "")
	got, err := lookupCollectionVersion(New(Config{}), callIn(dir, "my.built", "my.source", "my.bare", "no.such"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, v := range got {
		texts = append(texts, textOf(v))
	}
	if diff := cmp.Diff([]string{"1.2.3", "0.9.0", "*", "None"}, texts); diff != "" {
		t.Error(diff)
	}
	if _, err := lookupCollectionVersion(New(Config{}), callIn(dir, "bad")); err == nil || err.Error() != `"bad" is not a FQCN` {
		t.Errorf("a bad name: %v", err)
	}
}

// TestCollectionVersionFindsWhatModulesAreTakenFrom: collections that are in none of the settings' directories are
// found as their modules are.
func TestCollectionVersionFindsWhatModulesAreTakenFrom(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "collections", "ansible_collections", "my", "near", "galaxy.yml"), "version: 1.0.0\n")
	write(t, filepath.Join(elsewhere, "galaxy.yml"), "version: 7.0.0\n")
	a := New(Config{Collection: func(name string) (string, bool) { return elsewhere, name == "my.packaged" }})
	got, err := lookupCollectionVersion(a, callIn(dir, "my.near", "my.packaged", "my.missing"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, v := range got {
		texts = append(texts, textOf(v))
	}
	if diff := cmp.Diff([]string{"1.0.0", "7.0.0", "None"}, texts); diff != "" {
		t.Error(diff)
	}
}

func TestLookupsAnswerToTheirOwnNamesOnly(t *testing.T) {
	for name, want := range map[string]string{
		"file": "file", "ansible.builtin.file": "file", "ansible.legacy.file": "file", "community.general.file": "",
		"filetree": "filetree", "community.general.filetree": "filetree", "collection_version": "",
		"community.general.collection_version": "collection_version", "nosuch": "",
	} {
		if got := lookupNamed(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

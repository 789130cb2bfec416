package roles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/search"
	"hark/playbook/syntax"
)

// tree makes files under a new directory: path and content by turns.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(root, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindLooksWhereAnsibleLooks(t *testing.T) {
	root := tree(t, "pb/roles/a/x", "", "path/a/x", "", "path/b/x", "", "near/c/x", "", "pb/d/x", "",
		"ansible_collections/n/c/roles/e/x", "", "pb/collections/ansible_collections/n/c/roles/f/x", "", "path/n.c.e/x", "",
		"coll/ansible_collections/n/two/roles/sub/g/x", "")
	f := &Finder{Paths: []string{root + "/path"}, CollectionPaths: []string{root, root + "/coll"}}
	for _, c := range []struct {
		name, near string
		collection []string
		want       string
	}{
		{"a", "", nil, "pb/roles/a"}, {"b", "", nil, "path/b"}, {"c", root + "/near", nil, "near/c"}, {"d", "", nil, "pb/d"},
		{root + "/near/c", "", nil, "near/c"}, {"n.c.f", "", nil, "pb/collections/ansible_collections/n/c/roles/f"},
		{"n.two.sub.g", "", nil, "coll/ansible_collections/n/two/roles/sub/g"},
		// The collection beside the playbook hides the other of that name, so this is a role with dots.
		{"n.c.e", "", nil, "path/n.c.e"},
		{"f", "", []string{"n.c"}, "pb/collections/ansible_collections/n/c/roles/f"},
		{"a", "", []string{"n.c", "ansible.legacy"}, "pb/roles/a"},
		{"sub.g", "", []string{"n.two"}, "coll/ansible_collections/n/two/roles/sub/g"},
		{"../../near/c", "", []string{"n.c"}, "near/c"},
	} {
		got, err := f.Find(c.name, search.Dir(root+"/pb"), c.near, c.collection)
		if err != nil || got.Path != filepath.Join(root, c.want) {
			t.Errorf("%s: found %q, %v; want %s", c.name, got.Path, err, c.want)
		}
		if strings.Contains(c.want, "ansible_collections") != (got.Collection != "") {
			t.Errorf("%s: collection %q", c.name, got.Collection)
		}
	}
	_, err := f.Find("none", search.Dir(root+"/pb"), root+"/near", []string{"n.c"})
	want := "the role 'none' was not found in n.c:" + strings.Join([]string{root + "/pb/roles", root + "/path", root + "/near", root + "/pb"}, ":")
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestCollectionsArePlacesOfPlaybooks(t *testing.T) {
	root := tree(t, "ansible_collections/n/c/playbooks/site.yml", "", "ansible_collections/n/c/playbooks/sub/deep.yaml", "")
	f := &Finder{CollectionPaths: []string{root + "/ansible_collections"}}
	for name, want := range map[string]string{
		"n.c.site": "site.yml", "n.c.site.yml": "site.yml", "n.c.sub.deep": "sub/deep.yaml", "n.c.none": "", "site.yml": "", "n.d.site": "",
	} {
		path, collection, ok := f.Playbook(name, "")
		if want == "" {
			if ok {
				t.Errorf("%s was found at %s", name, path)
			}
			continue
		}
		if path != root+"/ansible_collections/n/c/playbooks/"+want || collection != "n.c" {
			t.Errorf("%s: %q of %q", name, path, collection)
		}
		if got := f.CollectionOf(path, ""); got != "n.c" {
			t.Errorf("%s lies in collection %q", path, got)
		}
	}
	if got := f.CollectionOf("/elsewhere/ansible_collections/n/c/playbooks/site.yml", ""); got != "" {
		t.Errorf("a collection that is not configured is %q", got)
	}
}

func TestFilesOfARole(t *testing.T) {
	root := tree(t, "vars/main/b.yml", "", "vars/main/a.json", "", "vars/main/.hidden", "", "vars/main/old~", "", "vars/main/x.txt", "",
		"vars/main/sub/c.yaml", "", "vars/main/dir.d/no.yml", "", "vars/main.yaml/no.yml", "",
		"tasks/main.yaml", "", "tasks/main", "", "tasks/other", "", "tasks/other.yml", "",
		"defaults/main", "", "meta/main/main.yml", "")
	f := Found{Name: "r", Path: root}
	for _, c := range []struct {
		sub, main string
		dirs      bool
		want      string
	}{
		{"vars", "", true, "vars/main.yaml/no.yml"}, {"vars", "main", true, "vars/main/a.json vars/main/b.yml vars/main/sub/c.yaml"},
		{"tasks", "", false, "tasks/main.yaml"}, {"tasks", "other", false, "tasks/other"}, {"tasks", "other.yml", false, "tasks/other.yml"},
		{"defaults", "", true, "defaults/main"}, {"handlers", "", false, ""}, {"meta", "", false, ""},
	} {
		got, err := f.Files(c.sub, c.main, c.dirs)
		for i := range got {
			got[i], _ = filepath.Rel(root, got[i])
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s %q: %q, %v; want %s", c.sub, c.main, got, err, c.want)
		}
	}
	var noFile *NoFileError
	if _, err := f.Files("handlers", "main", false); !errors.As(err, &noFile) || !noFile.NoDir || err.Error() != "Could not find specified file in role, its 'handlers/' is not usable." {
		t.Errorf("without a directory: %v", err)
	}
	for _, name := range []string{"none", "../../etc/passwd"} {
		if got, err := f.Files("tasks", name, false); err == nil {
			t.Errorf("tasks_from %s gave %q", name, got)
		}
	}
}

func TestVarsOfSeveralFilesAreLaidOverEachOther(t *testing.T) {
	root := tree(t, "vars/main/a.yml", "d: {x: 1, y: 1}\ne: 1\n", "vars/main/b.yml", "d: {y: 2}\n", "vars/main/c.yml", "", "defaults/main.yml", "[]")
	f := Found{Name: "r", Path: root}
	for merge, want := range map[bool]string{false: `{"d":{"y":2},"e":1}`, true: `{"d":{"x":1,"y":2},"e":1}`} {
		d, err := f.Vars(&syntax.Loader{}, "vars", "", merge)
		if err != nil {
			t.Fatal(err)
		}
		if raw, _ := value.Encode(d); string(raw) != want {
			t.Errorf("merge %v: %s, want %s", merge, raw, want)
		}
	}
	if d, err := f.Vars(&syntax.Loader{}, "defaults", "", false); err != nil || d.Len() != 0 {
		t.Errorf("an empty list of defaults gave %v, %v", d, err)
	}
}

func TestArgSpecsOfTheirOwnFileWin(t *testing.T) {
	root := tree(t, "meta/main.yml", "argument_specs: {main: {a: 1}}\n", "meta/argument_specs.yml", "argument_specs: {main: {b: 1}}\n")
	f := Found{Name: "r", Path: root}
	m, err := ReadMeta(&syntax.Grammar{Loader: &syntax.Loader{}}, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"main":{"b":1}}`, `{"main":{"a":1}}`} {
		specs, err := f.ArgSpecs(&syntax.Loader{}, m.All)
		if err != nil {
			t.Fatal(err)
		}
		if raw, _ := value.Encode(specs); string(raw) != want {
			t.Errorf("%s, want %s", raw, want)
		}
		if err := os.Remove(root + "/meta/argument_specs.yml"); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/controller/config"
)

// tree makes files below a directory.
func tree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// A tag signs requirements.yml and not what it names: a keeper that plays signed tags fetches nothing and says so, and
// plays nothing that was fetched before tags were demanded.
func TestAKeeperOfSignedTagsFetchesNothing(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{"requirements.yml": "roles: [far.away]\n", "roles/requirements.yaml": "[far.away]\n"})
	none := config.World{Getenv: func(string) (string, bool) { return "", false }}
	k := &keeping{keyring: "keys.gpg", app: &app{world: none}}
	if err := k.require(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, requiredDir)); err == nil {
		t.Error("something was fetched")
	}
	err := k.unfetched(dir, errors.New("the role was not found"))
	if err == nil || !strings.Contains(err.Error(), "requirements.yml or roles/requirements.yaml names, since no tag") {
		t.Error(err)
	}
	tree(t, dir, map[string]string{requiredDir + "/roles/x/tasks/main.yml": ""})
	if got := k.environ(dir); got != nil {
		t.Error(got)
	}
	k.unsigned = true
	if got := k.environ(dir); len(got) != 2 || !strings.HasPrefix(got[0], "ANSIBLE_ROLES_PATH="+dir) {
		t.Error(got)
	}
	if err := k.unfetched(dir, errors.New("other")); err.Error() != "other" {
		t.Error(err)
	}
}

// What a project requires comes before the paths of its settings, which stay.
func TestWhatWasFetchedComesBeforeTheProjectsPaths(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]string{"ansible.cfg": "[defaults]\nroles_path = mine\ncollections_path = too\n",
		requiredDir + "/sum": ""})
	w := config.World{Getenv: func(string) (string, bool) { return "", false }, Home: t.TempDir()}
	at := filepath.Join(dir, requiredDir)
	want := []string{"ANSIBLE_ROLES_PATH=" + at + "/roles:" + dir + "/mine",
		"ANSIBLE_COLLECTIONS_PATH=" + at + "/collections:" + dir + "/too"}
	got := requiredEnviron(w, dir)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	w.Getenv = withEnviron(w.Getenv, got)
	w.Dir = dir
	cfg, err := config.Load(w, "")
	if err != nil {
		t.Fatal(err)
	}
	if list := cfg.List("DEFAULT_ROLES_PATH"); !slices.Equal(list, []string{at + "/roles", dir + "/mine"}) {
		t.Errorf("%q", list)
	}
}

// What lies in the project is not fetched, unless it has another version than the one that is wanted.
func TestOnlyWhatIsNotThereIsFetched(t *testing.T) {
	dir, into := t.TempDir(), t.TempDir()
	tree(t, dir, map[string]string{
		"ansible.cfg":                         "[defaults]\nroles_path = other\n",
		"roles/mine/tasks/main.yml":           "[]\n",
		"other/far/tasks/main.yml":            "[]\n",
		"other/old/meta/.galaxy_install_info": "{version: v1}\n",
		"collections/ansible_collections/acme/web/MANIFEST.json": `{"collection_info":
			{"namespace": "acme", "name": "web", "version": "1.2.0"}}`,
		"requirements.yml": "roles: [mine, far, {name: old, version: v1}]\n" +
			"collections: [{name: acme.web, version: '>=1.0.0'}]\n",
	})
	t.Chdir(dir)
	if err := fetchRequirements(into); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(into); len(entries) != 0 {
		t.Error(entries)
	}
	tree(t, dir, map[string]string{"requirements.yml": "roles: [{name: old, src: 'git+file:///nowhere', version: v2}]\n"})
	err := fetchRequirements(into)
	const want = "requirements.yml: cannot fetch what the project requires: old was NOT installed"
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), into) {
		t.Error(err)
	}
}

package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/controller/config"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// settingsOf are the settings of an environment, in a directory of their own.
func settingsOf(t *testing.T, env map[string]string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	c, err := config.Load(config.World{Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, Dir: dir, Home: dir, System: dir + "/none"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFlagsWinOverSettings(t *testing.T) {
	e := Effective{Settings: settingsOf(t, map[string]string{"ANSIBLE_INVENTORY": "/set", "ANSIBLE_BECOME_USER": "set", "ANSIBLE_TASK_TIMEOUT": "5"}), Options: &Options{}}
	e.Options.Connect.Kind = "smart"
	if got := e.Sources(); !slices.Equal(got, []string{"/set"}) {
		t.Errorf("sources of the settings are %q", got)
	}
	if got, _ := value.Repr(e.keywords()); got != "{'timeout': 5, 'become_user': 'set'}" {
		t.Errorf("keywords of the settings are %s", got)
	}
	e.Options.Inventory.Sources = []string{"a,b", "hosts"}
	e.Options.Become.User, e.Options.TaskTimeout, e.Options.Connect.Kind = "flag", 7, "local"
	if got := e.Sources(); got[0] != "a,b" || !filepath.IsAbs(got[1]) || filepath.Base(got[1]) != "hosts" {
		t.Errorf("sources of the flags are %q", got)
	}
	if got, _ := value.Repr(e.keywords()); got != "{'timeout': 7, 'become_user': 'flag', 'connection': 'local'}" {
		t.Errorf("keywords of the flags are %s", got)
	}
}

func TestTagsOfFlagsAndSettingsCountTogether(t *testing.T) {
	e := Effective{Settings: settingsOf(t, map[string]string{"ANSIBLE_RUN_TAGS": "a,b", "ANSIBLE_SKIP_TAGS": "x"}), Options: &Options{Tags: Tags{Only: []string{"b, c"}}}}
	o := e.magicOptions(plan.Level214)
	if !slices.Equal(o.Tags, []string{"a", "b", "c"}) || !slices.Equal(o.SkipTags, []string{"x"}) {
		t.Errorf("tags are %q and %q", o.Tags, o.SkipTags)
	}
}

func TestTheLastDirectoriesOfModulesComeFirst(t *testing.T) {
	got := ModuleDirs(&Options{ModulePath: []string{"a:b", "c"}}, func(dir string) string { return "/" + dir })
	if !slices.Equal(got, []string{"/c", "/a", "/b"}) {
		t.Errorf("got %q", got)
	}
}

func TestExtraVariables(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/v.yml", []byte("a: {y: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for behaviour, want := range map[string]string{"replace": "{'a': {'y': 2}, 'k': 'v w'}", "merge": "{'a': {'x': 1, 'y': 2}, 'k': 'v w'}"} {
		e := Effective{Settings: settingsOf(t, map[string]string{"ANSIBLE_HASH_BEHAVIOUR": behaviour}), Options: &Options{Extra: []string{`{"a": {"x": 1}}`, "@" + dir + "/v.yml", "k='v w'", ""}}}
		d, err := e.extraVars(&syntax.Loader{})
		if got := value.Printed(value.OrNone(d)); err != nil || got != want {
			t.Errorf("%s: got %s (%v), want %s", behaviour, got, err, want)
		}
	}
	for text, want := range map[string]string{"./v.yml": "prepend extra_vars filename", "[1]": "could not be made into a dictionary", "@/nonexistent": "/nonexistent"} {
		_, err := extraOf(&syntax.Loader{}, text, func(s string) string { return s })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestTheLookupConfigTellsWhereASettingIsFrom(t *testing.T) {
	l := ConfigLookup{settingsOf(t, map[string]string{"ANSIBLE_TIMEOUT": "7"})}
	if v, origin, ok := l.Setting("DEFAULT_TIMEOUT"); !ok || value.Printed(v) != "7" || !strings.Contains(origin, "ANSIBLE_TIMEOUT") {
		t.Errorf("got %v from %q, %t", v, origin, ok)
	}
	if _, _, ok := l.Setting("NO_SUCH"); ok {
		t.Error("a setting was found that there is not")
	}
	if s, ok := l.PluginSetting("connection/ssh", "port"); !ok || s.Kind != "int" {
		t.Errorf("got %+v, %t", s, ok)
	}
}

func TestPlacesAreShownUnlessTheyAreVaults(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"site.yml": "- hosts: all\n  tasks:\n", "vault.yml": "$ANSIBLE_VAULT;1.1;AES256\n3132\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := (&Project{}).Where(dir+"/site.yml:1:3", ""); !strings.Contains(got, "- hosts: all") {
		t.Errorf("got %q", got)
	}
	if got := (&Project{}).Where(dir+"/vault.yml:2:1", ""); strings.Contains(got, "3132") {
		t.Errorf("a vault is shown: %q", got)
	}
	if got := (&Project{}).Where("no place", ""); got != "" {
		t.Errorf("got %q for what is no place", got)
	}
}

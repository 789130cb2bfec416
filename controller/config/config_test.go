package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// world is a place of its own: a home, a working directory and a machine-wide file below one directory.
func world(t *testing.T, env map[string]string) World {
	t.Helper()
	root := t.TempDir()
	w := World{
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Dir:    filepath.Join(root, "work"), Home: filepath.Join(root, "home"), System: filepath.Join(root, "etc", "ansible.cfg"),
	}
	for _, dir := range []string{w.Dir, w.Home, filepath.Dir(w.System)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, w World) *Config {
	t.Helper()
	c, err := Load(w, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheFirstFileCounts(t *testing.T) {
	env := map[string]string{}
	w := world(t, env)
	if c := load(t, w); c.File != "" || c.Int("DEFAULT_FORKS") != 5 {
		t.Errorf("without files: %q, %d forks", c.File, c.Int("DEFAULT_FORKS"))
	}
	for i, path := range []string{w.System, filepath.Join(w.Home, ".ansible.cfg"), filepath.Join(w.Dir, "ansible.cfg"), filepath.Join(w.Home, "named.cfg")} {
		write(t, path, "[defaults]\nforks = "+string(rune('6'+i))+"\n")
		if strings.HasSuffix(path, "named.cfg") {
			env["ANSIBLE_CONFIG"] = "~/named.cfg"
		}
		c := load(t, w)
		if c.File != path || c.Int("DEFAULT_FORKS") != 6+i || c.Get("DEFAULT_FORKS").Origin != path {
			t.Errorf("with %s: %q, %d forks", path, c.File, c.Int("DEFAULT_FORKS"))
		}
	}
	env["ANSIBLE_CONFIG"] = w.Dir // a directory stands for its ansible.cfg
	if c := load(t, w); c.File != filepath.Join(w.Dir, "ansible.cfg") {
		t.Errorf("a directory gave %q", c.File)
	}
	env["ANSIBLE_FORKS"] = "20"
	if v := load(t, w).Get("DEFAULT_FORKS"); v.V != 20 || v.Origin != "env: ANSIBLE_FORKS" {
		t.Errorf("the environment gave %v from %s", v.V, v.Origin)
	}
}

func TestAPublicDirectoryIsNotTrusted(t *testing.T) {
	w := world(t, nil)
	write(t, filepath.Join(w.Dir, "ansible.cfg"), "[defaults]\nforks = 9\n")
	if err := os.Chmod(w.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	c := load(t, w)
	if c.File != "" || len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], "Ansible is being run in a world writable directory ("+w.Dir+")") {
		t.Errorf("file %q, warnings %q", c.File, c.Warnings)
	}
}

func TestKindsOfValues(t *testing.T) {
	env := map[string]string{"PLACE": "/place", "ANSIBLE_ROLES_PATH": "here:~/there:$PLACE/x:$NOTSET"}
	w := world(t, env)
	write(t, filepath.Join(w.Dir, "ansible.cfg"), `[defaults]
inventory = hosts, sub/hosts
gather_subset = "a" , 'b',c
log_path = logs/run.log
become_password_file = {{CWD}}/pw
nocows = ja
stdout_callback = "quoted"
internal_poll_interval = 0.5
`)
	c := load(t, w)
	for name, want := range map[string]any{
		"DEFAULT_ROLES_PATH":             []string{w.Dir + "/here", w.Home + "/there", "/place/x", w.Dir + "/$NOTSET"},
		"DEFAULT_HOST_LIST":              []string{w.Dir + "/hosts", w.Dir + "/sub/hosts"},
		"DEFAULT_GATHER_SUBSET":          []string{"a", "b", "c"},
		"DEFAULT_LOG_PATH":               w.Dir + "/logs/run.log",
		"BECOME_PASSWORD_FILE":           w.Dir + "/pw",
		"ANSIBLE_NOCOWS":                 false,
		"DEFAULT_STDOUT_CALLBACK":        "quoted",
		"DEFAULT_INTERNAL_POLL_INTERVAL": 0.5,
		"COLLECTIONS_PATHS":              []string{w.Home + "/.ansible/collections", "/usr/share/ansible/collections"},
		"TAGS_RUN":                       []string{},
		"DEFAULT_VAULT_PASSWORD_FILE":    nil,
	} {
		if diff := cmp.Diff(want, c.Get(name).V); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTheLastNameOfASettingWins(t *testing.T) {
	w := world(t, map[string]string{"ANSIBLE_COLLECTIONS_PATHS": "/old", "ANSIBLE_COLLECTIONS_PATH": "/new", "NO_COLOR": "1"})
	c := load(t, w)
	if got := c.List("COLLECTIONS_PATHS"); len(got) != 1 || got[0] != "/new" {
		t.Errorf("collections are looked for in %q", got)
	}
	if !c.Bool("ANSIBLE_NOCOLOR") {
		t.Error("NO_COLOR was not heard")
	}
}

func TestAnEmptyVariableOfTheEnvironmentIsNoNumber(t *testing.T) {
	w := world(t, map[string]string{"ANSIBLE_TIMEOUT": "", "ANSIBLE_STDOUT_CALLBACK": ""})
	c := load(t, w)
	if v := c.Get("DEFAULT_TIMEOUT"); v.V != 10 || v.Origin != "default" {
		t.Errorf("timeout is %v from %s", v.V, v.Origin)
	}
}

func TestEntriesWithoutMeaningAreNamed(t *testing.T) {
	w := world(t, nil)
	write(t, filepath.Join(w.Dir, "ansible.cfg"), "[defaults]\nforks=1\nfrobs=2\n[galaxy]\nserver=x\n[somebody_elses]\nthing=1\n[ssh_connection]\nscp_if_shh=1\n")
	if got := load(t, w).Unknown; len(got) != 2 || got[0] != "[defaults]frobs" || got[1] != "[ssh_connection]scp_if_shh" {
		t.Errorf("unknown are %q", got)
	}
}

// Each file of testdata is an ansible.cfg and, after it, what Python's configparser reads or says of it.
func TestDeprecatedNamesInUseAreTold(t *testing.T) {
	file := "[defaults]\ncallback_whitelist = timer\ngather_subset = min\n"
	for _, c := range []struct {
		file string
		env  map[string]string
		want []string
	}{
		{"[defaults]\ncallbacks_enabled = timer\n", nil, nil},
		{file, nil, []string{"[defaults]callback_whitelist", "DEFAULT_GATHER_SUBSET"}},
		{file, map[string]string{"ANSIBLE_CALLBACKS_ENABLED": "timer"}, []string{"DEFAULT_GATHER_SUBSET"}},
		{"", map[string]string{"ANSIBLE_CALLBACK_WHITELIST": "timer", "ANSIBLE_GATHER_TIMEOUT": "3"}, []string{"ANSIBLE_CALLBACK_WHITELIST", "DEFAULT_GATHER_TIMEOUT"}},
	} {
		w := world(t, c.env)
		write(t, filepath.Join(w.Dir, "ansible.cfg"), c.file)
		var got []string
		for _, n := range load(t, w).Deprecated {
			name, _, _ := strings.Cut(n.Text, " option, ")
			got = append(got, name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q with %v (-want +got):\n%s", c.file, c.env, diff)
		}
	}
}

func TestINIFilesAreReadAsConfigparserDoes(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		ini, err := parseINI(string(archive.Files[0].Data))
		got := describe(ini, err)
		if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
			t.Errorf("%s: (-configparser +hark)\n%s", path, diff)
		}
	}
}

func describe(f iniFile, err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, section := range sortedKeys(f) {
		for _, name := range sortedKeys(f[section]) {
			v, _ := f.get(Key{section, name})
			b.WriteString("[" + section + "]" + name + "=" + value.ReprText(v) + "\n")
		}
	}
	return b.String()
}

func TestSettingsAreDeclaredSoundly(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		if seen[key(s)] {
			t.Errorf("%s stands in the table twice", key(s))
		}
		seen[key(s)] = true
		if s.Doc == "" {
			t.Errorf("%s has no documentation", key(s))
		}
		if s.NoDefault && s.Default != "" {
			t.Errorf("%s has a default and has none", key(s))
		}
	}
}

func FuzzParseINI(f *testing.F) {
	f.Add("[defaults]\nforks = 5 ; comment\n  more\n\n[x]\ny:z\n")
	f.Add("[a]\n=\n[a\n]]")
	f.Fuzz(func(t *testing.T, text string) {
		if ini, err := parseINI(text); err == nil && ini == nil {
			t.Error("neither a file nor an error")
		}
	})
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestSettingsOfLaterLevelsDoNothing: ansible-core 2.19.11 knows no result_indentation, 2.22.0b2 does.
func TestSettingsOfLaterLevelsDoNothing(t *testing.T) {
	c, err := Load(World{Dir: t.TempDir(), Home: t.TempDir(), Getenv: func(name string) (string, bool) {
		return "2", name == "ANSIBLE_CALLBACK_RESULT_INDENTATION"
	}}, "")
	if err != nil {
		t.Fatal(err)
	}
	for level, want := range map[dialect.Level]int{dialect.Level214: 4, dialect.Level219: 4, dialect.Level220: 2, dialect.Level222: 2} {
		if got := c.At(level).Int("callback/default.result_indentation"); got != want {
			t.Errorf("%s: %d", level, got)
		}
	}
}

package syntax

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/vault"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVaultFilesAndStringsOpen(t *testing.T) {
	secrets := &vault.Secrets{List: []vault.Secret{{ID: "default", Password: []byte("pw")}}}
	inner, err := vault.Encrypt([]byte("deep"), []byte("pw"), "")
	if err != nil {
		t.Fatal(err)
	}
	text := "a: 1\nb: !vault |\n  " + strings.ReplaceAll(strings.TrimSpace(string(inner)), "\n", "\n  ") + "\n"
	sealed, err := vault.Encrypt([]byte(text), []byte("pw"), "")
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "v.yml", string(sealed))
	read, err := (&Loader{Secrets: secrets}).Value(file)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := read.(*value.Dict).Get("b")
	v, ok := b.(*value.Vault)
	if !ok {
		t.Fatalf("b is %T", b)
	}
	if got, err := v.Open(); got != "deep" || err != nil {
		t.Errorf("b opens to %q, %v", got, err)
	}
	_, err = (&Loader{}).Value(file)
	if want := "Attempting to decrypt but no vault secrets found"; err == nil || err.Error() != want {
		t.Errorf("without a password: %v, want %s", err, want)
	}
}

func TestDamagedVaultStringTellsItsPlace(t *testing.T) {
	l := &Loader{Secrets: &vault.Secrets{List: []vault.Secret{{Password: []byte("pw")}}}}
	v, err := l.Value(write(t, "v.yml", "a: b\nc: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  zz\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := v.(*value.Dict).Get("c")
	_, err = c.(*value.Vault).Open()
	if err == nil || !strings.HasPrefix(err.Error(),
		"Vault format unhexlify error: Non-hexadecimal digit found\n\nThe error appears to be in") ||
		!strings.Contains(err.Error(), "line 2, column 4") {
		t.Errorf("got %v", err)
	}
}

func TestVaultedTextIsNotShown(t *testing.T) {
	sealed, err := vault.Encrypt([]byte("a: b: secret\n"), []byte("pw"), "")
	if err != nil {
		t.Fatal(err)
	}
	l := &Loader{Secrets: &vault.Secrets{List: []vault.Secret{{Password: []byte("pw")}}}}
	_, err = l.Node(write(t, "v.yml", string(sealed)))
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "line 1, column 5") {
		t.Errorf("got %v", err)
	}
}

func TestUnsafeIsDeep(t *testing.T) {
	v, err := (&Loader{}).ParseValue("x", []byte("a: !unsafe {b: ['{{ x }}', 1]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := value.PrintedRepr(v), "{'a': {'b': ['{{ x }}', 1]}}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a, _ := v.(*value.Dict).Get("a")
	b, _ := a.(*value.Dict).Get("b")
	if !value.IsUnsafe(b.(*value.List).Items[0]) {
		t.Error("text within a tagged mapping is not unsafe")
	}
}

func TestJSONTagsOfAnsible(t *testing.T) {
	v, err := (&Loader{}).ParseValue("x",
		[]byte(`{"u": {"__ansible_unsafe": "{{ x }}"}, "v": [{"__ansible_vault": "$ANSIBLE_VAULT;1.1;AES256\n00"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d := v.(*value.Dict)
	if u, _ := d.Get("u"); !value.IsUnsafe(u) {
		t.Errorf("u is %T", u)
	}
	l, _ := d.Get("v")
	if _, ok := l.(*value.List).Items[0].(*value.Vault); !ok {
		t.Errorf("v holds %T", l.(*value.List).Items[0])
	}
}

func TestDuplicateKeys(t *testing.T) {
	const want = "While constructing a mapping from f.yml, line 1, column 1, found a duplicate dict key (a). Using " +
		"last defined value only."
	var warnings []string
	for how, warned := range map[string]int{"": 1, "warn": 1, "ignore": 0} {
		warnings = nil
		l := &Loader{Duplicates: how, Warn: func(text string) { warnings = append(warnings, text) }}
		v, err := l.ParseValue("f.yml", []byte("a: 1\na: 2\n"))
		if err != nil || value.PrintedRepr(v) != "{'a': 2}" {
			t.Errorf("%q: %s, %v", how, value.PrintedRepr(v), err)
		}
		if len(warnings) != warned || warned == 1 && warnings[0] != want {
			t.Errorf("%q: warned of %q", how, warnings)
		}
	}
	_, err := (&Loader{Duplicates: "error"}).ParseValue("f.yml", []byte("a: 1\na: 2\n"))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("as an error: %v", err)
	}
}

func TestMissingFileIsNotFound(t *testing.T) {
	_, err := (&Loader{}).Node("/nonexistent/x.yml")
	var missing *NotFoundError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestAllErrorsAreReportedInOrder(t *testing.T) {
	_, err := testGrammar(t).Playbook(write(t, "site.yml", `
- hosts: all
  nonsense: 1
  tasks:
    - debug:
      command: x
    - name: nothing
- hosts: all
  vars: text
`), "")
	var got []string
	for _, e := range List(err) {
		var known *Error
		if !errors.As(e, &known) {
			t.Fatalf("%T: %v", e, e)
		}
		got = append(got, strings.TrimPrefix(known.Place.String(), known.Place.File+":")+" "+known.Msg)
	}
	want := []string{
		"2:3 'nonsense' is not a valid attribute for a Play",
		"5:7 conflicting action statements: debug, command",
		"7:7 no module/action detected in task.",
		"9:9 Vars in a Play must be specified as a dictionary, or a list of dictionaries",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What a template of a variables file is told with stands there, and not in the file of the task that uses it.
func TestFindLooksIntoTheNearestFileThatWasRead(t *testing.T) {
	files := map[string]string{
		"/p/site.yml": "- a: \"{{ here }}\"\n- shell: echo {{ raw }} chdir=/{{ dir }}\n- copy: a=1 " +
			"b=\"x {{ quoted }}\"\n",
		"/p/group_vars/all.yml":           "x: 1\nb: \"{{ nope }}\"\nc: \"{{ both }}\"\n",
		"/p/roles/r/defaults/main.yml":    "c: \"{{ both }}\"\n",
		"/p/roles/r/tasks/main.yml":       "- debug:\n",
		"/p/group_vars/not_asked_for.yml": "d: \"{{ unread }}\"\n",
	}
	l := &Loader{ReadFile: func(name string) ([]byte, error) { return []byte(files[name]), nil }}
	for _, name := range []string{"/p/site.yml", "/p/group_vars/all.yml", "/p/roles/r/defaults/main.yml",
		"/p/roles/r/tasks/main.yml"} {
		if _, err := l.Value(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, near, want string }{
		{"{{ here }}", "/p/site.yml", "/p/site.yml:1:6"},
		{"echo {{ raw }}", "/p/site.yml", "/p/site.yml:2:10"},
		{"/{{ dir }}", "/p/site.yml", "/p/site.yml:2:10"},
		{"x {{ quoted }}", "/p/site.yml", "/p/site.yml:3:9"},
		{"{{ nope }}", "/p/site.yml", "/p/group_vars/all.yml:2:4"},
		{"{{ both }}", "/p/roles/r/tasks/main.yml", "/p/roles/r/defaults/main.yml:1:4"},
		{"{{ both }}", "/p/group_vars/x.yml", "/p/group_vars/all.yml:3:4"},
	} {
		if at, ok := l.Find(c.text, Place{File: c.near, Line: 1, Column: 1}); !ok || at.String() != c.want {
			t.Errorf("%s near %s: got %s, want %s", c.text, c.near, at, c.want)
		}
	}
	if at, ok := l.Find("{{ unread }}", Place{File: "/p/site.yml", Line: 1}); ok {
		t.Errorf("a file that nobody read: %s", at)
	}
}

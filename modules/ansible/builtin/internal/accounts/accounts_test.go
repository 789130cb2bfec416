package accounts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

func databaseOf(t *testing.T, h *modtest.Host, tools ...string) Database {
	return Database{Ctx: t.Context(), Env: h.Env(t, tools...)}
}

func answers() map[string]modules.Output {
	return map[string]modules.Output{
		"getent passwd anna": modtest.Answer("anna:x:1000:100:Anna,,,:/home/anna:/bin/sh\n"),
		"getent passwd 1000": modtest.Answer("anna:x:1000:100:Anna,,,:/home/anna:/bin/sh\n"),
		"getent passwd none": {Rc: 2},
		"getent group 100":   modtest.Answer("users:x:100:\n"),
		"getent group users": modtest.Answer("users:x:100:\n"),
		"getent group short": modtest.Answer("short:x\n"),
		"getent group none":  {Rc: 2},
		"getent group":       modtest.Answer("users:x:100:\nwheel:x:10:anna,otto\nbroken\naudio:x:29:anna\n"),
	}
}

func TestAccountsAreLookedUp(t *testing.T) {
	d := databaseOf(t, &modtest.Host{Answers: answers()})
	u, err := d.User("anna")
	if err != nil || u == nil ||
		*u != (Passwd{name: "anna", Password: "x", Gecos: "Anna,,,", Home: "/home/anna", Shell: "/bin/sh", UID: 1000,
			GID: 100}) {
		t.Errorf("%+v, %v", u, err)
	}
	for _, name := range []string{"none", "1000"} { // a number is no name
		if u, err := d.User(name); u != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
	for key, want := range map[string]int{"100": 100, "users": 100, "none": -1, "short": -1} {
		g, err := d.Group(key)
		if err != nil || (g == nil) != (want < 0) || g != nil && (g.GID != want || g.Name != "users") {
			t.Errorf("group %s: %+v, %v", key, g, err)
		}
	}
	if g, _ := d.GroupNamed("100"); g != nil {
		t.Errorf("a number was taken for the name of %+v", g)
	}
	if g, _ := d.GroupNamed("users"); g == nil {
		t.Error("a group is not found by its name")
	}
	if names, err := d.MemberOf("anna"); err != nil || !slices.Equal(names, []string{"wheel", "audio"}) {
		t.Errorf("%q, %v", names, err)
	}
}

func TestFilesOfAccountsAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(path, []byte("anna:x:1\notto:y:2\nanna:z:3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := lineOf(path, "anna"); err != nil || !slices.Equal(f, []string{"anna", "z", "3"}) {
		t.Errorf("the last line counts: %q, %v", f, err)
	}
	var warned []string
	env := &modules.Env{Warn: func(_ string, a ...any) { warned = append(warned, a[0].(string)) }}
	if in, err := InFile(env, path, "otto", "w"); !in || err != nil || warned != nil {
		t.Errorf("%t, %v, %q", in, err, warned)
	}
	if in, err := InFile(env, path, "nobody", "not here"); in || err != nil ||
		!slices.Equal(warned, []string{"not here"}) {
		t.Errorf("%t, %v, %q", in, err, warned)
	}
	_, err := InFile(env, path+".none", "anna", "w")
	var ended *modules.Ended
	if want := "'local: true' specified but unable to find local account file " + path +
		".none to parse."; !errors.As(err, &ended) || ended.Result.Msg != want {
		t.Errorf("%v", err)
	}
}

func TestToolsRunUntilOneFails(t *testing.T) {
	h := &modtest.Host{Answers: map[string]modules.Output{
		"test-add a": {Stdout: []byte("1")}, "test-add b": {Rc: 4, Stderr: []byte("2")}, "test-add c": {Stdout: []byte("3")},
	}}
	d := databaseOf(t, h, "test-add")
	r, err := d.RunAll([][]string{{"test-add", "a"}, {"test-add", "b"}, {"test-add", "c"}})
	if err != nil || *r != (Ran{4, "1", "2"}) || !r.Failed() || len(h.Commands) != 2 {
		t.Errorf("%+v, %v, %q", r, err, h.Commands)
	}
	data := value.NewDict()
	if !r.Outcome(data) || data.Text("stdout") != "1" || data.Text("stderr") != "2" {
		t.Errorf("%s", value.PrintedRepr(data))
	}
	if none, err := d.RunAll(nil); none != nil || err != nil || none.Failed() || none.Outcome(data) {
		t.Errorf("of nothing: %+v, %v", none, err)
	}
	if _, err := d.Run("test-none"); err == nil {
		t.Error("a tool that is not there ran")
	}
	d.Env.Check = true
	if r, err := d.Run("test-none"); err != nil || *r != (Ran{}) || len(h.Commands) != 2 {
		t.Errorf("check mode: %+v, %v, %q", r, err, h.Commands)
	}
}

package secrets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/controller/config"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
)

// keeper has a directory of its own, an environment, and what is typed; out is all that it prints.
func keeper(t *testing.T, dir, typed string, env map[string]string) (k Keeper, out *bytes.Buffer) {
	t.Helper()
	getenv := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	settings, err := config.Load(config.World{Getenv: getenv, Dir: dir, Home: dir, System: dir + "/none"}, "")
	if err != nil {
		t.Fatal(err)
	}
	out = &bytes.Buffer{}
	display, err := view.NewDisplay(view.DisplayOptions{Out: out, Err: out, Columns: -1})
	if err != nil {
		t.Fatal(err)
	}
	return Keeper{Settings: settings, Display: display, Console: &terminal.Console{In: strings.NewReader(typed), Out: out, Err: out, NoTTY: true, Getenv: getenv}}, out
}

// files writes files with their modes: name, mode and text.
func files(t *testing.T, list ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(list); i += 3 {
		mode := map[string]os.FileMode{"file": 0o600, "script": 0o700}[list[i+1]]
		if err := os.WriteFile(filepath.Join(dir, list[i]), []byte(list[i+2]), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVaultSecretsComeInTheirOrder(t *testing.T) {
	dir := files(t, "dev", "file", "one\n", "prod", "script", "#!/bin/sh\necho two\n", "plain", "file", "three\n", "set", "file", "zero\n")
	k, _ := keeper(t, dir, "four\n", map[string]string{"ANSIBLE_VAULT_IDENTITY_LIST": "set@set"})
	got, err := k.Vault(t.Context(), Need{IDs: []string{"dev@dev", "prod@prod"}, Files: []string{"plain"}, Ask: true})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range got.List {
		list = append(list, s.ID+"="+string(s.Password))
	}
	if said := strings.Join(list, " "); said != "set=zero dev=one prod=two default=three default=four" {
		t.Errorf("the secrets are %s", said)
	}
}

func TestVaultSecretsThatCannotBeHad(t *testing.T) {
	dir := files(t, "empty", "file", "\n", "good", "file", "x\n", "fails", "script", "#!/bin/sh\nexit 3\n")
	for name, c := range map[string]struct {
		need        Need
		typed, said string
	}{
		"a file that is not there": {Need{IDs: []string{"a@none"}}, "", "was not found"},
		"a file with nothing":      {Need{Files: []string{"empty"}}, "", "Invalid vault password was provided"},
		"a script that fails":      {Need{Files: []string{"fails"}}, "", "fails"},
		"passwords that differ":    {Need{Ask: true, Create: true}, "a\nb\n", "Passwords do not match"},
		"nothing typed":            {Need{Ask: true}, "\n", "Invalid vault password was provided"},
	} {
		k, out := keeper(t, dir, c.typed, nil)
		if _, err := k.Vault(t.Context(), c.need); err == nil || !strings.Contains(err.Error(), c.said) || !strings.Contains(out.String(), "WARNING") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	// One that is there is enough.
	k, out := keeper(t, dir, "", nil)
	got, err := k.Vault(t.Context(), Need{Files: []string{"empty", "good"}})
	if err != nil || len(got.List) != 1 || !strings.Contains(out.String(), "WARNING") {
		t.Errorf("%v, %v, %s", got, err, out)
	}
}

func TestVaultAsksWhereThereMustBeASecret(t *testing.T) {
	k, _ := keeper(t, t.TempDir(), "typed\n", nil)
	if got, err := k.Vault(t.Context(), Need{}); err != nil || len(got.List) != 0 {
		t.Errorf("nobody wants one: %v, %v", got, err)
	}
	if got, err := k.Vault(t.Context(), Need{Must: true}); err != nil || len(got.List) != 1 {
		t.Errorf("one must be there: %v, %v", got, err)
	}
}

func TestPasswords(t *testing.T) {
	dir := files(t, "ssh", "file", "s3cret\n\n", "become", "script", "#!/bin/sh\necho toor\n", "empty", "file", "", "fails", "script", "#!/bin/sh\necho no >&2\nexit 4\n")
	for name, c := range map[string]struct {
		want        Wanted
		typed       string
		got         Passwords
		prompt, err string
	}{
		"none":                      {},
		"from files":                {want: Wanted{ConnectionFile: "ssh", BecomeFile: "become"}, got: Passwords{"s3cret", "toor"}},
		"from what comes in":        {want: Wanted{ConnectionFile: "-"}, typed: "piped\n", got: Passwords{Connection: "piped"}},
		"asked for":                 {want: Wanted{AskConnection: true, AskBecome: true}, typed: "one\ntwo\n", got: Passwords{"one", "two"}, prompt: "BECOME password[defaults to SSH password]: "},
		"the connection's for both": {want: Wanted{AskConnection: true, AskBecome: true}, typed: "one\n\n", got: Passwords{"one", "one"}},
		"become's alone":            {want: Wanted{AskBecome: true, Become: "su"}, typed: "two\n", got: Passwords{Become: "two"}, prompt: "BECOME password: "},
		"an empty file":             {want: Wanted{ConnectionFile: "empty"}, err: "Empty password was provided"},
		"no file":                   {want: Wanted{BecomeFile: "none"}, err: "was not found"},
		"a script that fails":       {want: Wanted{BecomeFile: "fails"}, err: "returned an error (rc=4): no"},
	} {
		k, out := keeper(t, dir, c.typed, nil)
		got, err := k.Passwords(t.Context(), c.want)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || got != c.got || !strings.Contains(out.String(), c.prompt) {
			t.Errorf("%s: %+v, %v, %s", name, got, err, out)
		}
		if got.Connection != "" && strings.Contains(out.String(), got.Connection) {
			t.Errorf("%s: the password is on the screen: %s", name, out)
		}
	}
}

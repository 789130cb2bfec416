package builtin

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestHostnameTellsSystemdBothNames(t *testing.T) {
	for _, c := range []struct {
		current, permanent, before string
		told                       []string
	}{
		{"new.example.org", "new.example.org", "", nil},
		{"old", "old", "old", []string{"hostnamectl --pretty --static set-hostname new.example.org", "hostnamectl --transient set-hostname new.example.org"}},
		{"old", "new.example.org", "old", []string{"hostnamectl --transient set-hostname new.example.org"}},
		{"new.example.org", "old", "old", []string{"hostnamectl --pretty --static set-hostname new.example.org"}},
	} {
		for _, check := range []bool{false, true} {
			h := &modtest.Host{Answers: map[string]modules.Output{
				"hostnamectl --transient status": modtest.Answer(c.current + "\n"), "hostnamectl --static status": modtest.Answer(c.permanent + "\n"),
			}}
			env := h.Env(t, "hostnamectl")
			env.Check = check
			r := Hostname.Run(context.Background(), env, modtest.Args(map[string]any{"name": "new.example.org", "use": "systemd"}))
			told := slices.DeleteFunc(h.Commands, func(s string) bool { return strings.HasSuffix(s, " status") })
			if want := c.told; r.Failed || r.Changed != (want != nil) || !slices.Equal(told, want) != check && want != nil {
				t.Errorf("%s, %s (check %v) ran %q: %+v", c.current, c.permanent, check, told, r)
			}
			if modtest.Plain(r.Facts)["ansible_hostname"] != "new" || modtest.Plain(r.Facts)["ansible_nodename"] != "new.example.org" {
				t.Errorf("facts %v", r.Facts)
			}
			if c.before != "" && r.Diff[0].Before != "hostname = "+c.before+"\n" {
				t.Errorf("diff %v", r.Diff)
			}
		}
	}
}

func TestHostnameSaysWhatFails(t *testing.T) {
	h := &modtest.Host{Answers: map[string]modules.Output{"hostnamectl --static status": {Rc: 1, Stderr: []byte("no bus\n")}}}
	for want, args := range map[string]map[string]any{
		"Command failed rc=1, out=, err=no bus\n": {"name": "x", "use": "systemd"},
		"missing required arguments: name":        {},
	} {
		if r := Hostname.Run(context.Background(), h.Env(t, "hostnamectl"), modtest.Args(args)); !r.Failed || r.Msg != want {
			t.Errorf("%v gave %+v", args, r)
		}
	}
	h = &modtest.Host{}
	r := Hostname.Run(context.Background(), h.Env(t, "hostnamectl"), modtest.Args(map[string]any{"name": strings.Repeat("x", 65), "use": "systemd"}))
	if !r.Failed || r.Msg != "name cannot be longer than 64 characters on systemd servers, try a shorter name" {
		t.Errorf("a long name gave %+v", r)
	}
}

func TestHostnameIsKeptInFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hostname")
	ctx := context.Background()
	for _, c := range []struct {
		keeper        *keeper
		content, want string
	}{
		{fileKeeper(ctx, path), "old\n", "new\n"},
		{fileKeeper(ctx, path), "", "new\n"},
		{lineKeeper(ctx, path, "HOSTNAME=", "HOSTNAME=%s"), "A=1\nHOSTNAME=old\nB=2\n", "A=1\nHOSTNAME=new\nB=2\n"},
		{lineKeeper(ctx, path, "HOSTNAME=", "HOSTNAME=%s"), "A=1\n", "A=1\nHOSTNAME=new\n"},
		{lineKeeper(ctx, path, "hostname=", `hostname="%s"`), "hostname=\"old\"\n", "hostname=\"new\"\n"},
		{lineKeeper(ctx, path, "hostname=", `hostname="%s"`), "", "hostname=\"new\"\n"},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := c.keeper.set("new", true); err != nil || !r.Changed {
			t.Errorf("check of %q: %+v, %v", c.content, r, err)
		}
		r, err := c.keeper.set("new", false)
		if got, _ := os.ReadFile(path); err != nil || !r.Changed || string(got) != c.want {
			t.Errorf("%q became %q, want %q: %v", c.content, got, c.want, err)
		}
		if r, err := c.keeper.set("new", false); err != nil || r.Changed {
			t.Errorf("the second time: %+v, %v", r, err)
		}
	}
}

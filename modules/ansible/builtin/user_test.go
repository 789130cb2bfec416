package builtin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// accountsHost is a host with account tools that only remember how they were called.
type accountsHost struct {
	passwd, group map[string]string // lines of getent by key
	told          []string
	fails         string // a tool that exits with 9
}

func (h *accountsHost) exec(_ context.Context, c modules.Command) (modules.Output, error) {
	name := filepath.Base(c.Argv[0])
	if name != "getent" {
		h.told = append(h.told, strings.Join(append([]string{name}, c.Argv[1:]...), " "))
		if name == h.fails {
			return modules.Output{Rc: 9, Stderr: []byte(name + ": no\n")}, nil
		}
		return modules.Output{}, nil
	}
	table := map[string]map[string]string{"passwd": h.passwd, "group": h.group}[c.Argv[1]]
	if len(c.Argv) == 2 {
		var all strings.Builder
		for _, line := range table {
			fmt.Fprintln(&all, line)
		}
		return modules.Output{Stdout: []byte(all.String())}, nil
	}
	line, ok := table[c.Argv[2]]
	if !ok {
		return modules.Output{Rc: 2}, nil
	}
	return modules.Output{Stdout: []byte(line + "\n")}, nil
}

func (h *accountsHost) env(t *testing.T) *modules.Env {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range []string{"useradd", "usermod", "userdel", "groupadd", "groupmod", "groupdel", "chage", "luseradd", "lgroupmod", "lgroupadd", "ssh-keygen"} {
		if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &modules.Env{Environ: []string{"PATH=" + dir}, Exec: h.exec, Warn: func(string, ...any) {}}
}

func newAccountsHost(t *testing.T) *accountsHost {
	return &accountsHost{
		passwd: map[string]string{"zoe": "zoe:x:1500:1600:Zoe:" + t.TempDir() + ":/bin/sh"},
		group: map[string]string{
			"staff": "staff:x:50:", "wheel": "wheel:x:10:zoe", "users": "users:x:100:", "1600": "zoe:x:1600:", "zoe": "zoe:x:1600:",
		},
	}
}

func TestAccountsRunTheToolsThatAreNeeded(t *testing.T) {
	for _, c := range []struct {
		module *modules.Module
		args   map[string]any
		told   string
	}{
		{Group, map[string]any{"name": "new", "gid": 70, "system": true}, "groupadd -g 70 -r new"},
		{Group, map[string]any{"name": "staff"}, ""},
		{Group, map[string]any{"name": "staff", "gid": 50}, ""},
		{Group, map[string]any{"name": "staff", "gid": 51}, "groupmod -g 51 staff"},
		{Group, map[string]any{"name": "staff", "gid": 51, "non_unique": true}, "groupmod -g 51 -o staff"},
		{Group, map[string]any{"name": "staff", "state": "absent"}, "groupdel staff"},
		{Group, map[string]any{"name": "staff", "state": "absent", "force": true}, "groupdel -f staff"},
		{Group, map[string]any{"name": "none", "state": "absent"}, ""},
		{Group, map[string]any{"name": "new", "gid_min": 700, "gid_max": 800, "system": true}, "groupadd -r -K GID_MIN=700 -K GID_MAX=800 new"},
		{Group, map[string]any{"name": "staff", "gid_min": 700}, ""},
		{User, map[string]any{"name": "zoe"}, ""},
		{User, map[string]any{"name": "zoe", "shell": "/bin/bash", "comment": "Zoe"}, "usermod -s /bin/bash zoe"},
		{User, map[string]any{"name": "zoe", "groups": "wheel"}, ""},
		{User, map[string]any{"name": "zoe", "groups": "staff,users"}, "usermod -G staff,users zoe"},
		{User, map[string]any{"name": "zoe", "groups": "staff", "append": true}, "usermod -a -G staff zoe"},
		{User, map[string]any{"name": "zoe", "groups": "wheel", "append": true}, ""},
		{User, map[string]any{"name": "zoe", "groups": ""}, "usermod -G  zoe"},
		{User, map[string]any{"name": "zoe", "password_expire_account_disable": 15}, "usermod -f 15 zoe"},
		{User, map[string]any{"name": "zoe", "uid_min": 3000}, ""},
		{User, map[string]any{"name": "zoe", "uid": 1500, "group": "users"}, "usermod -g 100 zoe"},
		{User, map[string]any{"name": "zoe", "state": "absent", "remove": true, "force": true}, "userdel -f -r zoe"},
		{User, map[string]any{"name": "none", "state": "absent"}, ""},
	} {
		h := newAccountsHost(t)
		r := c.module.Run(context.Background(), h.env(t), modtest.Args(c.args))
		if got := strings.Join(h.told, "; "); got != c.told || r.Failed || r.Changed != (c.told != "") {
			t.Errorf("%s %v ran %q, want %q: %+v", c.module.Name, c.args, got, c.told, r)
		}
		h = newAccountsHost(t)
		env := h.env(t)
		env.Check = true
		if r := c.module.Run(context.Background(), env, modtest.Args(c.args)); h.told != nil || r.Changed != (c.told != "") {
			t.Errorf("%s %v in check mode ran %q: %+v", c.module.Name, c.args, h.told, r)
		}
	}
}

func TestUseraddTakesEverything(t *testing.T) {
	h := newAccountsHost(t)
	h.fails = "useradd"
	r := User.Run(context.Background(), h.env(t), modtest.Args(map[string]any{
		"name": "amy", "uid": 2000, "non_unique": true, "group": "users", "groups": []any{"wheel", "staff"}, "comment": "Amy A", "home": "/srv/amy",
		"shell": "/bin/zsh", "expires": 86400.0 * 365, "password": "$6$salt$" + strings.Repeat("a", 86), "password_lock": true, "system": true,
		"skeleton": "/none", "umask": "0077", "password_expire_account_disable": 3, "uid_min": 1900, "uid_max": 2100,
	}))
	want := "useradd -u 2000 -o -g users -G staff,wheel -c Amy A -d /srv/amy -s /bin/zsh -e 1971-01-01 -f 3 -p !$6$salt$" + strings.Repeat("a", 86) +
		" -m -k /none -K UMASK=0077 -r -K UID_MIN=1900 -K UID_MAX=2100 amy"
	if len(h.told) != 1 || h.told[0] != want {
		t.Errorf("ran %q\nwant %q", h.told, want)
	}
	if !r.Failed || r.Msg != "useradd: no\n" || modtest.Entry(r, "rc") != int64(9) {
		t.Errorf("a useradd that fails gave %+v", r)
	}
}

func TestUserNamesWhatIsMissing(t *testing.T) {
	for want, args := range map[string]map[string]any{
		"Group ghosts does not exist":            {"name": "zoe", "groups": "ghosts"},
		"Group phantom does not exist":           {"name": "amy", "group": "phantom"},
		"'umask' can not be used with 'local'":   {"name": "amy", "umask": "022", "local": true},
		"'uid_max' can not be used with 'local'": {"name": "amy", "uid_max": 3, "local": true},
		"missing required arguments: name":       {"uid": 3},
	} {
		h := newAccountsHost(t)
		if r := User.Run(context.Background(), h.env(t), modtest.Args(args)); !r.Failed || r.Msg != want || h.told != nil {
			t.Errorf("%v gave %q after %q, want %q", args, r.Msg, h.told, want)
		}
	}
}

func TestGroupNamesWhatLibuserLacks(t *testing.T) {
	for want, args := range map[string]map[string]any{
		"force is not a valid option for local, force=True and local=True are mutually exclusive": {"name": "staff", "force": true, "local": true},
		"'gid_min' can not be used with 'local'":                                                  {"name": "new", "gid_min": 3, "local": true},
		"'gid_max' can not be used with 'local'":                                                  {"name": "new", "gid_max": 3, "local": true},
	} {
		h := newAccountsHost(t)
		if r := Group.Run(context.Background(), h.env(t), modtest.Args(args)); !r.Failed || r.Msg != want || h.told != nil {
			t.Errorf("%v gave %q after %q, want %q", args, r.Msg, h.told, want)
		}
	}
}

func TestLooksHashed(t *testing.T) {
	for password, want := range map[string]bool{
		"": true, "*": true, "!": true, "secret": false, "$6$s$" + strings.Repeat("x", 86): true, "$6$s$short": false,
		"$5$s$" + strings.Repeat("x", 43): true, "$1$s$" + strings.Repeat("x", 22): true, "$6$s$" + strings.Repeat("-", 86): false, "$y$j9T$abc$def": true,
		"!$6$s$" + strings.Repeat("x", 86): false,
	} {
		if looksHashed(password) != want {
			t.Errorf("looksHashed(%q) is %v", password, !want)
		}
	}
}

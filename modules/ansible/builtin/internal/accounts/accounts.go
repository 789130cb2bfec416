// Package accounts is what user and group know of the host's accounts. The system's own tools (useradd, usermod,
// groupadd and their local kin of libuser) do the work; lookups go through getent, so that directories count as well
// as files.
package accounts

import (
	"bufio"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// Database is what a module needs of the host's accounts.
type Database struct {
	Ctx context.Context
	Env *modules.Env
}

// Passwd is one line of the user database.
type Passwd struct {
	name, Password, Gecos, Home, Shell string
	UID, GID                           int
}

// groupEntry is one line of the group database.
type groupEntry struct {
	Name    string
	GID     int
	members []string
}

// entry asks getent for one line of a database; false if there is none.
func (d Database) entry(name, key string) ([]string, bool, error) {
	out, err := d.Env.Exec(d.Ctx, modules.Command{Argv: []string{"getent", name, key}})
	if err != nil || out.Rc != 0 {
		return nil, false, err
	}
	return strings.Split(strings.TrimRight(string(out.Stdout), "\n"), ":"), true, nil
}

// User looks a login name up; nil if there is none.
func (d Database) User(name string) (*Passwd, error) {
	f, ok, err := d.entry("passwd", name)
	// getent takes a number for a uid: the name must be the one that was asked for.
	if err != nil || !ok || len(f) < 7 || f[0] != name {
		return nil, err
	}
	p := &Passwd{name: f[0], Password: f[1], Gecos: f[4], Home: f[5], Shell: f[6]}
	p.UID, _ = strconv.Atoi(f[2])
	p.GID, _ = strconv.Atoi(f[3])
	return p, nil
}

// Group looks a group up by gid or name; nil if there is none.
func (d Database) Group(key string) (*groupEntry, error) {
	f, ok, err := d.entry("group", key)
	if err != nil || !ok {
		return nil, err
	}
	return parseGroup(f), nil
}

// GroupNamed looks a group up by its name only.
func (d Database) GroupNamed(name string) (*groupEntry, error) {
	g, err := d.Group(name)
	if g != nil && g.Name != name {
		return nil, err
	}
	return g, err
}

func parseGroup(f []string) *groupEntry {
	if len(f) < 4 {
		return nil
	}
	g := &groupEntry{Name: f[0]}
	g.GID, _ = strconv.Atoi(f[2])
	if f[3] != "" {
		g.members = strings.Split(f[3], ",")
	}
	return g
}

// Groups returns all groups of the host.
func (d Database) Groups() ([]*groupEntry, error) {
	out, err := d.Env.Exec(d.Ctx, modules.Command{Argv: []string{"getent", "group"}})
	var list []*groupEntry
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if g := parseGroup(strings.Split(line, ":")); g != nil {
			list = append(list, g)
		}
	}
	return list, err
}

// MemberOf returns the groups that name the user as a member.
func (d Database) MemberOf(user string) ([]string, error) {
	all, err := d.Groups()
	var names []string
	for _, g := range all {
		if slices.Contains(g.members, user) {
			names = append(names, g.Name)
		}
	}
	return names, err
}

// Shadow is what /etc/shadow says about a user: nil if it cannot be read or does not hold the user.
type Shadow struct {
	Password                          string
	Expires, Min, Max, Warn, Inactive int // days; -1 is none
}

// ShadowOf returns what the shadow file says of a user; nil if it says nothing or cannot be read.
func ShadowOf(user string) *Shadow {
	f, err := lineOf("/etc/shadow", user)
	if err != nil || len(f) < 8 {
		return nil
	}
	s := &Shadow{Password: f[1]}
	for _, n := range []struct {
		to   *int
		text string
	}{{&s.Min, f[3]}, {&s.Max, f[4]}, {&s.Warn, f[5]}, {&s.Inactive, f[6]}, {&s.Expires, f[7]}} {
		days, err := strconv.Atoi(n.text)
		if err != nil {
			days = -1
		}
		*n.to = days
	}
	return s
}

// lineOf finds the last line of an account file that is about name.
func lineOf(path, name string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var found []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); fields[0] == name {
			found = fields
		}
	}
	return found, nil
}

// Ran is what a tool left: nil means that none was needed.
type Ran struct {
	Rc             int
	Stdout, Stderr string
}

// Run runs an account tool. In check mode it only says that it would.
func (d Database) Run(argv ...string) (*Ran, error) {
	if d.Env.Check {
		return &Ran{}, nil
	}
	path, err := tool.Find(d.Env, argv[0])
	if err != nil {
		return nil, err
	}
	out, err := tool.Exec(d.Ctx, d.Env, modules.Command{Argv: append([]string{path}, argv[1:]...)})
	return &Ran{out.Rc, string(out.Stdout), string(out.Stderr)}, err
}

// RunAll runs tools one after the other until one fails; their output is joined.
func (d Database) RunAll(commands [][]string) (*Ran, error) {
	var all *Ran
	for _, argv := range commands {
		r, err := d.Run(argv...)
		if err != nil {
			return nil, err
		}
		if all != nil {
			r.Stdout, r.Stderr = all.Stdout+r.Stdout, all.Stderr+r.Stderr
		}
		if all = r; r.Rc != 0 {
			break
		}
	}
	return all, nil
}

// Outcome puts what the tools printed into a result; it is changed if a tool ran.
func (r *Ran) Outcome(data *value.Dict) (changed bool) {
	if r == nil {
		return false
	}
	if r.Stdout != "" {
		data.Put("stdout", r.Stdout)
	}
	if r.Stderr != "" {
		data.Put("stderr", r.Stderr)
	}
	return true
}

func (r *Ran) Failed() bool { return r != nil && r.Rc != 0 }

// InFile reports whether a local account file holds the name; it warns when not, since a directory may.
func InFile(env *modules.Env, path, name, warning string) (bool, error) {
	f, err := lineOf(path, name)
	if os.IsNotExist(err) {
		what := "account"
		if path == GroupFile {
			what = "group"
		}
		return false, &modules.Ended{Result: modules.Result{
			Failed: true, Msg: "'local: true' specified but unable to find local " + what + " file " + path + " to parse.",
		}}
	}
	if err == nil && f == nil {
		env.Warn("%s", warning)
	}
	return f != nil, err
}

const (
	PasswdFile = "/etc/passwd"
	GroupFile  = "/etc/group"
)

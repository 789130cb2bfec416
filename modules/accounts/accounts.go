// Package accounts holds the modules that make, change and remove users and groups. The system's own tools
// (useradd, usermod, groupadd and their local kin of libuser) do the work; lookups go through getent, so that directories
// count as well as files.
package accounts

import (
	"bufio"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/internal/tool"
)

// All are the modules of this family.
func All() []*modules.Module { return []*modules.Module{Group, User} }

// database is what a module needs of the host's accounts.
type database struct {
	ctx context.Context
	env *modules.Env
}

// passwd is one line of the user database.
type passwd struct {
	name, password, gecos, home, shell string
	uid, gid                           int
}

// groupEntry is one line of the group database.
type groupEntry struct {
	name    string
	gid     int
	members []string
}

// entry asks getent for one line of a database; false if there is none.
func (d database) entry(name, key string) ([]string, bool, error) {
	out, err := d.env.Exec(d.ctx, modules.Command{Argv: []string{"getent", name, key}})
	if err != nil || out.Rc != 0 {
		return nil, false, err
	}
	return strings.Split(strings.TrimRight(string(out.Stdout), "\n"), ":"), true, nil
}

// user looks a login name up; nil if there is none.
func (d database) user(name string) (*passwd, error) {
	f, ok, err := d.entry("passwd", name)
	// getent takes a number for a uid: the name must be the one that was asked for.
	if err != nil || !ok || len(f) < 7 || f[0] != name {
		return nil, err
	}
	p := &passwd{name: f[0], password: f[1], gecos: f[4], home: f[5], shell: f[6]}
	p.uid, _ = strconv.Atoi(f[2])
	p.gid, _ = strconv.Atoi(f[3])
	return p, nil
}

// group looks a group up by gid or name; nil if there is none.
func (d database) group(key string) (*groupEntry, error) {
	f, ok, err := d.entry("group", key)
	if err != nil || !ok {
		return nil, err
	}
	return parseGroup(f), nil
}

// groupNamed looks a group up by its name alone.
func (d database) groupNamed(name string) (*groupEntry, error) {
	g, err := d.group(name)
	if g != nil && g.name != name {
		return nil, err
	}
	return g, err
}

func parseGroup(f []string) *groupEntry {
	if len(f) < 4 {
		return nil
	}
	g := &groupEntry{name: f[0]}
	g.gid, _ = strconv.Atoi(f[2])
	if f[3] != "" {
		g.members = strings.Split(f[3], ",")
	}
	return g
}

// groups are all groups of the host.
func (d database) groups() ([]*groupEntry, error) {
	out, err := d.env.Exec(d.ctx, modules.Command{Argv: []string{"getent", "group"}})
	var list []*groupEntry
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if g := parseGroup(strings.Split(line, ":")); g != nil {
			list = append(list, g)
		}
	}
	return list, err
}

// memberOf are the groups that name the user as a member.
func (d database) memberOf(user string) ([]string, error) {
	all, err := d.groups()
	var names []string
	for _, g := range all {
		if slices.Contains(g.members, user) {
			names = append(names, g.name)
		}
	}
	return names, err
}

// shadow is what /etc/shadow tells of a user: nil if it cannot be read or does not hold the user.
type shadow struct {
	password                          string
	expires, min, max, warn, inactive int // days; -1 is none
}

func shadowOf(user string) *shadow {
	f, err := lineOf("/etc/shadow", user)
	if err != nil || len(f) < 8 {
		return nil
	}
	s := &shadow{password: f[1]}
	for _, n := range []struct {
		to   *int
		text string
	}{{&s.min, f[3]}, {&s.max, f[4]}, {&s.warn, f[5]}, {&s.inactive, f[6]}, {&s.expires, f[7]}} {
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

// ran is what a tool left: nil means that none was needed.
type ran struct {
	rc             int
	stdout, stderr string
}

// run runs an account tool. In check mode it only says that it would.
func (d database) run(argv ...string) (*ran, error) {
	if d.env.Check {
		return &ran{}, nil
	}
	path, err := tool.Find(d.env, argv[0])
	if err != nil {
		return nil, err
	}
	out, err := d.env.Exec(d.ctx, modules.Command{Argv: append([]string{path}, argv[1:]...)})
	return &ran{out.Rc, string(out.Stdout), string(out.Stderr)}, err
}

// runAll runs tools one after the other until one fails; their output is joined.
func (d database) runAll(commands [][]string) (*ran, error) {
	var all *ran
	for _, argv := range commands {
		r, err := d.run(argv...)
		if err != nil {
			return nil, err
		}
		if all != nil {
			r.stdout, r.stderr = all.stdout+r.stdout, all.stderr+r.stderr
		}
		if all = r; r.rc != 0 {
			break
		}
	}
	return all, nil
}

// outcome puts what the tools printed into a result; it is changed if a tool ran.
func (r *ran) outcome(data map[string]any) (changed bool) {
	if r == nil {
		return false
	}
	if r.stdout != "" {
		data["stdout"] = r.stdout
	}
	if r.stderr != "" {
		data["stderr"] = r.stderr
	}
	return true
}

func (r *ran) failed() bool { return r != nil && r.rc != 0 }

// inFile tells whether a local account file holds the name; it warns when not, since a directory may.
func inFile(env *modules.Env, path, name, warning string) (bool, error) {
	f, err := lineOf(path, name)
	if os.IsNotExist(err) {
		what := "account"
		if path == groupFile {
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
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
)

//go:build !darwin

package nss

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// system is a machine: where its files are, and how its directories are asked. The zero value is this one.
type system struct {
	// root is put before the paths of files.
	root string
	// getent runs the program, nil is the machine's own.
	getent func(ctx context.Context, words ...string) (out []byte, code int, err error)
	// limit is how long getent may take, 0 is patience.
	limit time.Duration

	mu     sync.Mutex
	people map[int]*User  // what directories said of ids, nil for none; guarded by mu
	groups map[int]*Group // likewise; guarded by mu
}

// machine is this one.
var machine = &system{}

// UserNamed returns the user of a name.
func UserNamed(name string) (*User, error) { return machine.userNamed(name) }

// UserOf returns the user of an id.
func UserOf(uid int) (*User, error) { return machine.userOf(uid) }

// GroupNamed returns the group of a name.
func GroupNamed(name string) (*Group, error) { return machine.groupNamed(name) }

// GroupOf returns the group of an id.
func GroupOf(gid int) (*Group, error) { return machine.groupOf(gid) }

// Groups returns the ids of all groups of the user, as initgroups finds them; the first is the user's own.
func (u *User) Groups() ([]int, error) { return machine.groupsOf(u) }

// Forget has directories asked again for ids. A process that does one thing after the other calls it between them.
func Forget() { machine.forget() }

func (s *system) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people, s.groups = nil, nil
}

func (s *system) userNamed(name string) (*User, error) {
	if !named(name) {
		return nil, ErrUnknown
	}
	u, all := find(s, "/etc/passwd", userOf, func(u *User) bool { return u.Name == name })
	if u != nil {
		return u, nil
	}
	if s.asksUserdb("passwd", all) {
		if u, err := s.userRecord(map[string]any{"userName": name}); err == nil && u.Name == name {
			return u, nil
		}
	}
	if _, isNumber := number(name); isNumber || !s.asks("passwd", all) {
		return nil, ErrUnknown // getent would take it for an id
	}
	return ask(s, "user "+name, "passwd", name, userOf)
}

func (s *system) userOf(uid int) (*User, error) {
	u, all := find(s, "/etc/passwd", userOf, func(u *User) bool { return u.UID == uid })
	if u != nil {
		return u, nil
	}
	if uid < 0 || !s.asks("passwd", all) {
		return nil, ErrUnknown
	}
	return remembered(s, &s.people, uid, func() (*User, error) {
		if s.asksUserdb("passwd", all) {
			if u, err := s.userRecord(map[string]any{"uid": uid}); err == nil && u.UID == uid {
				return u, nil
			}
		}
		id := strconv.Itoa(uid)
		return ask(s, "user "+id, "passwd", id, userOf)
	})
}

func (s *system) groupNamed(name string) (*Group, error) {
	if !named(name) {
		return nil, ErrUnknown
	}
	g, all := find(s, "/etc/group", groupOf, func(g *Group) bool { return g.Name == name })
	if g != nil {
		return g, nil
	}
	if s.asksUserdb("group", all) {
		if g, err := s.groupRecord(map[string]any{"groupName": name}); err == nil && g.Name == name {
			return g, nil
		}
	}
	if _, isNumber := number(name); isNumber || !s.asks("group", all) {
		return nil, ErrUnknown
	}
	return ask(s, "group "+name, "group", name, groupOf)
}

func (s *system) groupOf(gid int) (*Group, error) {
	g, all := find(s, "/etc/group", groupOf, func(g *Group) bool { return g.GID == gid })
	if g != nil {
		return g, nil
	}
	if gid < 0 || !s.asks("group", all) {
		return nil, ErrUnknown
	}
	return remembered(s, &s.groups, gid, func() (*Group, error) {
		if s.asksUserdb("group", all) {
			if g, err := s.groupRecord(map[string]any{"gid": gid}); err == nil && g.GID == gid {
				return g, nil
			}
		}
		id := strconv.Itoa(gid)
		return ask(s, "group "+id, "group", id, groupOf)
	})
}

func (s *system) groupsOf(u *User) ([]int, error) {
	ids := []int{u.GID}
	for _, line := range s.lines("/etc/group") {
		if g, ok := groupOf(line); ok && slices.Contains(g.Members, u.Name) {
			ids = append(ids, g.GID)
		}
	}
	db := "initgroups"
	if s.services(db) == nil {
		db = "group"
	}
	if s.asks(db, false) && named(u.Name) {
		out, code, err := s.run("groups of "+u.Name, "initgroups", u.Name)
		if err != nil && !errors.Is(err, exec.ErrNotFound) {
			return nil, err
		}
		if f := strings.Fields(string(out)); code == 0 && len(f) > 0 && f[0] == u.Name {
			for _, text := range f[1:] {
				if gid, ok := number(text); ok {
					ids = append(ids, gid)
				}
			}
		}
	}
	own := ids[0]
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return append([]int{own}, slices.DeleteFunc(ids, func(id int) bool { return id == own })...), nil
}

// find looks a record up in a file. all reports whether the file says that directories have more (compat).
func find[T any](s *system, path string, read func(string) (*T, bool), is func(*T) bool) (found *T, all bool) {
	for _, line := range s.lines(path) {
		if strings.HasPrefix(line, "+") {
			all = true
		}
		if r, ok := read(line); ok && is(r) {
			return r, all
		}
	}
	return nil, all
}

// ask has getent's answer.
func ask[T any](s *system, what, database, key string, read func(string) (*T, bool)) (*T, error) {
	out, _, err := s.run(what, database, key)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(string(out), "\n")
	r, ok := read(line)
	if !ok {
		return nil, ErrUnknown
	}
	return r, nil
}

// remembered returns what was said of an id since Forget, or what do finds now. What did not answer is not asked
// again.
func remembered[T any](s *system, kept *map[int]*T, id int, do func() (*T, error)) (*T, error) {
	s.mu.Lock()
	r, ok := (*kept)[id]
	s.mu.Unlock()
	if ok {
		if r == nil {
			return nil, ErrUnknown
		}
		return r, nil
	}
	r, err := do()
	s.mu.Lock()
	defer s.mu.Unlock()
	if *kept == nil {
		*kept = map[int]*T{}
	}
	(*kept)[id] = r
	return r, err
}

// lines returns those of a file, none of one that cannot be read.
func (s *system) lines(path string) []string {
	text, err := os.ReadFile(s.root + path)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}

// services returns the names that the switch has for a database, nil if it has none.
func (s *system) services(database string) []string {
	for _, path := range []string{"/etc/nsswitch.conf", "/usr/etc/nsswitch.conf"} {
		for _, line := range s.lines(path) {
			line, _, _ = strings.Cut(line, "#")
			name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
			if !ok || strings.TrimSpace(name) != database {
				continue
			}
			var names []string
			for i, part := range strings.Split(rest, "[") { // in brackets are actions, not sources
				if _, after, found := strings.Cut(part, "]"); found && i > 0 {
					part = after
				}
				names = append(names, strings.Fields(part)...)
			}
			return names
		}
	}
	return nil
}

// asks reports whether libc knows more of a database than its file says.
func (s *system) asks(database string, all bool) bool {
	for _, name := range s.services(database) {
		if name != "files" && (name != "compat" || all) {
			return true
		}
	}
	return false
}

// run runs getent. A program that is not there is exec.ErrNotFound.
func (s *system) run(what string, words ...string) (out []byte, code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), cmp.Or(s.limit, patience))
	defer cancel()
	do := s.getent
	if do == nil {
		do = runGetent
	}
	out, code, err = do(ctx, words...)
	if ctx.Err() != nil {
		return nil, 0, &silentError{what}
	}
	return out, code, err
}

// runGetent runs the machine's getent.
func runGetent(ctx context.Context, words ...string) (out []byte, code int, err error) {
	path, err := program("getent")
	if err != nil {
		return nil, 0, err
	}
	cmd := exec.CommandContext(ctx, path, words...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	var buf bytes.Buffer
	cmd.Stdout = &buf
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return buf.Bytes(), exit.ExitCode(), nil
	}
	return buf.Bytes(), 0, err
}

// program finds a program, also for a process without a PATH.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/bin", "/bin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

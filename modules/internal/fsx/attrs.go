package fsx

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/nss"
	"hark/modules/py/value"
)

// FileArgs are the arguments that every file module has; argument structs embed it, last.
type FileArgs struct {
	Mode         value.Value `arg:"mode" doc:"Permissions: octal text (0644) or symbolic (u=rw,g=r)."`
	Owner        *string     `arg:"owner" doc:"Name or id of the user to own it."`
	Group        *string     `arg:"group" doc:"Name or id of the group to own it."`
	SEUser       *string     `arg:"seuser" doc:"User part of the SELinux context; _default is the policy's."`
	SERole       *string     `arg:"serole" doc:"Role part of the SELinux context."`
	SELevel      *string     `arg:"selevel" doc:"Level part of the SELinux context."`
	SEType       *string     `arg:"setype" doc:"Type part of the SELinux context."`
	Attributes   *string     `arg:"attributes,alias=attr" doc:"Flags as chattr takes them; = by default."`
	UnsafeWrites bool        `arg:"unsafe_writes,default=no,env=ANSIBLE_UNSAFE_WRITES" doc:"Write in place where the file cannot be replaced whole."`
}

// Attrs are the attributes wanted of one path. Nil is whatever it has.
type Attrs struct {
	Path         string
	Mode         value.Value
	Owner, Group *string
	Context      [4]*string // user, role, type, level
	Attributes   *string
}

// Stage is Stage for a file that is to have the mode of the arguments, see Staged.Narrow.
func (a *FileArgs) Stage(dest string) (*Staged, error) {
	s, err := Stage(dest, a.UnsafeWrites)
	if err == nil {
		s.Narrow(a.Mode)
	}
	return s, err
}

// WriteFile replaces a file's content at once; it is at no time open to more than the mode of the arguments.
func (a *FileArgs) WriteFile(dest string, content []byte) error {
	s, err := a.Stage(dest)
	if err != nil {
		return err
	}
	return s.write(content, a.UnsafeWrites)
}

// For returns what the arguments want of path; with follow, of what a link points to.
func (a *FileArgs) For(path string, follow bool) Attrs {
	if follow && IsLink(path) {
		path = RealPath(path)
	}
	return Attrs{
		Path: path, Mode: a.Mode, Owner: a.Owner, Group: a.Group, Attributes: a.Attributes,
		Context: [4]*string{a.SEUser, a.SERole, a.SEType, a.SELevel},
	}
}

// Apply gives the path the wanted attributes; in check mode it only reports. What changes goes to diff.
// An error is an *Error with the path.
func (w Attrs) Apply(check bool, diff *Delta) (bool, error) {
	changed := false
	for _, step := range []func(bool, *Delta) (bool, error){w.applyContext, w.applyOwner, w.applyGroup, w.applyMode,
		w.applyFlags} {
		did, err := step(check, diff)
		if err != nil {
			return changed, err
		}
		changed = changed || did
	}
	return changed, nil
}

// absent reports whether check mode must pretend: the file would have been made.
func (w Attrs) absent(check bool) bool { return check && !Exists(w.Path) }

// owned is one half of a file's ownership, the user or the group.
type owned struct {
	key, verb, kind string
	name            *string
	resolve         func(string) (int, bool)
	have            func(*syscall.Stat_t) int
	give            func(path string, id int) error
	// silent leaves the reason of a failure out, as Ansible does for groups.
	silent bool
}

func (w Attrs) applyOwner(check bool, diff *Delta) (bool, error) {
	return w.applyOwned(check, diff, owned{
		key: "owner", verb: "chown", kind: "user", name: w.Owner, resolve: UserID,
		have: func(st *syscall.Stat_t) int { return int(st.Uid) },
		give: func(path string, id int) error { return hostfs.Lchown(path, id, -1) },
	})
}

func (w Attrs) applyGroup(check bool, diff *Delta) (bool, error) {
	return w.applyOwned(check, diff, owned{
		key: "group", verb: "chgrp", kind: "group", name: w.Group, resolve: GroupID, silent: true,
		have: func(st *syscall.Stat_t) int { return int(st.Gid) },
		give: func(path string, id int) error { return hostfs.Lchown(path, -1, id) },
	})
}

func (w Attrs) applyOwned(check bool, diff *Delta, o owned) (bool, error) {
	if o.name == nil {
		return false, nil
	}
	if w.absent(check) {
		return true, nil
	}
	st, err := lstat(w.Path)
	if err != nil {
		return false, Fail(w.Path, "%s", oserr.Bytes(err, w.Path))
	}
	id, ok := o.resolve(*o.name)
	if !ok {
		return false, Fail(w.Path, "%s failed: failed to look up %s %s", o.verb, o.kind, *o.name)
	}
	if o.have(st) == id {
		return false, nil
	}
	diff.Note(o.key, int64(o.have(st)), int64(id))
	if check {
		return true, nil
	}
	switch err := o.give(w.Path, id); {
	case err != nil && o.silent:
		return false, Fail(w.Path, "%s failed", o.verb)
	case err != nil:
		return false, Fail(w.Path, "%s failed: %s", o.verb, oserr.Bytes(err, w.Path))
	}
	return true, nil
}

func (w Attrs) applyMode(check bool, diff *Delta) (bool, error) {
	if w.Mode == nil {
		return false, nil
	}
	if w.absent(check) {
		return true, nil
	}
	st, err := lstat(w.Path)
	if err != nil {
		return false, Fail(w.Path, "%s", oserr.Bytes(err, w.Path))
	}
	kind, before := uint32(st.Mode)&syscall.S_IFMT, uint32(st.Mode)&PermBits // uint16 on Darwin
	mode, err := ParseMode(w.Mode, Current{Mode: before, Dir: kind == syscall.S_IFDIR, Umask: Umask})
	if err != nil {
		fail := Fail(w.Path, "mode must be in octal or symbolic form")
		fail.Data.Put("details", err.Error())
		return false, fail
	}
	if before == mode {
		return false, nil
	}
	diff.Note("mode", ModeText(before), "0"+octal(mode))
	if check {
		return true, nil
	}
	if kind == syscall.S_IFLNK {
		return false, nil // Linux has no modes of links
	}
	if err := hostfs.Chmod(w.Path, mode&PermBits); err != nil {
		return false, Fail(w.Path, "%s", oserr.Bytes(err, w.Path))
	}
	return before != mode&PermBits, nil
}

// octal is at least three digits.
func octal(mode uint32) string {
	text := strconv.FormatUint(uint64(mode), 8)
	for len(text) < 3 {
		text = "0" + text
	}
	return text
}

// UserID resolves a user name or number.
func UserID(name string) (int, bool) {
	return idOf(name, func(name string) (int, error) {
		u, err := nss.UserNamed(name)
		if err != nil {
			return 0, err
		}
		return u.UID, nil
	})
}

// GroupID resolves a group name or number.
func GroupID(name string) (int, bool) {
	return idOf(name, func(name string) (int, error) {
		g, err := nss.GroupNamed(name)
		if err != nil {
			return 0, err
		}
		return g.GID, nil
	})
}

// idOf returns a number as it is given, or else what the lookup finds.
func idOf(name string, lookup func(name string) (int, error)) (int, bool) {
	if n, err := strconv.Atoi(strings.TrimSpace(name)); err == nil {
		return n, true
	}
	id, err := lookup(name)
	return id, err == nil
}

// UserName returns the name of a user id, "" if there is none.
func UserName(uid uint32) string {
	u, err := nss.UserOf(int(uid))
	if err != nil {
		return ""
	}
	return u.Name
}

// GroupName returns the name of a group id, "" if there is none.
func GroupName(gid uint32) string {
	g, err := nss.GroupOf(int(gid))
	if err != nil {
		return ""
	}
	return g.Name
}

func lstat(path string) (*syscall.Stat_t, error) {
	var st syscall.Stat_t
	if err := hostfs.LstatT(path, &st); err != nil {
		return nil, err
	}
	return &st, nil
}

// Exists reports whether something is at path, links followed.
func Exists(path string) bool {
	_, err := hostfs.Stat(path)
	return err == nil
}

// IsLink reports whether path is a symbolic link.
func IsLink(path string) bool {
	info, err := hostfs.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// IsDir reports whether path is a directory, links followed.
func IsDir(path string) bool {
	info, err := hostfs.Stat(path)
	return err == nil && info.IsDir()
}

// IsFile reports whether path is a regular file, links followed.
func IsFile(path string) bool {
	info, err := hostfs.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// RealPath resolves all links that can be resolved, as Python's realpath does.
func RealPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := hostfs.EvalSymlinks(abs); err == nil {
		return real
	}
	// The last part may not exist, or be a link to nothing.
	for range 40 {
		dir, err := hostfs.EvalSymlinks(filepath.Dir(abs))
		if errors.Is(err, os.ErrNotExist) {
			dir = RealPath(filepath.Dir(abs))
		}
		abs = filepath.Join(dir, filepath.Base(abs))
		target, err := hostfs.Readlink(abs)
		if err != nil {
			return abs
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		abs = filepath.Clean(target)
	}
	return abs
}

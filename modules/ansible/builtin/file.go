package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// File makes, changes and removes files, directories and links.
var File = modules.Define("ansible.builtin.file", "Manage files and file properties.", runFile,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.With(func(m *modules.Module) {
		m.Examples = `- name: A directory that only its owner sees
  ansible.builtin.file: {path: /srv/app, state: directory, owner: app, mode: "0700"}
- name: A link
  ansible.builtin.file: {src: /srv/app-1.2, dest: /srv/current, state: link}
`
		m.Returns = []modules.Return{
			{Name: "path", Type: "str", When: "state is absent, directory or file", Doc: "The path."},
			{Name: "dest", Type: "str", When: "state is touch, hard or link", Doc: "The path."},
		}
	}))

type fileArgs struct {
	State            *string `arg:"state,choices=absent|directory|file|hard|link|touch" doc:"What to be; default: what it is, else file."`
	Path             string  `arg:"path,required,type=path,alias=dest|name" doc:"The path to manage."`
	OriginalBasename *string `arg:"_original_basename,hidden"`
	Recurse          bool    `arg:"recurse,default=no" doc:"Set the attributes of all that is in the directory too."`
	Force            bool    `arg:"force,default=no" doc:"Make links where the source does not exist, or in place of files."`
	Follow           bool    `arg:"follow,default=yes" doc:"Follow a link at the path."`
	DiffPeek         *bool   `arg:"_diff_peek,hidden"`
	Src              *string `arg:"src,type=path" doc:"What a link points to."`
	ModTime          *string `arg:"modification_time" doc:"Time to set: preserve, now or a time."`
	ModTimeFormat    string  `arg:"modification_time_format" default:"%Y%m%d%H%M.%S" doc:"Format of modification_time, for strptime."`
	AccessTime       *string `arg:"access_time" doc:"Time to set: preserve, now or a time."`
	AccessTimeFormat string  `arg:"access_time_format" default:"%Y%m%d%H%M.%S" doc:"Format of access_time, for strptime."`
	fsx.FileArgs
}

// fileWork is one run of the file module.
type fileWork struct {
	fileArgs
	check        bool
	tagged       bool
	state        string
	mtime, atime stamp
}

func runFile(_ context.Context, env *modules.Env, a fileArgs) (modules.Result, error) {
	res, err := makeFile(env, a)
	if env.Has(dialect.FileDiff) && !env.Diff && err == nil && !res.Failed {
		res.Diff = nil
		res.Data.Delete(value.Str("diff"))
	}
	return res, err
}

func makeFile(env *modules.Env, a fileArgs) (modules.Result, error) {
	w := &fileWork{fileArgs: a, check: env.Check, tagged: env.Has(dialect.ModuleMessages)}
	if err := w.resolvePath(); err != nil {
		return modules.Result{}, err
	}
	if w.check && w.state != "absent" {
		warnUnknownOwners(env, &w.FileArgs)
	}
	if w.DiffPeek != nil {
		return modules.Result{Data: value.DictOf("path", w.Path, "appears_binary", looksBinary(w.Path))}, nil
	}
	if w.state == "absent" {
		return w.ensureAbsent()
	}
	var err error
	if w.mtime, err = timeToSet(w.ModTime, w.ModTimeFormat, w.state); err != nil {
		return modules.Result{}, err
	}
	if w.atime, err = timeToSet(w.AccessTime, w.AccessTimeFormat, w.state); err != nil {
		return modules.Result{}, err
	}
	switch w.state {
	case "directory":
		return w.ensureDirectory()
	case "link":
		return w.ensureLink(env)
	case "hard":
		return w.ensureHard()
	case "touch":
		return w.touch()
	}
	return w.ensureFile()
}

// resolvePath finds the path and the state that are meant.
func (w *fileWork) resolvePath() error {
	state := modules.Text(w.State)
	if state != "link" && state != "absent" && fsx.IsDir(w.Path) {
		base := modules.Text(w.OriginalBasename)
		if base == "" && modules.Text(w.Src) != "" {
			base = filepath.Base(*w.Src)
		}
		if base != "" {
			w.Path = filepath.Join(w.Path, base)
		}
	}
	if state == "" {
		state = fsx.State(w.Path)
		if state == "absent" {
			state = "file"
			if w.Recurse {
				state = "directory"
			}
		}
	}
	w.state = state
	if w.Recurse && state != "directory" {
		return fsx.Failed("recurse option requires state to be 'directory'", "path", w.Path)
	}
	if modules.Text(w.Src) != "" && state != "link" && state != "hard" {
		return fsx.Failed("src option requires state to be 'link' or 'hard'", "path", w.Path)
	}
	return nil
}

// warnUnknownOwners: in check mode a user that an earlier task would have made is no failure.
func warnUnknownOwners(env *modules.Env, a *fsx.FileArgs) {
	if name := modules.Text(a.Owner); name != "" {
		if n, err := strconv.Atoi(name); err == nil {
			if fsx.UserName(uint32(n)) == "" {
				env.Warn("failed to look up user with uid %d. Create user up to this point in real play", n)
			}
		} else if _, ok := fsx.UserID(name); !ok {
			env.Warn("failed to look up user %s. Create user up to this point in real play", name)
		}
	}
	if name := modules.Text(a.Group); name != "" {
		if n, err := strconv.Atoi(name); err == nil {
			if fsx.GroupName(uint32(n)) == "" {
				env.Warn("failed to look up group with gid %d. Create group up to this point in real play", n)
			}
		} else if _, ok := fsx.GroupID(name); !ok {
			env.Warn("failed to look up group %s. Create group up to this point in real play", name)
		}
	}
}

// newDelta begins the diff with the change of state.
func newDelta(path, state, before string) *fsx.Delta {
	d := fsx.NewDelta(path)
	if before == state {
		return d
	}
	d.Note("state", before, state)
	if state == "absent" && before == "directory" {
		dirs, files := []any{}, []any{}
		_ = hostfs.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
			switch {
			case p == path:
			case err == nil && e.IsDir():
				dirs = append(dirs, p)
			case err == nil:
				files = append(files, p)
			}
			return nil
		})
		d.Before.Put("path_content", value.DictOf("directories", dirs, "files", files))
	}
	return d
}

// outcome returns the result of a state, with its diff.
func outcome(key, path string, changed bool, d *fsx.Delta) modules.Result {
	return modules.Result{Changed: changed, Data: value.DictOf(key, path, "changed", modules.Here, "diff", modules.Here),
		Diff: []modules.Diff{{Raw: d.Map()}}}
}

func (w *fileWork) ensureAbsent() (modules.Result, error) {
	before := fsx.State(w.Path)
	if before == "absent" {
		return modules.Result{Data: value.DictOf("path", w.Path, "changed", modules.Here, "state", "absent")}, nil
	}
	d := newDelta(w.Path, "absent", before)
	if !w.check {
		if before == "directory" {
			if err := hostfs.RemoveAll(w.Path); err != nil {
				return modules.Result{}, fsx.Failed("rmtree failed: " + oserr.Bytes(err, pathOf(err, w.Path)))
			}
		} else if err := hostfs.Remove(w.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return modules.Result{}, fsx.Failed("unlinking failed: "+oserr.Bytes(err, w.Path)+" ", "path", w.Path)
		}
	}
	res := outcome("path", w.Path, true, d)
	res.Data.Put("state", "absent")
	return res, nil
}

func pathOf(err error, path string) string {
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Path != "" {
		return pe.Path
	}
	return path
}

// dress sets attributes and times of what is there now.
func (w *fileWork) dress(attrs fsx.Attrs, d *fsx.Delta) (bool, error) {
	changed, err := attrs.Apply(w.check, d)
	if err != nil {
		return changed, err
	}
	stamped, err := setTimes(attrs.Path, w.mtime, w.atime, w.check, d)
	return changed || stamped, err
}

func (w *fileWork) ensureFile() (modules.Result, error) {
	path, before := w.Path, fsx.State(w.Path)
	if before == "link" && w.Follow {
		path = fsx.RealPath(path)
		before = fsx.State(path)
	}
	if before != "file" && before != "hard" {
		return modules.Result{}, fsx.Failed(fmt.Sprintf("file (%s) is %s, cannot continue", path, before), "path", path,
			"state", before)
	}
	d := newDelta(path, "file", before)
	changed, err := w.dress(w.For(path, w.Follow), d)
	return outcome("path", path, changed, d), err
}

func (w *fileWork) touch() (modules.Result, error) {
	before := fsx.State(w.Path)
	if before == "absent" {
		if w.check {
			return modules.Result{Changed: true, Data: value.DictOf("dest", w.Path, "changed", modules.Here)}, nil
		}
		f, err := hostfs.OpenFile(w.Path, os.O_WRONLY|os.O_CREATE, 0o666) // what somebody else has just made stays as it is
		if err != nil {
			why := oserr.Bytes(err, w.Path)
			if w.tagged {
				return modules.Because(why, "Error, could not touch target.", value.DictOf("path", w.Path)), nil
			}
			return modules.Result{}, fsx.Failed("Error, could not touch target: "+why, "path", w.Path)
		}
		f.Close()
	}
	d := newDelta(w.Path, "touch", before)
	changed, err := w.dress(w.For(w.Path, w.Follow), d)
	var fail *fsx.Error
	if errors.As(err, &fail) && before == "absent" {
		fsx.AddInfo(fail.Data)
		_ = hostfs.Remove(w.Path)
	}
	return outcome("dest", w.Path, changed || before == "absent", d), err
}

func (w *fileWork) ensureDirectory() (modules.Result, error) {
	path, before := w.Path, fsx.State(w.Path)
	attrs := w.For(path, w.Follow)
	if before == "link" && w.Follow {
		path = fsx.RealPath(path)
		attrs.Path, before = path, fsx.State(path)
	}
	d := newDelta(path, "directory", before)
	switch before {
	case "absent":
		if w.check {
			return outcome("path", path, true, d), nil
		}
		changed, err := w.makeDirs(path, attrs, d)
		return outcome("path", path, changed, d), err
	case "directory":
	default:
		return modules.Result{}, fsx.Failed(fmt.Sprintf("%s already exists as a %s", path, before), "path", path)
	}
	changed, err := w.dress(attrs, d)
	if err == nil && w.Recurse {
		var below bool
		below, err = w.recurse(path, attrs, map[string]bool{})
		changed = changed || below
	}
	return outcome("path", path, changed, d), err
}

// makeDirs makes a directory and those above it; all that it makes get the attributes.
func (w *fileWork) makeDirs(path string, attrs fsx.Attrs, d *fsx.Delta) (bool, error) {
	changed := false
	at := ""
	if filepath.IsAbs(path) {
		at = "/"
	}
	for _, name := range strings.Split(strings.Trim(path, "/"), "/") {
		at = filepath.Join(at, name)
		if fsx.Exists(at) || hostfs.Above(at) {
			continue
		}
		if err := hostfs.Mkdir(at, 0o777); err != nil && !(errors.Is(err, os.ErrExist) && fsx.IsDir(at)) {
			return changed, fsx.Failed(fmt.Sprintf("There was an issue creating %s as requested: %s", at, oserr.Bytes(err, at)),
				"path", path)
		}
		changed = true
		own := attrs
		own.Path = at
		if _, err := w.dress(own, d); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// recurse sets the attributes of all under a directory and, following, of what links there lead to.
func (w *fileWork) recurse(root string, attrs fsx.Attrs, seen map[string]bool) (bool, error) {
	seen[root] = true
	changed := false
	one := func(path string) error {
		own := attrs
		own.Path = path
		did, err := w.dress(own, nil)
		changed = changed || did
		return err
	}
	err := hostfs.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return fsx.Fail(path, "%s", oserr.Bytes(err, path))
		}
		if path == root {
			return nil
		}
		if err := one(path); err != nil || e.Type()&fs.ModeSymlink == 0 || !w.Follow {
			return err
		}
		target, err := hostfs.EvalSymlinks(path)
		if err != nil {
			return nil // leads nowhere
		}
		if fsx.IsDir(target) && !seen[target] {
			below, err := w.recurse(target, attrs, seen)
			changed = changed || below
			if err != nil {
				return err
			}
		}
		return one(target)
	})
	return changed, err
}

// sameFile reports whether two paths are one inode.
func sameFile(a, b string) bool {
	var x, y syscall.Stat_t
	return hostfs.StatT(a, &x) == nil && hostfs.StatT(b, &y) == nil && x.Ino == y.Ino && x.Dev == y.Dev
}

// looksBinary reports whether there is a NUL near the start of a file.
func looksBinary(path string) bool {
	f, err := hostfs.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8192)
	n, _ := f.Read(head)
	return strings.IndexByte(string(head[:n]), 0) >= 0
}

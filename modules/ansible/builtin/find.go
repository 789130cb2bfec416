package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/editing"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/fnmatch"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
)

// Find lists files that fit.
var Find = modules.Define("ansible.builtin.find", "Return a list of files based on specific criteria.", runFind,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.With(func(m *modules.Module) {
		m.Settle = allNames
		m.Examples = `- ansible.builtin.find: {paths: /tmp, age: 2d, recurse: true}
- ansible.builtin.find: {paths: [/var/log], patterns: "*.old,*.log.gz", size: 10m}
  register: old
`
		m.Returns = []modules.Return{
			{Name: "files", Type: "list", When: "success", Doc: "Path and status of each."},
			{Name: "matched", Type: "int", When: "success", Doc: "How many these are."},
			{Name: "examined", Type: "int", When: "success", Doc: "How many were looked at."},
			{Name: "skipped_paths", Type: "dict", When: "success", Doc: "Why a path could not be looked at."},
		}
	}), modules.From(dialect.ModuleOptions219, func(s *modules.Spec) { s.Param("paths").Elements = "path" }),
	modules.Is(modules.OnlyLooks))

type findArgs struct {
	Paths     []string    `arg:"paths,required,alias=name|path" doc:"The directories."`
	Patterns  []string    `arg:"patterns,default=,alias=pattern" doc:"Names must fit one of these: shell patterns, or expressions with use_regex."`
	Excludes  []string    `arg:"excludes,alias=exclude" doc:"Names must fit none of these."`
	Contains  *string     `arg:"contains" doc:"Expression that a line of the file must begin with."`
	Whole     bool        `arg:"read_whole_file,default=no" doc:"Search contains in the whole file instead."`
	FileType  string      `arg:"file_type,default=file,choices=any|directory|file|link" doc:"What to list."`
	Age       *string     `arg:"age" doc:"At least this old, with -N at most: 30, 2h, 4w."`
	AgeStamp  string      `arg:"age_stamp,default=mtime,choices=atime|ctime|mtime" doc:"The time that counts."`
	Size      *string     `arg:"size" doc:"At least this large, with -N at most: 100, 10k, 1g."`
	Recurse   bool        `arg:"recurse,default=no" doc:"Enter the directories found."`
	Hidden    bool        `arg:"hidden,default=no" doc:"List names that begin with a dot too."`
	Follow    bool        `arg:"follow,default=no" doc:"Follow links to directories."`
	Checksum  bool        `arg:"get_checksum,default=no" doc:"Return the checksum of files."`
	Algorithm string      `arg:"checksum_algorithm,since=2.19,default=sha1,alias=checksum|checksum_algo,choices=md5|sha1|sha224|sha256|sha384|sha512" doc:"How to compute it."`
	UseRegex  bool        `arg:"use_regex,default=no" doc:"patterns and excludes are expressions."`
	Depth     *int        `arg:"depth" doc:"How many levels to enter."`
	Mode      value.Value `arg:"mode,since=2.16" doc:"The mode must be this."`
	ExactMode bool        `arg:"exact_mode,since=2.16,default=yes" doc:"With no, one of these bits is enough."`
	Limit     *int        `arg:"limit,since=2.18" doc:"Stop after so many."`
	Encoding  *string     `arg:"encoding,since=2.17" doc:"Encoding of the files that contains is searched in. Without it, files that are not UTF-8 contain nothing."`
}

// allNames is what no pattern means, in Ansible's words.
func allNames(params *value.Dict) {
	if patterns, ok := modules.Argument(params, "patterns").(*value.List); !ok || len(patterns.Items) > 0 {
		return
	}
	all := "*"
	if params.True("use_regex") {
		all = ".*"
	}
	params.Put("patterns", []string{all})
}

// finder is one run of find.
type finder struct {
	findArgs
	env      *modules.Env
	now      float64
	age      *int64
	size     *int64
	names    []func(string) bool
	not      []func(string) bool
	contains *pyre.Regexp
	// uncontained is why contains is no expression: the first file that would be searched ends the walk of its path.
	uncontained error
	unfit       error // of an expression for names; it ends the walk of each path that has something to compare

	files    []any
	examined int
	skipped  *value.Dict
	warned   bool // of what was skipped
}

func runFind(ctx context.Context, env *modules.Env, a findArgs) (modules.Result, error) {
	f := &finder{findArgs: a, env: env, now: float64(time.Now().UnixNano()) / 1e9, files: []any{},
		skipped: value.NewDict()}
	if err := f.prepare(); err != nil {
		return modules.Result{}, err
	}
	for _, path := range a.Paths {
		if f.full() {
			break
		}
		if ctx.Err() != nil {
			return modules.Result{}, ctx.Err()
		}
		path = modules.ExpandWords([]string{path}, env)[0]
		why := fmt.Sprintf("'%s' is not a directory", path)
		if fsx.IsDir(path) {
			why = ""
			if err := f.walk(ctx, path, path); err != nil {
				why = err.Error()
			}
		}
		if why != "" {
			f.warned = true
			f.skipped.Put(path, why)
			env.Warn("Skipped '%s' path due to this access issue: %s\n", path, why)
		}
	}
	msg := "All paths examined"
	if f.warned {
		msg = "Not all paths examined, check warnings for details"
	} else if f.full() {
		msg = "Limit of matches reached"
	}
	return modules.Result{Msg: msg, Data: value.DictOf(
		"files", f.files, "changed", modules.Here, "msg", modules.Here, "matched", int64(len(f.files)), "examined",
		int64(f.examined), "skipped_paths", f.skipped,
	)}, nil
}

func (f *finder) prepare() error {
	var err error
	if f.age, err = measure(f.Age, "age",
		map[string]int64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}); err != nil {
		return err
	}
	if f.size, err = measure(f.Size, "size",
		map[string]int64{"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}); err != nil {
		return err
	}
	if len(f.Patterns) == 0 {
		f.Patterns = []string{"*"}
		if f.UseRegex {
			f.Patterns = []string{".*"}
		}
	}
	if f.Limit != nil && *f.Limit <= 0 {
		return fsx.Failed(fmt.Sprintf("limit cannot be %d (use None for unlimited)", *f.Limit))
	}
	if f.Mode != nil {
		if !value.IsText(f.Mode) {
			return fsx.Failed("argument 'mode' is not a string and conversion is not allowed, value is of type " +
				modules.ClassName(f.Mode))
		}
		if _, err = fsx.ParseMode(f.Mode, fsx.Current{}); err != nil {
			return err
		}
	}
	if f.names, f.unfit = f.nameTests(f.Patterns); f.unfit == nil {
		f.not, f.unfit = f.nameTests(f.Excludes)
	}
	if f.Contains != nil {
		anchor := pyre.AtStart
		if f.Whole {
			anchor = pyre.Anywhere
		}
		f.contains, f.uncontained = pyre.Compile(*f.Contains, pyre.Options{Anchor: anchor, Limit: editing.ExpressionLimit})
	}
	return nil
}

var measurePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(-?\d+)([a-z])?$`) })

// measure reads a number with a unit, nil if none was given.
func measure(arg *string, name string, units map[string]int64) (*int64, error) {
	if arg == nil {
		return nil, nil
	}
	m := measurePattern().FindStringSubmatch(strings.ToLower(*arg))
	if m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if unit, ok := units[m[2]]; ok && err == nil {
			n *= unit
			return &n, nil
		}
	}
	return nil, fsx.Failed("failed to process "+name, name, *arg)
}

func (f *finder) nameTests(patterns []string) ([]func(string) bool, error) {
	var tests []func(string) bool
	for _, p := range patterns {
		if !f.UseRegex {
			tests = append(tests, func(name string) bool { return fnmatch.Match(p, name) })
			continue
		}
		re, err := pyre.Compile(p, pyre.Options{Anchor: pyre.AtStart, Limit: editing.ExpressionLimit})
		if err != nil {
			return nil, err
		}
		tests = append(tests, func(name string) bool {
			ok, err := re.Matches(name)
			return err == nil && ok
		})
	}
	return tests, nil
}

func fits(tests []func(string) bool, name string) bool {
	for _, test := range tests {
		if test(name) {
			return true
		}
	}
	return false
}

// walk lists a directory in its own order: what is no directory first, then directories, then what is in them.
func (f *finder) walk(ctx context.Context, root, dir string) error {
	entries, err := hostfs.List(dir)
	switch closed := errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist); {
	case closed && f.env.Has(dialect.FindGoesOn):
		f.skipped.Put(dir, oserr.Path(err, dir))
		return nil
	case err != nil:
		return fsx.Failed(oserr.Path(err, dir))
	}
	var dirs, all []string
	for _, e := range entries {
		if isDirEntry(dir, e) {
			dirs = append(dirs, e.Name())
		} else {
			all = append(all, e.Name())
		}
	}
	f.examined += len(entries)
	enter := f.Recurse
	for _, name := range append(all, dirs...) {
		path := filepath.Join(dir, name)
		if f.Depth != nil && *f.Depth > 0 && f.depth(root, path) > *f.Depth {
			enter = false
			continue
		}
		if err := f.look(path, name); err != nil || f.full() {
			return err
		}
	}
	if !enter {
		return nil
	}
	for _, name := range dirs {
		path := strings.TrimSuffix(dir, "/") + "/" + name // as it is told where it cannot be entered
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !f.Follow && fsx.IsLink(path) {
			continue
		}
		if err := f.walk(ctx, root, path); err != nil || f.full() {
			return err
		}
	}
	return nil
}

// full reports whether no more are wanted.
func (f *finder) full() bool { return f.Limit != nil && len(f.files) >= *f.Limit }

func isDirEntry(dir string, e fs.DirEntry) bool {
	return e.IsDir() || e.Type()&fs.ModeSymlink != 0 && fsx.IsDir(filepath.Join(dir, e.Name()))
}

func (f *finder) depth(root, path string) int {
	return strings.Count(path, "/") - strings.Count(strings.TrimRight(root, "/")+"/", "/") + 1
}

// look adds an entry if it fits.
func (f *finder) look(path, name string) error {
	if strings.HasPrefix(name, ".") && !f.Hidden {
		return nil
	}
	st, err := fsx.Stat(path, false)
	if err != nil {
		why := oserr.Path(err, path)
		f.env.Warn("Skipped entry '%s' due to this access issue: %s\n", path, why)
		f.warned = true
		f.skipped.Put(path, why)
		return nil
	}
	kind := st.Mode & syscall.S_IFMT
	regular := kind == syscall.S_IFREG
	wanted := map[string]bool{
		"any": true, "directory": kind == syscall.S_IFDIR, "file": regular, "link": kind == syscall.S_IFLNK,
	}[f.FileType]
	if wanted && f.unfit != nil {
		return f.unfit
	}
	if !wanted || !fits(f.names, name) || fits(f.not, name) || !f.oldEnough(st) || !f.modeFits(st) ||
		regular && !f.largeEnough(st) {
		return nil
	}
	if f.FileType == "file" {
		if ok, err := f.hasContent(path); err != nil || !ok {
			return err
		}
	}
	entry := fields(path, st, f.env.Release.Has(dialect.DiskUsage))
	if regular && f.Checksum {
		if sum, err := fsx.Sum(path, cmp.Or(f.Algorithm, "sha1")); err == nil {
			entry.Put("checksum", sum)
		}
	}
	f.files = append(f.files, entry)
	return nil
}

// fields returns what the result says about a path; usage returns how much disk it uses.
func fields(path string, st *syscall.Stat_t, usage bool) *value.Dict {
	m := value.NewDict()
	statFields(path, st).Each(func(k, v value.Value) bool {
		switch name, _ := value.Text(k); name {
		case "blocks":
			if !usage {
				return true
			}
			m.Put("disk_usage_bytes", st.Blocks*512)
		case "exists", "block_size", "device_type":
			return true
		case "wusr":
			m.Put("gr_name", fsx.GroupName(st.Gid))
			m.Put("pw_name", fsx.UserName(st.Uid))
		}
		return m.SetKey(k, v)
	})
	return m
}

func (f *finder) oldEnough(st *syscall.Stat_t) bool {
	if f.age == nil {
		return true
	}
	access, modification, change := fsx.Times(st)
	stamp := map[string]syscall.Timespec{"atime": access, "ctime": change, "mtime": modification}[f.AgeStamp]
	age := f.now - fsx.Seconds(stamp)
	if *f.age >= 0 {
		return age >= float64(*f.age)
	}
	return age <= float64(-*f.age)
}

func (f *finder) largeEnough(st *syscall.Stat_t) bool {
	switch {
	case f.size == nil:
		return true
	case *f.size >= 0:
		return st.Size >= *f.size
	}
	return st.Size <= -*f.size
}

func (f *finder) modeFits(st *syscall.Stat_t) bool {
	if f.Mode == nil {
		return true
	}
	now := fsx.Current{Dir: st.Mode&syscall.S_IFMT == syscall.S_IFDIR}
	want, err := fsx.ParseMode(f.Mode, now)
	if err != nil {
		return false
	}
	if f.ExactMode {
		return uint32(st.Mode)&fsx.PermBits == want
	}
	return uint32(st.Mode)&want != 0
}

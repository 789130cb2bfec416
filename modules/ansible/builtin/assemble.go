package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/editing"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
)

// Assemble makes one file of the fragments in a directory.
var Assemble = modules.Define("ansible.builtin.assemble", "Assemble configuration files from fragments.", runAssemble,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath), modules.Is(modules.ReadsFragments),
	modules.From(dialect.ModuleOptions219, func(s *modules.Spec) {
		s.Param("decrypt").Type, s.Param("decrypt").Default = "bool", value.Bool(true)
	}),
	modules.Edits("dest"),
	modules.WithResolve(resolveAssemble),
	modules.With(func(m *modules.Module) {
		m.ReportsAs = "ansible.legacy.assemble"
		m.Examples = "- ansible.builtin.assemble: {src: /etc/someapp/fragments, dest: /etc/someapp/someapp.conf, " +
			"delimiter: '### START FRAGMENT ###'}\n"
		m.Returns = copyReturns()
	}), modules.Programs("validate"))

type assembleArgs struct {
	Src          string  `arg:"src,required,type=path" doc:"The directory of fragments."`
	Delimiter    *string `arg:"delimiter" doc:"Text between fragments; \\n and its like are understood."`
	Dest         string  `arg:"dest,required,type=path" doc:"The file to make."`
	Backup       bool    `arg:"backup,default=no" doc:"Keep what was there under another name."`
	RemoteSrc    bool    `arg:"remote_src,default=yes" doc:"src is on the host; no: on the controller."`
	Regexp       *string `arg:"regexp" doc:"Only fragments whose names match."`
	IgnoreHidden bool    `arg:"ignore_hidden,default=no" doc:"Leave out names that begin with a dot."`
	Validate     *string `arg:"validate" doc:"Command that must succeed before the file takes its place; %s is the new file."`
	fsx.FileArgs
	Decrypt value.Value `arg:"decrypt,since=2.15" doc:"Decrypt vault files of the controller; default yes."`
	Follow  value.Value `arg:"follow,hidden"`
	Source  *sourceArgs `arg:"hark_source,hidden"`
}

// fragmentRules say which fragments count and what is between them.
type fragmentRules struct {
	re        *pyre.Regexp
	hidden    bool // counts hidden ones
	delimiter string
}

func newFragmentRules(expr, delimiter *string, ignoreHidden bool) (*fragmentRules, error) {
	r := &fragmentRules{hidden: !ignoreHidden}
	if expr != nil {
		re, err := pyre.Compile(*expr, pyre.Options{})
		if err != nil {
			return nil, fsx.Failed(fmt.Sprintf("Invalid Regexp (%v) in \"%s\"", err, *expr))
		}
		r.re = re
	}
	if modules.Text(delimiter) != "" {
		r.delimiter = unescape(*delimiter)
		if !strings.HasSuffix(r.delimiter, "\n") {
			r.delimiter += "\n"
		}
	}
	return r, nil
}

// join puts the fragments together in the order of their names; a fragment ends its last line.
func (r *fragmentRules) join(names []string, read func(name string) (string, error)) (string, error) {
	sort.Strings(names)
	var b strings.Builder
	first, ended := true, true
	for _, name := range names {
		if !r.hidden && strings.HasPrefix(name, ".") {
			continue
		}
		if r.re != nil {
			if ok, err := r.re.Matches(name); err != nil {
				return "", err
			} else if !ok {
				continue
			}
		}
		content, err := read(name)
		if err != nil {
			return "", err
		}
		if !first {
			if !ended {
				b.WriteByte('\n')
			}
			b.WriteString(r.delimiter)
		}
		b.WriteString(content)
		first, ended = false, strings.HasSuffix(content, "\n")
	}
	return b.String(), nil
}

// unescape reads the escapes of a text as Python's do.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		char, used := escaped(s[i+1:])
		b.WriteString(char)
		i += used
	}
	return b.String()
}

// escaped reads what stands behind a backslash, and says how many bytes that is.
func escaped(s string) (char string, used int) {
	if at := strings.IndexByte(`\'"abfnrtv`, s[0]); at >= 0 {
		return "\\'\"\a\b\f\n\r\t\v"[at : at+1], 1
	}
	if s[0] == 'x' && len(s) > 2 {
		if n, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			return string([]byte{byte(n)}), 3
		}
	}
	for n := min(3, len(s)); n > 0; n-- {
		if c, err := strconv.ParseUint(s[:n], 8, 16); err == nil {
			return string([]byte{byte(c)}), n
		}
	}
	return `\` + s[:1], 1
}

// resolveAssemble puts fragments of the controller together.
func resolveAssemble(ctx context.Context, env *modules.Env, args *value.Dict) error {
	if env.Check {
		return &modules.Ended{Result: modules.Result{Skipped: true, Msg: "check mode is not supported for this task."}}
	}
	if !modules.IsGiven(args, "src") || !modules.IsGiven(args, "dest") {
		return actionFail("src and dest are required")
	}
	if modules.LenientBool(modules.Argument(args, "remote_src"), true) {
		return nil
	}
	found, err := env.Source(ctx, "files", modules.Str(modules.Argument(args, "src")),
		modules.LenientBool(modules.Argument(args, "decrypt"), true))
	if err != nil {
		return notFound(err)
	}
	if !found.Dir {
		return actionFail(fmt.Sprintf("Source (%s) is not a directory", found.Path))
	}
	rules, err := newFragmentRules(textArg(modules.Argument(args, "regexp")), textArg(modules.Argument(args, "delimiter")),
		modules.LenientBool(modules.Argument(args, "ignore_hidden"), false))
	if err != nil {
		return err
	}
	blobs := map[string]string{}
	var names []string
	for _, e := range found.Entries {
		if !strings.Contains(e.Rel, "/") && e.Digest != "" {
			blobs[e.Rel] = e.Digest
			names = append(names, e.Rel)
		}
	}
	out, err := rules.join(names, func(name string) (string, error) { return readBlob(ctx, env, blobs[name]) })
	if err != nil {
		return err
	}
	src, err := textSource(env, found, out, "utf-8")
	if err != nil {
		return err
	}
	src.Put("label", localTemp(env, ""))
	args.Put("hark_source", src)
	return nil
}

func textArg(v value.Value) *string {
	if value.IsNone(v) {
		return nil
	}
	s := modules.Str(v)
	return &s
}

func runAssemble(ctx context.Context, env *modules.Env, a assembleArgs) (modules.Result, error) {
	if a.Source != nil {
		c := &copyWork{env: env, copyArgs: copyArgs{
			Dest: a.Dest, Backup: a.Backup, Force: true, Validate: a.Validate, Follow: modules.LenientBool(a.Follow, false),
			FileArgs: a.FileArgs, Source: a.Source,
		}}
		return c.assembled(ctx)
	}
	return a.remote(ctx, env)
}

// assembled copies the joined text as the copy module does, whether it differs or not.
func (c *copyWork) assembled(ctx context.Context) (modules.Result, error) {
	it := c.item(filepath.Base(c.Source.Path))
	var diff *value.Dict
	var err error
	if c.env.Diff {
		if diff, err = it.diff(ctx, c.Dest); err != nil {
			return modules.Result{}, err
		}
	}
	same, there := it.same(c.Dest)
	var res *modules.Result
	if same && !fsx.IsLink(c.Dest) {
		res, err = c.kept(it, there)
	} else {
		res, err = c.place(ctx, it, c.Dest, c.Follow, c.Mode)
	}
	if err != nil {
		return modules.Result{}, err
	}
	if diff != nil {
		res.Set("diff", diff)
	}
	return *res, nil
}

// kept sets the attributes of a file that has the content already.
func (c *copyWork) kept(it *copyItem, there fsx.Sums) (*modules.Result, error) {
	dest := withDir(c.Dest)
	did, err := c.For(dest, c.Follow).Apply(c.env.Check, nil)
	return &modules.Result{Changed: did,
		Data: value.DictOf("src", it.label, "dest", dest, "checksum", there.SHA1, "md5sum", there.MD5, "changed",
			modules.Here)}, err
}

// remote joins fragments of the host.
func (a *assembleArgs) remote(ctx context.Context, env *modules.Env) (modules.Result, error) {
	info, err := hostfs.Stat(a.Src)
	switch {
	case err != nil:
		return modules.Fail("Source (%s) does not exist", a.Src)
	case !info.IsDir():
		return modules.Fail("Source (%s) is not a directory", a.Src)
	}
	rules, err := newFragmentRules(a.Regexp, a.Delimiter, a.IgnoreHidden)
	if err != nil {
		return modules.Result{}, err
	}
	if v := modules.Text(a.Validate); v != "" && !strings.Contains(v, "%s") {
		return modules.Fail("validate must contain %%s: %s", v)
	}
	entries, err := hostfs.ReadDir(a.Src)
	if err != nil {
		return modules.Result{}, fsx.Failed(oserr.Path(err, a.Src))
	}
	var names []string
	for _, e := range entries {
		if fsx.IsFile(filepath.Join(a.Src, e.Name())) {
			names = append(names, e.Name())
		}
	}
	out, err := rules.join(names, func(name string) (string, error) {
		raw, err := hostfs.ReadFile(filepath.Join(a.Src, name))
		if err != nil {
			return "", fsx.Failed(oserr.Path(err, filepath.Join(a.Src, name)))
		}
		return string(raw), nil
	})
	if err != nil {
		return modules.Result{}, err
	}
	return a.put(ctx, env, out)
}

// put writes the joined text where it differs.
func (a *assembleArgs) put(ctx context.Context, env *modules.Env, out string) (modules.Result, error) {
	sums := fsx.SumText(out)
	res := modules.Result{Msg: "OK",
		Data: value.DictOf("src", a.Src, "dest", a.Dest, "checksum", sums.SHA1, "md5sum", sums.MD5, "changed", modules.Here,
			"msg", modules.Here)}
	if fsx.IsDir(a.Dest) {
		return modules.Result{}, fsx.Failed("attempted to take checksum of directory: " + a.Dest)
	}
	there, err := fsx.Sum(a.Dest, "sha1")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return modules.Result{}, fsx.Failed(oserr.Path(err, a.Dest))
	}
	if there != sums.SHA1 {
		res.Changed = true
		staged, err := fsx.Stage(a.Dest, a.UnsafeWrites)
		if err != nil {
			return modules.Result{}, err
		}
		defer staged.Discard()
		if _, err := staged.Write([]byte(out)); err != nil {
			return modules.Result{}, err
		}
		if err := a.exchange(ctx, env, staged, &res); err != nil {
			return modules.Result{}, err
		}
	}
	did, err := a.For(a.Dest, false).Apply(env.Check, nil)
	res.Changed = res.Changed || did
	return res, err
}

func (a *assembleArgs) exchange(ctx context.Context, env *modules.Env, staged *fsx.Staged, res *modules.Result) error {
	e := &editing.Edit{Env: env, Path: a.Dest, Args: &a.FileArgs, Validate: a.Validate}
	if modules.Text(a.Validate) != "" {
		out, err := e.Check(ctx, staged)
		if err != nil {
			return err
		}
		res.Set("validation", value.DictOf("rc", int64(out.Rc), "stdout", out.Stdout, "stderr", out.Stderr))
	}
	if a.Backup {
		backup, err := fsx.Backup(a.Dest, time.Now())
		if err != nil {
			return err
		}
		if backup != "" {
			res.Set("backup_file", backup)
		}
	}
	return staged.Commit(a.UnsafeWrites)
}

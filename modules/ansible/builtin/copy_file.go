package builtin

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/editing"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/nss"
	"hark/modules/py/value"
)

// copyWork is one run of copy.
type copyWork struct {
	copyArgs
	env *modules.Env
	// tree is set while a directory is copied: its files need not be on disk one by one.
	tree bool
}

// copyItem is one file to copy.
type copyItem struct {
	path, rel string // on the controller; relative to the destination if that is a directory
	label     string // in diffs
	mode      uint32
	size      int64
	digest    string // sha256, of what open gives
	open      func(context.Context) (io.ReadCloser, error)
	text      *string
}

// item returns the single file of the source.
func (c *copyWork) item(rel string) *copyItem {
	s := c.Source
	it := &copyItem{path: s.Path, rel: rel, label: s.Label, mode: uint32(s.Mode), size: s.Size, text: s.Text}
	if it.label == "" {
		it.label = s.Path
	}
	if s.Base64 != nil {
		raw, err := base64.StdEncoding.DecodeString(*s.Base64)
		if err == nil {
			text := string(raw)
			it.text = &text
		}
	}
	if it.text == nil {
		it.digest = modules.Text(s.Digest)
		it.open = c.opener(it.digest)
	}
	return it
}

func (c *copyWork) opener(digest string) func(context.Context) (io.ReadCloser, error) {
	return func(ctx context.Context) (io.ReadCloser, error) { return c.env.Open(ctx, digest) }
}

// reader opens the content.
func (it *copyItem) reader(ctx context.Context) (io.ReadCloser, error) {
	if it.text != nil {
		return io.NopCloser(strings.NewReader(*it.text)), nil
	}
	return it.open(ctx)
}

// sums returns the checksums of the content; a blob is read for them.
func (it *copyItem) sums(ctx context.Context) (fsx.Sums, error) {
	r, err := it.reader(ctx)
	if err != nil {
		return fsx.Sums{}, err
	}
	defer r.Close()
	return fsx.CopySums(io.Discard, r)
}

// same reports whether a file has the content, and the file's sums. A blob is compared by its digest: what is there
// already does not travel.
func (it *copyItem) same(path string) (bool, fsx.Sums) {
	st, err := fsx.Stat(path, true)
	if err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size != it.size {
		return false, fsx.Sums{}
	}
	there, err := fileSums(path)
	if err != nil {
		return false, fsx.Sums{}
	}
	if it.text != nil {
		return there.SHA256 == fsx.SumText(*it.text).SHA256, there
	}
	return there.SHA256 == it.digest, there
}

// copyFile copies one file to dest, nil if something is there that must stay. dest may be a directory.
func (c *copyWork) copyFile(ctx context.Context, it *copyItem, dest string, follow bool) (*modules.Result, error) {
	file := dest
	if strings.HasSuffix(dest, "/") {
		file = dest + it.rel
	}
	st, err := statDest(file, follow)
	if err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		if c.Source.Content {
			refused := modules.Result{Failed: true, Msg: "can not use content with a dir as dest", Data: value.DictOf("diff", []any{})}
			if c.env.Has(dialect.ModuleMessages) {
				refused.Marks.FailedBy = "Action"
			}
			return nil, &modules.Ended{Result: refused}
		}
		file = fsx.JoinPath(dest, it.rel)
		st, err = statDest(file, follow)
	}
	if ended := (*modules.Ended)(nil); errors.As(err, &ended) {
		return nil, err
	}
	if err == nil && !c.Force {
		return nil, nil
	}
	mode := c.Mode
	if preserves(mode) {
		mode = value.UnsafeStr(fsx.ModeText(it.mode))
	}
	same, sum := false, ""
	if err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFREG {
		var there fsx.Sums
		same, there = it.same(file)
		sum = there.SHA1
	}
	if same {
		return c.attributesOnly(it, dest, file, follow, mode, sum)
	}
	var diff *value.Dict
	if c.env.Diff {
		if diff, err = it.diff(ctx, file); err != nil {
			return nil, err
		}
	}
	if c.env.Check {
		res := &modules.Result{Changed: true}
		c.resultDiff(res, diff)
		return res, nil
	}
	res, err := c.place(ctx, it, dest, follow, mode)
	if err != nil {
		return nil, c.withSum(ctx, it, err, diff)
	}
	c.resultDiff(res, diff)
	return res, nil
}

// statDest returns the state of a destination. Where nobody may look, Ansible's action fails before there is a module
// that could.
func statDest(file string, follow bool) (*syscall.Stat_t, error) {
	st, err := fsx.Stat(file, follow)
	if errno := syscall.Errno(0); errors.As(err, &errno) && errno != syscall.ENOENT {
		return st, modules.Raise("Failed to get information on remote file (%s): %s", file, oserr.Text(errno))
	}
	return st, err
}

// withSum completes a failure as Ansible's copy does.
func (c *copyWork) withSum(ctx context.Context, it *copyItem, err error, diff *value.Dict) error {
	var fail *fsx.Error
	var ended *modules.Ended
	switch {
	case errors.As(err, &fail):
	case errors.As(err, &ended):
		fail = &fsx.Error{Msg: ended.Result.Msg, Data: ended.Result.Data}
	default:
		fail = &fsx.Error{Msg: err.Error()}
	}
	if fail.Data == nil {
		fail.Data = value.NewDict()
	}
	if !fail.Data.Has("checksum") {
		if sums, err := it.sums(ctx); err == nil {
			fail.Data.Put("checksum", sums.SHA1)
		}
	}
	list := []any{}
	if diff != nil {
		list = append(list, diff)
	}
	fail.Data.Put("diff", list)
	return fail
}

// attributesOnly does what the file module does to a file whose content is right already.
func (c *copyWork) attributesOnly(it *copyItem, dest, file string, follow bool, mode value.Value, sum string) (*modules.Result, error) {
	if follow && fsx.IsLink(file) {
		dest = fsx.RealPath(file)
	}
	state := "file"
	w := &fileWork{fileArgs: fileArgs{Path: dest, State: &state, OriginalBasename: &it.rel, Follow: true, FileArgs: c.FileArgs}, check: c.env.Check}
	w.Mode = mode
	if err := w.resolvePath(); err != nil {
		return nil, err
	}
	if w.check {
		warnUnknownOwners(c.env, &w.FileArgs)
	}
	res, err := w.ensureFile()
	if err != nil {
		var fail *fsx.Error
		if errors.As(err, &fail) {
			fail.Data.Put("checksum", sum)
			fail.Data.Put("diff", []any{})
		}
		return nil, err
	}
	res.Set("checksum", sum)
	return &res, nil
}

// place puts the content at dest, which is known to differ.
func (c *copyWork) place(ctx context.Context, it *copyItem, dest string, follow bool, mode value.Value) (*modules.Result, error) {
	dest, err := c.resolveDest(dest, it.rel, follow)
	if err != nil {
		return nil, err
	}
	staged, err := fsx.Stage(dest, c.UnsafeWrites)
	if err != nil {
		return nil, err
	}
	defer staged.Discard()
	staged.Lazy = c.tree
	r, err := it.reader(ctx)
	if err != nil {
		return nil, err
	}
	sums, err := fsx.CopySums(staged, r)
	r.Close()
	if err != nil {
		return nil, err
	}
	if want := modules.Text(c.Checksum); want != "" && want != sums.SHA1 {
		return nil, fsx.Failed("Copied file does not match the expected checksum. Transfer failed.", "checksum", sums.SHA1, "expected_checksum", want)
	}
	res := &modules.Result{Changed: true, Data: value.DictOf(
		"diff", modules.Here, "dest", dest, "src", c.uploadName(dest), "md5sum", sums.MD5, "checksum", sums.SHA1,
		"changed", modules.Here,
	)}
	if err := c.exchange(ctx, staged, dest, mode, res); err != nil {
		return nil, err
	}
	own := c.FileArgs
	own.Mode = mode
	_, err = own.For(dest, follow).Apply(false, nil)
	return res, err
}

// uploadName returns what a result calls the content on its way. For Ansible it is a file in a directory that is gone
// when the task ends. Nothing is there for hark, but those who compare or filter logs look for such a name.
func (c *copyWork) uploadName(dest string) string {
	name := "source"
	if c.env.Has(dialect.UploadNames) {
		name = ".source" + extension(filepath.Base(dest))
	}
	now := time.Now()
	dir := fmt.Sprintf("ansible-tmp-%d.%07d-%d-%d", now.Unix(), now.Nanosecond()/100, os.Getpid(), rand.Int64N(1<<48))
	return filepath.Join(nss.Home(c.env.User), ".ansible/tmp", dir, name)
}

// exchange validates and commits a staged file, after a backup.
func (c *copyWork) exchange(ctx context.Context, staged *fsx.Staged, dest string, mode value.Value, res *modules.Result) error {
	if c.Backup {
		backup, err := fsx.Backup(dest, time.Now())
		if err != nil {
			return err
		}
		if backup != "" {
			res.Set("backup_file", backup)
		}
	}
	if modules.Text(c.Validate) != "" {
		own := c.FileArgs
		own.Mode, own.Attributes = mode, nil
		if _, err := own.For(staged.Path, false).Apply(false, nil); err != nil {
			return err
		}
		out, err := editing.Validate(ctx, c.env, *c.Validate, staged)
		if err != nil {
			return err
		}
		if out.Rc != 0 {
			return fsx.Failed("failed to validate", "exit_status", int64(out.Rc), "stdout", out.Stdout, "stderr", out.Stderr)
		}
	}
	staged.Narrow(mode)
	if fsx.IsLink(dest) {
		return staged.CommitNew(c.UnsafeWrites)
	}
	return staged.Commit(c.UnsafeWrites)
}

// withDir makes sure that a path names a directory, as Ansible's copy does.
func withDir(path string) string {
	if strings.Contains(path, "/") {
		return path
	}
	return "./" + path
}

// resolveDest returns the path of the file itself. Directories that a destination ending in / lacks are made.
func (c *copyWork) resolveDest(dest, rel string, follow bool) (string, error) {
	dest = withDir(dest)
	if strings.HasSuffix(dest, "/") {
		dest += rel
		if err := c.makeParents(fsx.DirName(dest)); err != nil {
			return "", err
		}
	}
	if fsx.IsDir(dest) {
		dest = fsx.JoinPath(dest, rel)
	}
	dir := fsx.DirName(dest)
	if fsx.Exists(dest) {
		if fsx.IsLink(dest) && follow {
			dest = fsx.RealPath(dest)
		}
	} else if _, err := hostfs.Stat(orDot(dir)); err != nil {
		if errors.Is(err, syscall.EACCES) {
			return "", fsx.Failed(fmt.Sprintf("Destination directory %s is not accessible", dir))
		}
		return "", fsx.Failed(fmt.Sprintf("Destination directory %s does not exist", dir))
	}
	if dir = fsx.DirName(dest); !fsx.Writable(orDot(dir)) && !c.UnsafeWrites {
		return "", fsx.Failed(fmt.Sprintf("Destination %s not writable", dir))
	}
	return dest, nil
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// makeParents makes the directories down to dir that are missing, with directory_mode and the owner of the copy.
func (c *copyWork) makeParents(dir string) error {
	if dir == "" || fsx.Exists(dir) {
		return nil
	}
	if err := c.makeParents(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := hostfs.Mkdir(dir, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return fsx.Failed(oserr.Bytes(err, dir))
	}
	own := c.FileArgs
	own.Mode = c.DirectoryMode
	_, err := own.For(dir, false).Apply(false, nil)
	return err
}

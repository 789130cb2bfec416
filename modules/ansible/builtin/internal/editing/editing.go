// Package editing changes text files as lineinfile, blockinfile, replace and assemble do: read, compare, validate,
// back up, write whole.
package editing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/codecs"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
)

// Edit is the change of a text file that lineinfile, blockinfile and replace share.
type Edit struct {
	Env      *modules.Env
	Path     string // as given
	Args     *fsx.FileArgs
	Backup   bool
	Validate *string
	// Encoding is that of the file; with "" it is edited as bytes.
	Encoding string
	// Strict refuses what the encoding does not have; Newlines reads every end of a line as a newline, as Python does
	// with text.
	Strict, Newlines bool
	// ByLine reports whether it is written line by line, which errors show.
	ByLine bool
}

// Read reads the file; exists is false if there is none.
func (e *Edit) Read() (content string, exists bool, err error) {
	raw, err := hostfs.ReadFile(e.Path)
	if err != nil && !fsx.Exists(e.Path) { // nor is one that nobody may look at, as Python sees it
		return "", false, nil
	}
	if err != nil {
		return "", false, fsx.Failed(oserr.Bytes(err, e.Path))
	}
	if e.Encoding == "" {
		return string(raw), true, nil
	}
	decode := codecs.Decode
	if e.Strict {
		decode = codecs.DecodeStrict
	}
	if content, err = decode(raw, e.Encoding); err != nil {
		return "", true, miscoded(err)
	}
	if e.Newlines {
		content = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(content)
	}
	return content, true, nil
}

// miscoded is the error of an encoding, which Ansible's modules do not catch.
func miscoded(err error) error {
	return &modules.Crash{Raised: err.Error(), Err: errors.New(codecs.InFull(err))}
}

// Write puts the content in the place of the file, following links, after a backup whose name it gives.
func (e *Edit) Write(ctx context.Context, content string) (string, error) {
	backup := ""
	if e.Backup {
		var err error
		if backup, err = fsx.Backup(e.Path, time.Now()); err != nil {
			return "", err
		}
	}
	dest := fsx.RealPath(e.Path)
	staged, err := fsx.Stage(dest, e.Args.UnsafeWrites)
	if err != nil {
		return "", err
	}
	defer staged.Discard()
	raw := []byte(content)
	if e.Encoding != "" {
		if raw, err = codecs.Encode(content, e.Encoding); err != nil {
			return "", miscoded(e.inLine(content, err))
		}
	}
	if _, err := staged.Write(raw); err != nil {
		return "", err
	}
	if _, err := e.Check(ctx, staged); err != nil {
		return "", err
	}
	return backup, staged.Commit(e.Args.UnsafeWrites)
}

// inLine is the error of a text that is not in the encoding, as it is where the text is written line by line.
func (e *Edit) inLine(content string, err error) error {
	if !e.ByLine {
		return err
	}
	for _, line := range SplitLines(content) {
		if _, own := codecs.Encode(line, e.Encoding); own != nil {
			return own
		}
	}
	return err
}

// Check runs the user's validation over the new file.
func (e *Edit) Check(ctx context.Context, staged *fsx.Staged) (tool.Output, error) {
	if modules.Text(e.Validate) == "" {
		return tool.Output{}, nil
	}
	out, err := Validate(ctx, e.Env, *e.Validate, staged)
	if err == nil && out.Rc != 0 {
		err = fsx.Failed(fmt.Sprintf("failed to validate: rc:%d error:%s", out.Rc, out.Stderr))
	}
	return out, err
}

// Validate runs the user's command over a file that waits. Its exit code is the caller's to judge.
func Validate(ctx context.Context, env *modules.Env, command string, staged *fsx.Staged) (tool.Output, error) {
	if !strings.Contains(command, "%s") {
		return tool.Output{}, fsx.Failed("validate must contain %s: " + command)
	}
	if err := staged.Close(); err != nil {
		return tool.Output{}, err
	}
	argv, err := modules.SplitCommand(strings.ReplaceAll(command, "%s", staged.Path))
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Run(ctx, env, modules.Command{Argv: argv})
}

// Finish carries out what was decided of a file whose text was before and shall be after: where the result is a
// change and this is no check it writes the file, and names the backup, if one was made, under the key; then it sets
// the file's attributes and gives the result its diff. A file that a check did not make has no attributes.
func (e *Edit) Finish(ctx context.Context, res *modules.Result, before, after, backupKey string) error {
	if res.Changed && !e.Env.Check {
		backup, err := e.Write(ctx, after)
		if err != nil {
			return err
		}
		if backup != "" {
			res.Data.Put(backupKey, backup)
		}
	}
	if e.Env.Check && !fsx.Exists(e.Path) {
		res.Set("diff", e.ContentDiff(before, after))
		return nil
	}
	d, err := e.Attributes(res, false)
	if err != nil {
		return err
	}
	res.Set("diff", e.Diffs(before, after, d))
	return nil
}

// Attributes sets the file's attributes and says so in the message.
func (e *Edit) Attributes(res *modules.Result, follow bool) (*fsx.Delta, error) {
	d := &fsx.Delta{Before: value.NewDict(), After: value.NewDict()}
	did, err := e.Args.For(e.Path, follow).Apply(e.Env.Check, d)
	if err != nil {
		return nil, err
	}
	if did {
		msg := res.Data.Text("msg")
		if res.Changed {
			msg += " and "
		}
		res.Changed = true
		res.Data.Put("msg", msg+"ownership, perms or SE linux context changed")
	}
	return d, nil
}

// Diffs returns the two entries of a change: of content, empty unless asked for, and of attributes.
func (e *Edit) Diffs(before, after string, d *fsx.Delta) []any {
	list := []any{e.ContentDiff(before, after)}
	attrs := value.NewDict()
	if d.Before.Len() > 0 {
		attrs = value.DictOf("before", d.Before, "after", d.After)
	}
	attrs.Put("before_header", e.Path+" (file attributes)")
	attrs.Put("after_header", e.Path+" (file attributes)")
	return append(list, attrs)
}

func (e *Edit) ContentDiff(before, after string) *value.Dict {
	if !e.Env.Diff {
		before, after = "", ""
	}
	return value.DictOf(
		"before", modules.Printed([]byte(before)), "after", modules.Printed([]byte(after)),
		"before_header", e.Path+" (content)", "after_header", e.Path+" (content)",
	)
}

// MakeDir makes the directory of a file that is to be created.
func (e *Edit) MakeDir() error {
	dir := fsx.DirName(e.Path)
	if dir == "" || fsx.Exists(dir) || e.Env.Check {
		return nil
	}
	if err := hostfs.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
		return fsx.Failed(fmt.Sprintf("Error creating %s (%s)", dir, oserr.Bytes(err, dir)))
	}
	return nil
}

// SplitLines parts a text after each newline.
func SplitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Expression compiles an expression for what Read gives; nil for nil.
func (e *Edit) Expression(pattern *string) (*pyre.Regexp, error) {
	if pattern == nil {
		return nil, nil
	}
	return Expression(*pattern, pyre.Options{Bytes: e.Encoding == ""})
}

// ExpressionLimit bounds one match in a file, which may be large.
const ExpressionLimit = 20 * time.Second

// Expression compiles a pattern whose matching ends after ExpressionLimit.
func Expression(pattern string, o pyre.Options) (*pyre.Regexp, error) {
	o.Limit = ExpressionLimit
	re, err := pyre.Compile(pattern, o)
	if err != nil {
		return nil, &modules.Crash{Raised: err.Error(), Err: fmt.Errorf("invalid regular expression %q: %w", pattern, err)}
	}
	return re, nil
}

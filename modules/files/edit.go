package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/oserr"
	"hark/modules/internal/tool"
	"hark/modules/py/pyre"
)

// edit is the change of a text file that lineinfile, blockinfile and replace share.
type edit struct {
	env      *modules.Env
	path     string // as given
	args     *fsx.FileArgs
	backup   bool
	validate *string
}

// readText reads a file that is to be edited; exists is false if there is none.
func readText(path string) (content string, exists bool, err error) {
	raw, err := os.ReadFile(path)
	if err != nil && !fsx.Exists(path) { // nor is one that nobody may look at, as Python sees it
		return "", false, nil
	}
	if err != nil {
		return "", false, failed(oserr.Bytes(err, path))
	}
	return string(raw), true, nil
}

// write puts the content in the place of the file, following links, after a backup whose name it gives.
func (e *edit) write(ctx context.Context, content string) (string, error) {
	backup := ""
	if e.backup {
		var err error
		if backup, err = fsx.Backup(e.path, time.Now()); err != nil {
			return "", err
		}
	}
	dest := fsx.RealPath(e.path)
	staged, err := fsx.Stage(dest, e.args.UnsafeWrites)
	if err != nil {
		return "", err
	}
	defer staged.Discard()
	if _, err := staged.Write([]byte(content)); err != nil {
		return "", err
	}
	if _, err := e.check(ctx, staged); err != nil {
		return "", err
	}
	return backup, staged.Commit(e.args.UnsafeWrites)
}

// check runs the user's validation over the new file.
func (e *edit) check(ctx context.Context, staged *fsx.Staged) (tool.Output, error) {
	if modules.Text(e.validate) == "" {
		return tool.Output{}, nil
	}
	out, err := validate(ctx, e.env, *e.validate, staged)
	if err == nil && out.Rc != 0 {
		err = failed(fmt.Sprintf("failed to validate: rc:%d error:%s", out.Rc, out.Stderr))
	}
	return out, err
}

// validate runs the user's command over a file that waits. Its exit code is the caller's to judge.
func validate(ctx context.Context, env *modules.Env, command string, staged *fsx.Staged) (tool.Output, error) {
	if !strings.Contains(command, "%s") {
		return tool.Output{}, failed("validate must contain %s: " + command)
	}
	if err := staged.Close(); err != nil {
		return tool.Output{}, err
	}
	argv, err := modules.SplitCommand(strings.ReplaceAll(command, "%s", staged.Path), env)
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Run(ctx, env, modules.Command{Argv: argv})
}

// attributes sets the file's attributes and tells so in the message.
func (e *edit) attributes(res *modules.Result, follow bool) (*fsx.Delta, error) {
	d := &fsx.Delta{Before: map[string]any{}, After: map[string]any{}}
	did, err := e.args.For(e.path, follow).Apply(e.env.Check, d)
	if err != nil {
		return nil, err
	}
	if did {
		msg, _ := res.Data["msg"].(string)
		if res.Changed {
			msg += " and "
		}
		res.Changed = true
		res.Data["msg"] = msg + "ownership, perms or SE linux context changed"
	}
	return d, nil
}

// diffs are the two entries of a change: of content, empty unless asked for, and of attributes.
func (e *edit) diffs(before, after string, d *fsx.Delta) []any {
	list := []any{e.contentDiff(before, after)}
	attrs := map[string]any{"before_header": e.path + " (file attributes)", "after_header": e.path + " (file attributes)"}
	if len(d.Before) > 0 {
		attrs["before"], attrs["after"] = d.Before, d.After
	}
	return append(list, attrs)
}

func (e *edit) contentDiff(before, after string) map[string]any {
	if !e.env.Diff {
		before, after = "", ""
	}
	return map[string]any{
		"before": modules.ValidText([]byte(before)), "after": modules.ValidText([]byte(after)),
		"before_header": e.path + " (content)", "after_header": e.path + " (content)",
	}
}

// makeDir makes the directory of a file that is to be created.
func (e *edit) makeDir() error {
	dir := dirName(e.path)
	if dir == "" || fsx.Exists(dir) || e.env.Check {
		return nil
	}
	if err := os.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
		return failed(fmt.Sprintf("Error creating %s (%s)", dir, oserr.Bytes(err, dir)))
	}
	return nil
}

// splitLines parts a text after each newline.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// bytesRegexp compiles an expression for bytes; nil for nil.
func bytesRegexp(pattern *string) (*pyre.Regexp, error) {
	if pattern == nil {
		return nil, nil
	}
	return expression(*pattern, pyre.Options{Bytes: true})
}

// expressionLimit bounds one match in a file, which may be large.
const expressionLimit = 20 * time.Second

func expression(pattern string, o pyre.Options) (*pyre.Regexp, error) {
	o.Limit = expressionLimit
	re, err := pyre.Compile(pattern, o)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression %q: %w", pattern, err)
	}
	return re, nil
}

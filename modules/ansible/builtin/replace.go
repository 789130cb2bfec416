package builtin

import (
	"context"
	"errors"
	"fmt"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/editing"
	"hark/modules/dialect"
	"hark/modules/internal/fsx"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
)

// Replace replaces all that an expression matches in a file.
var Replace = modules.Define("ansible.builtin.replace",
	"Replace all instances of a particular string in a file using a back-referenced regular expression.", runReplace,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.Edits("path"),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.replace: {path: /etc/hosts, regexp: '(\s+)old\.host\.name(\s+.*)?$', replace: '\1new.host.name\2'}
- ansible.builtin.replace: {path: /etc/app.conf, after: '<VirtualHost [*]>', before: '</VirtualHost>', regexp: '^(.+)$', replace: '# \1'}
`
		m.Returns = []modules.Return{{Name: "msg", Type: "str", When: "always", Doc: "What was done."}}
	}), modules.Programs("validate"))

type replaceArgs struct {
	Path     string  `arg:"path,required,type=path,alias=dest|destfile|name" doc:"The file."`
	Regexp   string  `arg:"regexp,required" doc:"What to replace; ^ and $ match at every line."`
	Replace  string  `arg:"replace,default=" doc:"What to put there, with groups as \\1 or \\g<name>."`
	After    *string `arg:"after" doc:"Only what comes after a match of this expression."`
	Before   *string `arg:"before" doc:"Only what comes before a match of this expression."`
	Backup   bool    `arg:"backup,default=no" doc:"Keep what was there under another name."`
	Validate *string `arg:"validate" doc:"Command that must succeed before the file takes its place; %s is the new file."`
	Encoding string  `arg:"encoding,default=utf-8" doc:"Encoding of the file."`
	fsx.FileArgs
}

func runReplace(ctx context.Context, env *modules.Env, a replaceArgs) (modules.Result, error) {
	if fsx.IsDir(a.Path) {
		return modules.Result{}, fsx.Failed(fmt.Sprintf("Path %s is a directory !", a.Path), "rc", int64(256))
	}
	text := env.Release.Has(dialect.TextFiles)
	e := &editing.Edit{
		Env: env, Path: a.Path, Args: &a.FileArgs, Backup: a.Backup, Validate: a.Validate, Encoding: a.Encoding, Strict: text,
		Newlines: text,
	}
	before, exists, err := e.Read()
	if err != nil {
		return modules.Result{}, err
	}
	if !exists {
		return modules.Result{}, fsx.Failed(fmt.Sprintf("Path %s does not exist !", a.Path), "rc", int64(257))
	}
	after, count, miss, err := a.apply(before)
	var bad *replacementError
	if errors.As(err, &bad) && env.Has(dialect.ModuleMessages) {
		return modules.Fail("Unable to process replace due to error: %v", err)
	}
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Data: value.DictOf("rc", int64(0), "msg", "", "changed", modules.Here)}
	if miss != "" {
		res.Data.Put("msg", "Pattern for before/after params did not match the given file: "+miss)
		return res, nil
	}
	if count > 0 && before != after {
		res.Changed = true
		res.Data.Put("msg", fmt.Sprintf("%d replacements made", count))
		if env.Diff {
			res.Diff = []modules.Diff{{BeforeHeader: a.Path, Before: before, AfterHeader: a.Path, After: after}}
		}
		if !env.Check {
			backup, err := e.Write(ctx, after)
			if err != nil {
				return modules.Result{}, err
			}
			if backup != "" {
				res.Data.Put("backup_file", backup)
			}
		}
	}
	_, err = e.Attributes(&res, false)
	return res, err
}

// replacementError is of the text that stands for what was found.
type replacementError struct{ error }

// apply replaces within the section; miss is its pattern if there is none.
func (a *replaceArgs) apply(content string) (after string, count int, miss string, err error) {
	pattern := ""
	switch {
	case modules.Text(a.After) != "" && modules.Text(a.Before) != "":
		pattern = *a.After + "(?P<subsection>.*?)" + *a.Before
	case modules.Text(a.After) != "":
		pattern = *a.After + "(?P<subsection>.*)"
	case modules.Text(a.Before) != "":
		pattern = "(?P<subsection>.*)" + *a.Before
	}
	head, section, tail := "", content, ""
	if pattern != "" {
		re, err := editing.Expression(pattern, pyre.Options{DotAll: true})
		if err != nil {
			return "", 0, "", err
		}
		m, err := re.Search(content)
		if err != nil {
			return "", 0, "", err
		}
		if m == nil {
			return "", 0, pattern, nil
		}
		n, _ := re.Group("subsection")
		section, _ = m.Group(n)
		head, tail = m.Around(n)
	}
	re, err := editing.Expression(a.Regexp, pyre.Options{Multiline: true})
	if err != nil {
		return "", 0, "", err
	}
	out, count, err := re.Replace(section, a.Replace, pyre.Bounds{})
	if err != nil {
		return "", 0, "", &replacementError{err}
	}
	return head + out + tail, count, "", nil
}

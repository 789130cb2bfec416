package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/editing"
	"hark/modules/internal/fsx"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
)

// LineInFile makes sure that a line is, or is not, in a file.
var LineInFile = modules.Define("ansible.builtin.lineinfile", "Manage lines in text files.", runLineInFile,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.Edits("path"),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"insertbefore", "insertafter"}, {"regexp", "search_string"},
		{"backrefs", "search_string"}}}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.lineinfile: {path: /etc/selinux/config, regexp: "^SELINUX=", line: SELINUX=enforcing}
- ansible.builtin.lineinfile: {path: /etc/hosts, line: 192.168.1.99 foo.lab.net foo, create: true, mode: "0644"}
- ansible.builtin.lineinfile: {path: /etc/sudoers, state: absent, regexp: "^%wheel", validate: /usr/sbin/visudo -cf %s}
`
		m.Returns = []modules.Return{
			{Name: "msg", Type: "str", When: "always", Doc: "What was done."},
			{Name: "backup", Type: "str", When: "always", Doc: "The copy of what was there, empty if none was made."},
			{Name: "found", Type: "int", When: "state is absent", Doc: "How many lines were removed."},
		}
	}), modules.Programs("validate"))

type lineInFileArgs struct {
	Path         string  `arg:"path,required,type=path,alias=dest|destfile|name" doc:"The file."`
	State        string  `arg:"state,default=present,choices=absent|present" doc:"Whether the line shall be there."`
	Regexp       *string `arg:"regexp,alias=regex" doc:"Expression for the line to replace, or the lines to remove."`
	SearchString *string `arg:"search_string" doc:"The same as plain text."`
	Line         *string `arg:"line,alias=value" doc:"The line."`
	InsertAfter  *string `arg:"insertafter" doc:"Expression for the line to insert after; EOF by default, BOF."`
	InsertBefore *string `arg:"insertbefore" doc:"Expression for the line to insert before; BOF."`
	Backrefs     bool    `arg:"backrefs,default=no" doc:"Fill groups of regexp into line, and do nothing if it does not match."`
	Create       bool    `arg:"create,default=no" doc:"Make the file if it does not exist."`
	Backup       bool    `arg:"backup,default=no" doc:"Keep what was there under another name."`
	FirstMatch   bool    `arg:"firstmatch,default=no" doc:"Use the first line that matches, not the last."`
	Validate     *string `arg:"validate" doc:"Command that must succeed before the file takes its place; %s is the new file."`
	Encoding     string  `arg:"encoding,since=2.20,default=utf-8" doc:"Encoding of the file."`
	fsx.FileArgs
}

func runLineInFile(ctx context.Context, env *modules.Env, a lineInFileArgs) (modules.Result, error) {
	a.warnEmpty(env)
	if fsx.IsDir(a.Path) {
		return modules.Result{}, fsx.Failed(fmt.Sprintf("Path %s is a directory !", a.Path), "rc", int64(256))
	}
	e := &editing.Edit{
		Env: env, Path: a.Path, Args: &a.FileArgs, Backup: a.Backup, Validate: a.Validate, Encoding: a.Encoding,
		Strict: true, Newlines: true, ByLine: true,
	}
	if a.State == "absent" {
		if a.Regexp == nil && a.SearchString == nil && a.Line == nil {
			return modules.Fail("one of line, search_string, or regexp is required with state=absent")
		}
		return a.absent(ctx, e)
	}
	if a.Backrefs && a.Regexp == nil {
		return modules.Fail("regexp is required with backrefs=true")
	}
	if a.Line == nil {
		return modules.Fail("line is required with state=present")
	}
	if a.InsertBefore == nil && a.InsertAfter == nil {
		eof := "EOF"
		a.InsertAfter = &eof
	}
	return a.present(ctx, e)
}

func (a *lineInFileArgs) warnEmpty(env *modules.Env) {
	const msg = "The %s is an empty string, which will match every line in the file. " +
		"This may have unintended consequences, such as replacing the last line in the file rather than appending."
	switch {
	case a.Regexp != nil && *a.Regexp == "":
		env.Warn(msg+" If this is desired, use '^' to match every line in the file and avoid this warning.",
			"regular expression")
	case a.SearchString != nil && *a.SearchString == "":
		env.Warn(msg, "search string")
	}
}

func (a *lineInFileArgs) present(ctx context.Context, e *editing.Edit) (modules.Result, error) {
	before, exists, err := e.Read()
	if err != nil {
		return modules.Result{}, err
	}
	if !exists {
		if !a.Create {
			return modules.Result{}, fsx.Failed(fmt.Sprintf("Destination %s does not exist !", a.Path), "rc", int64(257))
		}
		if err := e.MakeDir(); err != nil {
			return modules.Result{}, err
		}
	}
	f := &lineFinder{lineInFileArgs: a, edit: e, lines: editing.SplitLines(before)}
	msg, err := f.place()
	if err != nil {
		return modules.Result{}, err
	}
	after := strings.Join(f.lines, "")
	res := modules.Result{Changed: msg != "", Data: value.DictOf("msg", msg, "backup", "")}
	err = e.Finish(ctx, &res, before, after, "backup")
	return res, err
}

func (a *lineInFileArgs) absent(ctx context.Context, e *editing.Edit) (modules.Result, error) {
	before, exists, err := e.Read()
	if err != nil {
		return modules.Result{}, err
	}
	if !exists {
		return modules.Result{Msg: "file not present"}, nil
	}
	re, err := e.Expression(a.Regexp)
	if err != nil {
		return modules.Result{}, err
	}
	var kept []string
	found := 0
	for _, line := range editing.SplitLines(before) {
		match, err := a.matches(re, line)
		if err != nil {
			return modules.Result{}, err
		}
		if match {
			found++
		} else {
			kept = append(kept, line)
		}
	}
	after := strings.Join(kept, "")
	res := modules.Result{Changed: found > 0, Data: value.DictOf("found", int64(found), "msg", "", "backup", "")}
	if found > 0 {
		res.Data.Put("msg", fmt.Sprintf("%d line(s) removed", found))
	}
	err = e.Finish(ctx, &res, before, after, "backup")
	return res, err
}

// matches reports whether a line is one to remove.
func (a *lineInFileArgs) matches(re *pyre.Regexp, line string) (bool, error) {
	switch {
	case re != nil:
		return re.Matches(line)
	case a.SearchString != nil:
		return strings.Contains(line, *a.SearchString), nil
	}
	return bare(line) == *a.Line, nil
}

func bare(line string) string { return strings.TrimRight(line, "\r\n") }

// lineFinder puts the line into the lines of a file.
type lineFinder struct {
	*lineInFileArgs
	edit  *editing.Edit
	lines []string

	at     int // the line to replace, -1
	insert int // where insertafter or insertbefore point to, -1
	match  *pyre.Match
	found  bool // regexp or search_string matched
}

// place changes the lines and returns what it did, "" if nothing.
func (f *lineFinder) place() (string, error) {
	if err := f.look(); err != nil {
		return "", err
	}
	line := *f.Line
	switch {
	case f.at >= 0:
		return f.replace()
	case f.Backrefs:
		return "", nil
	case modules.Text(f.InsertBefore) == "BOF" || modules.Text(f.InsertAfter) == "BOF":
		return f.put(0), nil
	case modules.Text(f.InsertAfter) == "EOF" || f.insert < 0:
		if n := len(f.lines); n > 0 && bare(f.lines[n-1]) == f.lines[n-1] {
			f.lines = append(f.lines, "\n")
		}
		return f.put(len(f.lines)), nil
	case modules.Text(f.InsertAfter) != "":
		if f.insert == len(f.lines) {
			if bare(f.lines[f.insert-1]) == line {
				return "", nil
			}
		} else if bare(f.lines[f.insert]) == line {
			return "", nil
		}
		if f.insert == len(f.lines) && !strings.HasSuffix(f.lines[f.insert-1], "\n") {
			// The added line must not run into an unfinished last one.
			f.lines[f.insert-1] += "\n"
		}
	}
	return f.put(f.insert), nil
}

func (f *lineFinder) put(at int) string {
	f.lines = slices.Insert(f.lines, at, *f.Line+"\n")
	return "line added"
}

func (f *lineFinder) replace() (string, error) {
	line := *f.Line
	if f.Backrefs && f.match != nil {
		var err error
		if line, err = f.match.Expand(line); err != nil {
			return "", &modules.Crash{Raised: err.Error(), Err: err}
		}
	}
	if !strings.HasSuffix(line, "\n") {
		line += "\n"
	}
	if f.lines[f.at] == line {
		return "", nil
	}
	f.lines[f.at] = line
	return "line replaced", nil
}

// look finds the lines that count: of several the last, unless firstmatch.
func (f *lineFinder) look() error {
	f.at, f.insert = -1, -1
	re, err := f.edit.Expression(f.Regexp)
	if err != nil {
		return err
	}
	for i, line := range f.lines {
		hit := f.SearchString != nil && strings.Contains(line, *f.SearchString)
		if re != nil {
			m, err := re.Search(line)
			if err != nil {
				return err
			}
			if hit = m != nil; hit {
				f.match = m
			}
		}
		if hit {
			f.at, f.found = i, true
			if f.FirstMatch {
				break
			}
		}
	}
	if f.found {
		return nil
	}
	return f.lookForPlace()
}

func (f *lineFinder) lookForPlace() error {
	var pattern *string
	switch {
	case f.InsertAfter != nil && *f.InsertAfter != "BOF" && *f.InsertAfter != "EOF":
		pattern = f.InsertAfter
	case f.InsertBefore != nil && *f.InsertBefore != "BOF":
		pattern = f.InsertBefore
	}
	re, err := f.edit.Expression(pattern)
	if err != nil {
		return err
	}
	for i, line := range f.lines {
		if bare(line) == *f.Line {
			f.at = i
			continue
		}
		if re == nil {
			continue
		}
		hit, err := re.Matches(line)
		if err != nil {
			return err
		}
		if !hit {
			continue
		}
		f.insert = i
		if modules.Text(f.InsertAfter) != "" {
			f.insert++
		}
		if f.FirstMatch {
			break
		}
	}
	return nil
}

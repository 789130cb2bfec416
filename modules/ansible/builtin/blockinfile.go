package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/editing"
	"hark/modules/internal/fsx"
	"hark/modules/py/value"
)

// BlockInFile keeps a block of lines between two markers in a file.
var BlockInFile = modules.Define("ansible.builtin.blockinfile",
	"Insert/update/remove a text block surrounded by marker lines.", runBlockInFile,
	modules.Is(modules.ReadsInCheck|modules.OpensByPath),
	modules.Edits("path"),
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"insertbefore", "insertafter"}}}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.blockinfile:
    path: /etc/ssh/sshd_config
    block: |
      Match User ansible-agent
      PasswordAuthentication no
- ansible.builtin.blockinfile: {path: /etc/hosts, marker: "# {mark} app", block: "", state: absent}
`
		m.Returns = []modules.Return{
			{Name: "msg", Type: "str", When: "always", Doc: "What was done."},
			{Name: "backup_file", Type: "str", When: "changed and backup", Doc: "The copy of what was there."},
		}
	}), modules.Programs("validate"))

type blockInFileArgs struct {
	Path           string  `arg:"path,required,type=path,alias=dest|destfile|name" doc:"The file."`
	State          string  `arg:"state,default=present,choices=absent|present" doc:"Whether the block shall be there."`
	Marker         string  `arg:"marker" default:"# {mark} ANSIBLE MANAGED BLOCK" doc:"The marker lines; {mark} is marker_begin and marker_end."`
	Block          string  `arg:"block,default=,alias=content" doc:"The lines; none removes the block."`
	InsertAfter    *string `arg:"insertafter" doc:"Expression for the line to insert after; EOF by default."`
	InsertBefore   *string `arg:"insertbefore" doc:"Expression for the line to insert before; BOF."`
	Create         bool    `arg:"create,default=no" doc:"Make the file if it does not exist."`
	Backup         bool    `arg:"backup,default=no" doc:"Keep what was there under another name."`
	Validate       *string `arg:"validate" doc:"Command that must succeed before the file takes its place; %s is the new file."`
	MarkerBegin    string  `arg:"marker_begin,default=BEGIN" doc:"Text of {mark} in the first marker."`
	MarkerEnd      string  `arg:"marker_end,default=END" doc:"Text of {mark} in the last marker."`
	AppendNewline  bool    `arg:"append_newline,since=2.16,default=no" doc:"An empty line after the block."`
	PrependNewline bool    `arg:"prepend_newline,since=2.16,default=no" doc:"An empty line before the block."`
	Encoding       string  `arg:"encoding,since=2.20,default=utf-8" doc:"Encoding of the file."`
	fsx.FileArgs
}

func runBlockInFile(ctx context.Context, env *modules.Env, a blockInFileArgs) (modules.Result, error) {
	if fsx.IsDir(a.Path) {
		return modules.Result{}, fsx.Failed(fmt.Sprintf("Path %s is a directory !", a.Path), "rc", int64(256))
	}
	e := &editing.Edit{Env: env, Path: a.Path, Args: &a.FileArgs, Backup: a.Backup, Validate: a.Validate,
		Encoding: a.Encoding, Strict: true}
	before, exists, err := e.Read()
	if err != nil {
		return modules.Result{}, err
	}
	if !exists {
		if !a.Create {
			return modules.Result{}, fsx.Failed(fmt.Sprintf("Path %s does not exist !", a.Path), "rc", int64(257))
		}
		if err := e.MakeDir(); err != nil {
			return modules.Result{}, err
		}
		if a.State == "absent" {
			return modules.Result{Msg: fmt.Sprintf("File %s not present", a.Path)}, nil
		}
	}
	after, block, err := a.apply(e, before)
	if err != nil {
		return modules.Result{}, err
	}
	res := modules.Result{Changed: true, Data: value.NewDict()}
	switch {
	case !exists:
		res.Data.Put("msg", "File created")
	case before == after:
		res.Changed = false
		res.Data.Put("msg", "")
	case !block:
		res.Data.Put("msg", "Block removed")
	default:
		res.Data.Put("msg", "Block inserted")
	}
	err = e.Finish(ctx, &res, before, after, "backup_file")
	return res, err
}

// apply returns the new content, and whether it has a block.
func (a *blockInFileArgs) apply(e *editing.Edit, before string) (string, bool, error) {
	lines := a.split(before)
	first := strings.ReplaceAll(a.Marker, "{mark}", a.MarkerBegin) + "\n"
	last := strings.ReplaceAll(a.Marker, "{mark}", a.MarkerEnd) + "\n"
	var block []string
	if a.State == "present" && a.Block != "" {
		body := a.Block
		if !strings.HasSuffix(body, "\n") {
			body += "\n"
		}
		block = append(append([]string{first}, a.split(body)...), last)
	}
	begin, end := lastIndex(lines, first), lastIndex(lines, last)
	at := 0
	switch {
	case begin < 0 || end < 0:
		var err error
		if at, err = a.newPlace(e, before, lines); err != nil {
			return "", false, err
		}
	case begin < end:
		lines, at = slices.Delete(lines, begin, end+1), begin
	default:
		lines, at = slices.Delete(lines, end, begin+1), end
	}
	if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += "\n"
	}
	if len(block) > 0 {
		if a.PrependNewline && at > 0 && lines[at-1] != "\n" {
			block = slices.Insert(block, 0, "\n")
		}
		if a.AppendNewline && at < len(lines) && lines[at] != "\n" {
			block = append(block, "\n")
		}
	}
	return strings.Join(slices.Insert(lines, at, block...), ""), len(block) > 0, nil
}

// newPlace returns where a block goes that is not there yet.
func (a *blockInFileArgs) newPlace(e *editing.Edit, before string, lines []string) (int, error) {
	pattern := a.InsertAfter
	if a.InsertBefore != nil {
		pattern = a.InsertBefore
	}
	switch {
	case pattern == nil || a.InsertAfter != nil && *pattern == "EOF":
		return len(lines), nil
	case a.InsertBefore != nil && *pattern == "BOF":
		return 0, nil
	}
	re, err := e.Expression(pattern)
	if err != nil {
		return 0, err
	}
	at := -1
	if strings.HasPrefix(*pattern, "(?") && strings.Contains(strings.SplitN(*pattern, ")", 2)[0], "m") {
		// A flag for several lines makes the expression see the whole file.
		m, err := re.Search(before)
		if err != nil {
			return 0, err
		}
		if m != nil {
			head, tail := m.Around(0)
			if a.InsertAfter != nil {
				head = before[:len(before)-len(tail)]
			}
			at = strings.Count(head, "\n")
		}
	} else {
		for i, line := range lines {
			hit, err := re.Matches(line)
			if err != nil {
				return 0, err
			}
			if hit {
				at = i
			}
		}
	}
	switch {
	case at < 0:
		return len(lines), nil
	case a.InsertAfter != nil:
		return at + 1, nil
	}
	return at, nil
}

func lastIndex(lines []string, line string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] == line {
			return i
		}
	}
	return -1
}

// split parts as Python's splitlines(True) does: bytes after \n, \r\n and \r, text after every character that ends a
// line.
func (a *blockInFileArgs) split(s string) []string {
	var lines []string
	for s != "" {
		line, end, rest := value.CutLine(s)
		if a.Encoding == "" {
			line, end, rest = cutBytes(s)
		}
		lines, s = append(lines, line+end), rest
	}
	return lines
}

func cutBytes(s string) (line, end, rest string) {
	at := strings.IndexAny(s, "\r\n")
	switch {
	case at < 0:
		return s, "", ""
	case strings.HasPrefix(s[at:], "\r\n"):
		return s[:at], s[at : at+2], s[at+2:]
	}
	return s[:at], s[at : at+1], s[at+1:]
}

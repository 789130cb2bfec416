package general

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/oserr"
	"hark/modules/internal/tool"
)

type iniFileArgs struct {
	Path          string   `arg:"path,required,type=path,alias=dest" doc:"The file."`
	Section       *string  `arg:"section" doc:"The section; without it, what stands before the first one."`
	Option        *string  `arg:"option" doc:"The option; without it the section itself."`
	Value         *string  `arg:"value" doc:"Its value."`
	Values        []string `arg:"values" doc:"Its values, where an option may come more than once."`
	Backup        bool     `arg:"backup,default=no" doc:"Whether to keep the file that was there."`
	State         string   `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be there."`
	Exclusive     bool     `arg:"exclusive,default=yes" doc:"Whether other values of the option go."`
	NoExtraSpaces bool     `arg:"no_extra_spaces,default=no" doc:"Put no spaces around the equals sign."`
	IgnoreSpaces  bool     `arg:"ignore_spaces,extra,default=no" doc:"A line that differs by spaces alone is the same."`
	AllowNoValue  bool     `arg:"allow_no_value,default=no" doc:"Allow options without a value and equals sign."`
	Create        bool     `arg:"create,default=yes" doc:"Whether to make a file that is not there."`
	Follow        bool     `arg:"follow,extra,default=no" doc:"Write to what a link points to instead of replacing the link."`
	fsx.FileArgs
}

// IniFile is community.general.ini_file.
var IniFile = modules.Define("community.general.ini_file", "Tweak settings in INI files", runIniFile,
	modules.WithRules(modules.Rules{Exclusive: [][]string{{"value", "values"}}}),
	modules.Documented(`- community.general.ini_file: {path: /etc/app.ini, section: server, option: port, value: "8080", mode: "0644"}
- community.general.ini_file: {path: /etc/app.ini, section: old, state: absent}
`,
		modules.Return{Name: "msg", Type: "str", When: "always", Doc: "What was done."},
		modules.Return{Name: "path", Type: "str", When: "always", Doc: "The file."},
		modules.Return{Name: "diff", Type: "dict", When: "always", Doc: "The content before and after, empty unless asked for."},
		modules.Return{Name: "backup_file", Type: "str", When: "backup and a change", Doc: "The copy of what was there."},
	))

func runIniFile(_ context.Context, env *modules.Env, a iniFileArgs) (modules.Result, error) {
	if a.State == "present" && !a.AllowNoValue && a.Value == nil && len(a.Values) == 0 {
		return modules.Fail("Parameter 'value(s)' must be defined if state=present and allow_no_value=False.")
	}
	if a.Value != nil {
		a.Values = []string{*a.Value}
	}
	dest := a.Path
	if a.Follow {
		dest = fsx.RealPath(dest)
	}
	raw, err := os.ReadFile(dest)
	switch {
	case os.IsNotExist(err) && !a.Create:
		return modules.Result{}, tool.Fail(map[string]any{"rc": int64(257)}, "Destination %s does not exist!", a.Path)
	case err != nil && !os.IsNotExist(err):
		return modules.Result{}, tool.Fail(nil, "cannot read %s: %s", a.Path, oserr.Path(err, a.Path))
	}
	before := strings.TrimPrefix(string(raw), "\uFEFF")
	e := newIniEdit(&a, before)
	after := e.edit()
	res := modules.Result{Changed: e.changed, Msg: e.msg, Data: map[string]any{"path": a.Path}}
	diff := map[string]any{"before": "", "after": "", "before_header": a.Path + " (content)", "after_header": a.Path + " (content)"}
	if env.Diff {
		diff["before"], diff["after"] = before, after
	}
	res.Diff = []modules.Diff{{Raw: diff}}
	if env.Check {
		return res, nil
	}
	if e.changed {
		if a.Backup {
			backup, err := fsx.Backup(dest, time.Now())
			if err != nil {
				return modules.Result{}, err
			}
			if backup != "" {
				res.Data["backup_file"] = backup
			}
		}
		if err := os.MkdirAll(filepath.Dir(dest), 0o777); err != nil {
			return modules.Result{}, tool.Fail(nil, "cannot make the directory of %s: %s", a.Path, oserr.Path(err, a.Path))
		}
		if err := fsx.WriteFile(dest, []byte(after), a.UnsafeWrites); err != nil {
			return modules.Result{}, err
		}
	}
	if fsx.Exists(dest) {
		did, err := a.For(a.Path, a.Follow).Apply(false, nil)
		if err != nil {
			return modules.Result{}, err
		}
		res.Changed = res.Changed || did
	}
	return res, nil
}

// iniEdit is the change of one section.
type iniEdit struct {
	args   *iniFileArgs
	values []string // that are not in a line yet
	// before, section and after are the lines of the file; a section begins with its header, but for that before all sections.
	before, section, after []string
	found                  bool
	done                   []bool // lines of section that are as they shall be
	changed                bool
	msg                    string
}

func newIniEdit(a *iniFileArgs, content string) *iniEdit {
	e := &iniEdit{args: a, msg: "OK"}
	for _, v := range a.Values {
		if !slices.Contains(e.values, v) {
			e.values = append(e.values, v)
		}
	}
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		lines = []string{"\n"}
	}
	if last := &lines[len(lines)-1]; !strings.HasSuffix(*last, "\n") {
		*last += "\n"
		e.changed = true
	}
	e.part(lines)
	return e
}

// part finds the section.
func (e *iniEdit) part(lines []string) {
	header := "[" + text(e.args.Section) + "]"
	from, to := 0, len(lines)
	e.found = text(e.args.Section) == ""
	for i, line := range lines {
		if header != "[]" && strings.HasPrefix(line, header) {
			from, e.found = i, true
		} else if strings.HasPrefix(line, "[") && e.found {
			to = i
			break
		}
	}
	if !e.found {
		from, to = 0, 0
	}
	e.before, e.section, e.after = lines[:from], slices.Clone(lines[from:to]), lines[to:]
	e.done = make([]bool, len(e.section))
}

func (e *iniEdit) edit() string {
	option := text(e.args.Option)
	switch {
	case e.args.State == "absent":
		e.remove(option)
	case e.found:
		if option != "" {
			e.match(option)
			if e.args.Exclusive && !e.args.AllowNoValue {
				e.override(option)
			}
			e.insert(option)
		}
	}
	out := strings.Join(slices.Concat(e.before, e.section, e.after), "")
	if e.args.State == "present" && !e.found {
		out += e.newSection(option)
	}
	return out
}

func (e *iniEdit) newSection(option string) string {
	out := "[" + text(e.args.Section) + "]\n"
	e.msg, e.changed = "only section added", true
	switch {
	case option != "" && len(e.values) > 0:
		e.msg = "section and option added"
		for _, v := range e.values {
			out += e.assignment(v)
		}
	case option != "" && e.args.AllowNoValue:
		e.msg = "section and option added"
		out += option + "\n"
	}
	return out
}

func (e *iniEdit) assignment(value string) string {
	sign := " = "
	if e.args.NoExtraSpaces {
		sign = "="
	}
	return text(e.args.Option) + sign + value + "\n"
}

// valueOf is what a line assigns to the option; commented tells that lines which are comments count too.
func valueOf(line, option string, commented bool) (string, bool) {
	pattern := `^[ \t]*` + regexp.QuoteMeta(option) + `[ \t]*(?:=|$)[ \t]*(.*)`
	if commented {
		pattern = `^[#;]?` + pattern[1:]
	}
	m := regexp.MustCompile(pattern).FindStringSubmatch(strings.TrimSuffix(line, "\n"))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// set makes a line what it shall be.
func (e *iniEdit) set(i int, line string) {
	same := e.section[i] == line
	if e.args.IgnoreSpaces && !same {
		a, okA := valueOf(e.section[i], text(e.args.Option), false)
		b, _ := valueOf(line, text(e.args.Option), false)
		same = okA && a == b
	}
	e.done[i] = true
	if !same {
		e.section[i] = line
		e.changed, e.msg = true, "option changed"
	}
}

// match keeps the lines that have one of the values.
func (e *iniEdit) match(option string) {
	for i, line := range e.section {
		value, ok := valueOf(line, option, true)
		if !ok {
			continue
		}
		at := slices.Index(e.values, value)
		switch {
		case at >= 0 && value == "" && e.args.AllowNoValue:
			e.set(i, option+"\n")
		case at >= 0:
			e.set(i, e.assignment(value))
		case len(e.values) == 0 && e.args.AllowNoValue:
			e.set(i, option+"\n")
			return
		}
		if at >= 0 {
			e.values = slices.Delete(e.values, at, at+1)
		}
	}
}

// override gives the values that are left to lines of the option, and drops its other lines.
func (e *iniEdit) override(option string) {
	for i := range e.section {
		if _, ok := valueOf(e.section[i], option, true); ok && !e.done[i] && len(e.values) > 0 {
			e.set(i, e.assignment(e.values[0]))
			e.values = e.values[1:]
		}
	}
	// The first line of a section is its header.
	for i := len(e.section) - 1; i > 0 || i == 0 && text(e.args.Section) == ""; i-- {
		if _, ok := valueOf(e.section[i], option, true); ok && !e.done[i] {
			e.section, e.done = slices.Delete(e.section, i, i+1), slices.Delete(e.done, i, i+1)
			e.changed, e.msg = true, "option changed"
		}
	}
}

var iniBlank = regexp.MustCompile(`^[ \t]*([#;].*)?\n?$`)

// insert adds the values that are left after the last line that says something.
func (e *iniEdit) insert(option string) {
	at := len(e.section)
	for at > 0 && iniBlank.MatchString(e.section[at-1]) {
		at--
	}
	if at == 0 && text(e.args.Section) != "" {
		return
	}
	var lines []string
	for _, v := range e.values {
		lines = append(lines, e.assignment(v))
	}
	if len(lines) == 0 && e.args.AllowNoValue && !slices.Contains(e.section, option+"\n") {
		lines = []string{option + "\n"}
	}
	if len(lines) > 0 && !(e.args.AllowNoValue && len(e.values) == 0 && slices.Contains(e.done, true)) {
		e.section = slices.Insert(e.section, at, lines...)
		e.changed, e.msg = true, "option added"
	}
}

// remove drops the option, or the section.
func (e *iniEdit) remove(option string) {
	if option == "" {
		if e.found && len(e.section) > 0 {
			e.section = nil
			e.changed, e.msg = true, "section removed"
		}
		return
	}
	kept := slices.DeleteFunc(slices.Clone(e.section), func(line string) bool {
		value, ok := valueOf(line, option, false)
		return ok && (e.args.Exclusive || slices.Contains(e.values, value))
	})
	if len(kept) != len(e.section) {
		e.section = kept
		e.changed, e.msg = true, "option changed"
	}
}

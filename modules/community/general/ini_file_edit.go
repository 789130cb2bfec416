package general

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules"
)

// iniEdit is the change of one section.
type iniEdit struct {
	args   *iniFileArgs
	values []string // that are not in a line yet
	// before, section and after are the lines of the file; a section begins with its header, but for that before all
	// sections.
	before, section, after []string
	found                  bool
	done                   []bool // lines of section that are as wanted
	bare                   bool   // a line has the option without a value
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

// part finds the section: of several of the name, the first that has what is asked for.
func (e *iniEdit) part(lines []string) {
	name := strings.TrimSpace(modules.Text(e.args.Section))
	header := regexp.MustCompile(`^\[\s*` + regexp.QuoteMeta(name) + `\s*]`)
	from, to := 0, len(lines)
	e.found = name == ""
	for i, line := range lines {
		if !strings.HasPrefix(line, "[") {
			continue
		}
		if e.found && e.suits(lines[from:i]) {
			to = i
			break
		}
		if e.found = name != "" && header.MatchString(line); e.found {
			from = i
		}
	}
	if to == len(lines) && !e.suits(lines[from:]) {
		e.found = false
	}
	if !e.found {
		from, to = 0, 0
	}
	e.before, e.section, e.after = lines[:from], slices.Clone(lines[from:to]), lines[to:]
	e.done = make([]bool, len(e.section))
}

// suits reports whether a section has all that is asked for.
func (e *iniEdit) suits(section []string) bool {
	for _, c := range e.args.Conditions {
		if !slices.ContainsFunc(section, func(line string) bool {
			value, ok := valueOf(line, c.Option, true)
			return ok && (len(c.values()) == 0 || slices.Contains(c.values(), value))
		}) {
			return false
		}
	}
	return true
}

func (e *iniEdit) edit() string {
	option := modules.Text(e.args.Option)
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
	out := "[" + modules.Text(e.args.Section) + "]\n" + e.conditions(option)
	e.msg, e.changed = "only section added", true
	switch {
	case option != "" && len(e.values) > 0:
		e.msg = "section and option added"
		for _, v := range e.values {
			out += e.assignment(option, v)
		}
	case option != "" && e.args.AllowNoValue:
		e.msg = "section and option added"
		out += option + "\n"
	}
	return out
}

// conditions returns the lines that a new section needs to be found again. What is asked of the option itself joins
// its values.
func (e *iniEdit) conditions(option string) string {
	out := ""
	for _, c := range e.args.Conditions {
		values := c.values()
		switch {
		case c.Option == option:
			for _, v := range values {
				if !e.args.Exclusive && !slices.Contains(e.values, v) {
					e.values = append(e.values, v)
				}
			}
		case len(values) == 0 && e.args.AllowNoValue:
			out += c.Option + "\n"
		}
		for _, v := range values {
			if c.Option != option {
				out += e.assignment(c.Option, v)
			}
		}
	}
	return out
}

func (e *iniEdit) assignment(option, value string) string {
	sign := " = "
	if e.args.NoExtraSpaces {
		sign = "="
	}
	return option + sign + value + "\n"
}

// valueOf returns what a line assigns to the option; with commented, lines that are comments count too.
func valueOf(line, option string, commented bool) (string, bool) {
	pattern := `^[ \t]*` + regexp.QuoteMeta(option) + `[ \t]*(?:=|$)[ \t]*(.*)`
	if commented {
		pattern = `^[ \t]*[#;]?` + pattern[1:]
	}
	m := regexp.MustCompile(pattern).FindStringSubmatch(strings.TrimSuffix(line, "\n"))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// set sets a line to the wanted text.
func (e *iniEdit) set(i int, line string) {
	same := e.section[i] == line
	if e.args.IgnoreSpaces && !same {
		a, okA := valueOf(e.section[i], modules.Text(e.args.Option), false)
		b, _ := valueOf(line, modules.Text(e.args.Option), false)
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
		value, ok := valueOf(line, option, e.args.Inactive)
		if !ok {
			continue
		}
		at := slices.Index(e.values, value)
		switch {
		case at >= 0 && value == "" && e.args.AllowNoValue:
			e.bare = true
			e.set(i, option+"\n")
		case at >= 0:
			e.set(i, e.assignment(option, value))
		case len(e.values) == 0 && e.args.AllowNoValue:
			e.bare = true
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
		if _, ok := valueOf(e.section[i], option, e.args.Inactive); ok && !e.done[i] && len(e.values) > 0 {
			e.set(i, e.assignment(option, e.values[0]))
			e.values = e.values[1:]
		}
	}
	// The first line of a section is its header.
	for i := len(e.section) - 1; i > 0 || i == 0 && modules.Text(e.args.Section) == ""; i-- {
		if _, ok := valueOf(e.section[i], option, e.args.Inactive); ok && !e.done[i] {
			e.section, e.done = slices.Delete(e.section, i, i+1), slices.Delete(e.done, i, i+1)
			e.changed, e.msg = true, "option changed"
		}
	}
}

var iniBlank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*([#;].*)?\n?$`) })

// insert adds the values that are left after the last line that says something.
func (e *iniEdit) insert(option string) {
	at := len(e.section)
	for at > 0 && iniBlank().MatchString(e.section[at-1]) {
		at--
	}
	if at == 0 && modules.Text(e.args.Section) != "" {
		return
	}
	var lines []string
	for _, v := range e.values {
		lines = append(lines, e.assignment(option, v))
	}
	if len(lines) == 0 && e.args.AllowNoValue && !e.bare {
		lines = []string{option + "\n"}
	}
	if len(lines) > 0 {
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

package config

import (
	"fmt"
	"strings"

	"hark/modules/py/value"
)

// iniFile is an ansible.cfg: values by section and lower-case name, as Python's configparser reads it.
type iniFile map[string]map[string]string

// parseINI reads an ansible.cfg. Lines that start with # or ; are comments, and so is what follows " ;";
// a value goes on in the indented lines below it.
func parseINI(text string) (iniFile, error) {
	p := iniParser{file: iniFile{}}
	for i, line := range strings.SplitAfter(text, "\n") {
		if err := p.line(i+1, line); err != nil {
			return nil, err
		}
	}
	if len(p.bad) > 0 {
		return nil, failf("Source contains parsing errors: '<string>'\n%s", strings.Join(p.bad, "\n"))
	}
	for section, values := range p.file {
		for name, v := range p.file["DEFAULT"] {
			if _, ok := values[name]; !ok && section != "DEFAULT" {
				values[name] = v
			}
		}
	}
	return p.file, nil
}

type iniParser struct {
	file    iniFile
	section string // "" before the first
	name    string // of the value that may go on
	indent  int    // of the line where it started
	bad     []string
}

func (p *iniParser) line(n int, raw string) error {
	text := stripComment(raw)
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		if strings.TrimSpace(raw) == "" && p.name != "" {
			p.file[p.section][p.name] += "\n"
		}
		return nil
	}
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	if p.name != "" && indent > p.indent {
		p.file[p.section][p.name] += "\n" + trimmed
		return nil
	}
	p.indent = indent
	if strings.HasPrefix(trimmed, "[") && strings.Contains(trimmed, "]") {
		return p.header(n, trimmed)
	}
	if p.section == "" {
		return failf("File contains no section headers.\nfile: '<string>', line: %d\n%s", n, shown(raw))
	}
	return p.value(n, raw, trimmed)
}

func (p *iniParser) header(n int, text string) error {
	section := text[1:strings.Index(text, "]")]
	if _, ok := p.file[section]; ok && section != "DEFAULT" {
		return failf("While reading from '<string>' [line %2d]: section '%s' already exists", n, section)
	}
	p.file[section] = map[string]string{}
	p.section, p.name = section, ""
	return nil
}

func (p *iniParser) value(n int, raw, text string) error {
	at := strings.IndexAny(text, "=:")
	if at <= 0 {
		p.name = ""
		p.bad = append(p.bad, fmt.Sprintf("\t[line %2d]: %s", n, shown(raw)))
		return nil
	}
	name := strings.ToLower(strings.TrimSpace(text[:at]))
	if _, ok := p.file[p.section][name]; ok {
		return failf("While reading from '<string>' [line %2d]: option '%s' in section '%s' already exists", n, name,
			p.section)
	}
	p.name = name
	p.file[p.section][name] = strings.TrimSpace(text[at+1:])
	return nil
}

// stripComment takes a comment out of a line: a whole line of it, or what follows a ; after a blank.
func stripComment(line string) string {
	if t := strings.TrimSpace(line); strings.HasPrefix(t, "#") || strings.HasPrefix(t, ";") {
		return ""
	}
	for i := 1; i < len(line); i++ {
		if line[i] == ';' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// shown returns a line as messages quote it: whole, unless it is longer than anything that was meant to be a line.
func shown(line string) string {
	const most = 300
	if len(line) > most {
		line = line[:most] + "..."
	}
	return value.ReprText(line)
}

// get returns the trimmed value of a key.
func (f iniFile) get(k Key) (string, bool) {
	v, ok := f[k.Section][strings.ToLower(k.Name)]
	return strings.TrimRight(v, "\n"), ok
}

// failf is an error in the words of Python's configparser, as users know them.
func failf(format string, a ...any) error { return &Error{fmt.Sprintf(format, a...)} }

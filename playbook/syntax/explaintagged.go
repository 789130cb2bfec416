package syntax

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"hark/playbook/jinja/pyyaml"
)

// The mistakes that ansible-core 2.19 recognises in the text of a line.
var (
	unquotedTemplate = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:-\s+)*(?:[\w\s]+:\s+)?(\{\{.*\}\})`) })
	lineValue = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:-\s+)*(?:[\w\s\[\]{}]+:\s+)?(.*)$`) })
	wholeQuoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*('[^']*'|"[^"]*")\s*$`) })
	looseColon  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:($| )`) })
	quotedValue = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:-\s+)*(?:[\w\s]+:\s+)?(["'].*?\s*)$`) })
	blanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s+`) })
)

// guess is a known mistake: the message, the bytes of the line before it, and how to fix it.
type guess struct {
	msg    string
	at     int
	wrong  string // a line such as the user's
	proper string
}

// taggedSyntax returns what ansible-core 2.19 says of a text that is no YAML, and the place that it names.
func taggedSyntax(e *pyyaml.Error, p Place, text []byte) (string, Place) {
	msg, help := "", ""
	if e.Mark.Line == 0 {
		msg = e.Problem + ". " + e.Tail
	} else if g := guessed(lineOf(text, p.Line)); g != nil {
		msg = g.msg
		p.Column = utf8.RuneCountInString(lineOf(text, p.Line)[:g.at]) + 1
		if g.wrong != "" {
			help = "\n\n\nFor example:\n\n    raw: " + g.wrong + "\n\nShould be:\n\n    raw: " + g.proper + "\n"
		}
	}
	if msg == "" {
		msg = strings.TrimSpace(blanks().ReplaceAllString(e.Context+" "+e.Problem, " "))
		if msg != "" {
			msg = strings.ToUpper(msg[:1]) + msg[1:]
		}
		if !strings.HasSuffix(msg, ".") {
			msg += "."
		}
	}
	return "YAML parsing failed: " + msg + "\n" + Origin(p, text) + help, p
}

func lineOf(text []byte, line int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return lines[line-1]
}

// guessed returns the mistake that a line seems to have, nil if there is none.
func guessed(line string) *guess {
	if at := strings.IndexByte(line, '\t'); at >= 0 {
		return &guess{msg: "Tabs are usually invalid in YAML.", at: at}
	}
	if m := unquotedTemplate().FindStringSubmatchIndex(line); m != nil {
		return &guess{"This may be an issue with missing quotes around a template block.", m[2], "{{ some_var }}",
			`"{{ some_var }}"`}
	}
	if at := strayColon(line); at >= 0 {
		return &guess{"Colons in unquoted values must be followed by a non-space character.", at, "echo 'name: ansible'",
			`"echo 'name: ansible'"`}
	}
	m := quotedValue().FindStringSubmatchIndex(line)
	if m == nil {
		return nil
	}
	v := line[m[2]:m[3]]
	switch first, last := v[0], v[len(v)-1]; {
	case first != last:
		return &guess{"Values starting with a quote must end with the same quote.", m[2], `"foo" in bar`, `'"foo" in bar'`}
	case strings.Count(line, string(first)) > 2:
		return &guess{"Values starting with a quote must end with the same quote, and not contain that quote.", m[2],
			`"foo" in "bar"`, `'"foo" in "bar"'`}
	}
	return nil
}

// strayColon returns where a value without quotes has a colon before a blank, -1 if it has none.
func strayColon(line string) int {
	if strings.HasPrefix(strings.TrimSpace(line), ":") {
		return -1
	}
	m := lineValue().FindStringSubmatchIndex(line)
	if m == nil {
		return -1
	}
	v := line[m[2]:m[3]]
	if wholeQuoted().MatchString(v) {
		return -1
	}
	if c := looseColon().FindStringIndex(v); c != nil {
		return m[2] + c[0]
	}
	return -1
}

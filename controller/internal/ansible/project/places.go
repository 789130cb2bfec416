package project

import (
	"os"
	"strconv"
	"strings"

	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/syntax"
	"hark/playbook/vault"
)

// Where returns the paragraph on the place of a task in a playbook, file:line:column, or of the value of one of its
// keywords.
func (p *Project) Where(place, keyword string) string {
	at, ok := parsePlace(place)
	if ok && keyword != "" {
		at = p.Loader.FindValue(keyword, at)
	}
	switch {
	case !ok:
		return ""
	case p.Level.Has(dialect.PlaybookWords):
		return syntax.Origin(at, plainText(at.File)) + "\n"
	}
	return syntax.Explain(at, plainText(at.File))
}

// Origin returns the place of a spot of a task, which is at file:line:column, with what stands there. The loader has
// read the playbooks; extra are the variables of -e.
func Origin(l *syntax.Loader, extra *value.Dict, task string, s view.Spot) string {
	if s.File != "" {
		return "Origin: " + s.File
	}
	at, ok := parsePlace(task)
	if !ok {
		return "Origin: <unknown>"
	}
	if s.Name != "" {
		return l.NameOrigin(s.Name, at, extra)
	}
	if s.Var != "" {
		path := strings.Split(s.Var, ".")
		if of, found := l.FindVar(path, s.Item, at); found {
			return syntax.Origin(of, nil)
		}
		if _, isExtra := extra.Get(path[0]); isExtra {
			return "Origin: <CLI option '-e'>"
		}
	}
	if s.Key == "" && s.Text != "" && !templar.AllTemplate(strings.TrimSpace(s.Text)) {
		if of, found := l.FindCondition(s.Text, at); found {
			return syntax.Origin(of, plainText(of.File))
		}
	}
	switch {
	case s.Value:
		at = l.FindValue(s.Key, at)
	case s.Key != "":
		at = l.FindKey(s.Key, at)
	case strings.TrimSpace(s.Text) != "":
		if at, ok = l.Find(s.Text, at); !ok {
			return "Origin: <unknown>\n\n" + shorten(s.Text)
		}
	case s.Text != "":
		return "Origin: <unknown>"
	}
	return syntax.Origin(at, plainText(at.File))
}

// AdHocOrigin is Origin for a task of the command line: a module with its arguments, and the options of a task in the
// background.
func AdHocOrigin(module string, args *value.Dict, background, poll int, s view.Spot) string {
	if strings.TrimSpace(s.Text) != "" {
		return "Origin: <CLI option '-a'>\n\n" + shorten(s.Text)
	}
	task := value.DictOf("action", module, "args", args, "timeout", 0, "async_val", background, "poll", poll)
	return "Origin: <adhoc '" + module + "' task>\n\n" + shorten(value.PrintedRepr(task))
}

// plainText returns what a file holds; nil where it cannot be read or is a vault's.
func plainText(file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil || vault.IsEncrypted(text) {
		return nil
	}
	return text
}

// shorten returns a text in one line of at most 120 characters.
func shorten(text string) string {
	const most, mark = 120, " [...]"
	text = strings.Join(strings.Fields(text), " ")
	if len([]rune(text)) <= most {
		return text
	}
	cut := string([]rune(text)[:most-len(mark)+1])
	if i := strings.LastIndex(cut, " "); i > 0 {
		return cut[:i] + mark
	}
	return strings.TrimSpace(mark)
}

func parsePlace(text string) (syntax.Place, bool) {
	parts := strings.Split(text, ":")
	if len(parts) < 3 {
		return syntax.Place{}, false
	}
	line, err1 := strconv.Atoi(parts[len(parts)-2])
	column, err2 := strconv.Atoi(parts[len(parts)-1])
	file := strings.Join(parts[:len(parts)-2], ":")
	return syntax.Place{File: file, Line: line, Column: column}, err1 == nil && err2 == nil
}

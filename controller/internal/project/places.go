package project

import (
	"os"
	"strconv"
	"strings"

	"hark/controller/internal/view"
	"hark/playbook/syntax"
	"hark/playbook/vault"
)

// Where is the paragraph on a place in a playbook, file:line:column.
func Where(place string) string {
	at, ok := parsePlace(place)
	if !ok {
		return ""
	}
	return syntax.Explain(at, plainText(at.File))
}

// Origin is the place of a spot of a task, which is at file:line:column, with what stands there. The loader has read the playbooks.
func Origin(l *syntax.Loader, task string, s view.Spot) string {
	if s.File != "" {
		return "Origin: " + s.File
	}
	at, ok := parsePlace(task)
	if !ok {
		return "Origin: <unknown>"
	}
	if s.Text != "" {
		if at, ok = l.Find(s.Text, at); !ok {
			return "Origin: <unknown>\n\n" + s.Text
		}
	}
	if s.Key != "" {
		at = l.FindKey(s.Key, at)
	}
	return syntax.Origin(at, plainText(at.File))
}

// plainText is what a file holds; nil where it cannot be read or is a vault's.
func plainText(file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil || vault.IsEncrypted(text) {
		return nil
	}
	return text
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

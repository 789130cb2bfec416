package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"hark/playbook/level"
	"hark/playbook/move"
	"hark/playbook/plan"
)

// moving tells that somebody asks what the level that he names would change.
func (j *playJob) moving() bool { return j.syntax && levelNamed(j.chosen).Tagged() }

// levelNamed is a level that was chosen, the first if none was.
func levelNamed(chosen string) plan.Level {
	l, _ := level.Parse(chosen)
	return l
}

// move prints what becomes of the playbooks when they move from level 2.14 to the one that is named.
func (l listing) move(books []string) {
	report := l.Move(books)
	var b strings.Builder
	b.WriteString("\nFrom level 2.14 to level " + l.Level.String() + ":\n")
	for _, f := range report.Findings {
		b.WriteString("  " + l.finding(f) + "\n")
	}
	fmt.Fprintf(&b, "\nRead: %s with %s and %s. ", counted(report.Files, "file"), counted(report.Conditions, "condition"), counted(report.Templates, "template"))
	fmt.Fprintf(&b, "%d would fail, %d mean something else, %d are deprecated.\n", report.Count(move.Fails), report.Count(move.Differs), report.Count(move.Warns))
	for _, open := range []struct {
		n           int
		thing, what string
	}{
		{report.Unknown, "condition", "on values that only a run has: each must give a bool"},
		{report.Unfollowed, "name", "of files and roles that only a run has: what they lead to was not read"},
		{report.Plugins, "file", "of plug-ins and modules in Python, which get values of their own types"},
	} {
		if open.n > 0 {
			fmt.Fprintf(&b, "Not seen: %s %s.\n", counted(open.n, open.thing), open.what)
		}
	}
	for _, err := range report.Unread {
		b.WriteString("Not read: " + strings.Join(strings.Fields(err.Error()), " ") + "\n")
	}
	b.WriteString("What templates give, and errors in them, only a run shows: hark play --level " + l.Level.String() + " --check. docs/levels.md has all that differs.")
	l.line(b.String())
}

// finding is the line of a finding.
func (l listing) finding(f move.Finding) string {
	at := f.Origin
	if at == "" {
		place := f.Place
		if rel, err := filepath.Rel(l.cfg.Dir(), place.File); err == nil && filepath.IsLocal(rel) {
			place.File = rel
		}
		at = place.String()
	}
	text := at + ": [" + f.Row.ID + "] " + f.What + ": "
	switch {
	case f.Effect == move.Warns:
		text += "is deprecated"
	case f.Effect == move.Fails && f.Perhaps:
		text += "may be an error"
	default:
		text += f.Row.After
	}
	if f.Instead != "" {
		text += "; write " + f.Instead
	}
	return text
}

// counted is a number of things, with its plural.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

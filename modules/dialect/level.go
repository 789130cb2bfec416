package dialect

import (
	"fmt"
	"slices"

	"hark/modules/py/ident"
)

// Level is the language of a playbook, named by the first release of ansible-core that speaks it. Levels are ordered
// as their texts are. The zero value is Level214, which stands for the releases up to 2.18.
type Level string

// The levels.
const (
	Level214 Level = ""
	Level219 Level = "2.19"
	Level220 Level = "2.20"
	Level221 Level = "2.21"
	Level222 Level = "2.22"
)

// Levels returns all levels, oldest first.
func Levels() []Level { return []Level{Level214, Level219, Level220, Level221, Level222} }

// String returns the level as users give it.
func (l Level) String() string {
	if l == Level214 {
		return "2.14"
	}
	return string(l)
}

// Known reports whether there is such a level.
func (l Level) Known() bool { return slices.Contains(Levels(), l) }

// Has reports whether the level has a change. It is the only way in which code asks what a level does.
func (l Level) Has(c *Change) bool { return l >= c.Level() }

// Takes reports whether a module of the level has an option that came with one release and went with another, "" for
// neither. What came with 2.15 to 2.18 is taken at every level, and what went with them as well.
func (l Level) Takes(since, until Level) bool {
	return (since < Level219 || l >= since) && (until == "" || l < until)
}

// NamesVariable reports whether a variable may have a name.
func (l Level) NamesVariable(name string) bool {
	if l.Has(VariableNames) {
		return ident.Jinja(name)
	}
	return ident.Python(name)
}

// Core returns the release of ansible-core whose answers the level gives.
func (l Level) Core() (major, minor, patch int) {
	switch l {
	case Level214:
		return 2, 14, 18
	case Level219:
		return 2, 19, 11
	case Level220:
		return 2, 20, 9
	case Level221:
		return 2, 21, 3
	}
	return 2, 22, 0
}

// CoreVersion is Core as a text: 2.14.18.
func (l Level) CoreVersion() string {
	major, minor, patch := l.Core()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// Change is something that differs between releases of ansible-core: a row of the table that code asks (Level.Has)
// and that people read (docs/levels.md).
type Change struct {
	// ID names the row; it does not change.
	ID string
	// Since is the first release with the new behaviour: changes of 2.15 to 2.18 are not told apart from those of
	// 2.19 by a level, and each release since 2.20 is a level of its own.
	Since string
	// With is the change that code asks in place of this one, since they came together; nil if code asks this one.
	With *Change
	// What is the thing; Before and After are what the releases before it and what it does.
	What, Before, After string
	// Where is the package in which the language decides. It is empty for what hark does not do yet.
	Where string
	// Instead is what to write that means in both languages what was meant; "" if nothing is to be written.
	Instead string
}

// Built reports whether hark does it.
func (c *Change) Built() bool { return c.Where != "" }

// Level returns the first level that has the change.
func (c *Change) Level() Level { return max(Level(c.Since), Level219) }

// Changes returns all that are known, as seen beside ansible-core 2.14.18, 2.19.11 and 2.22.0b2.
func Changes() []*Change {
	return slices.Concat(valuesChanges(), playsChanges(), foundChanges(), messagesChanges(), newerChanges(), openChanges())
}

// ChangeOf returns the change of an id, nil if there is none.
func ChangeOf(id string) *Change {
	all := Changes()
	if i := slices.IndexFunc(all, func(c *Change) bool { return c.ID == id }); i >= 0 {
		return all[i]
	}
	return nil
}

// Places of the language that several changes name.
const (
	templar = "playbook/jinja/templar"
	engine  = "playbook/jinja"
	filters = "playbook/jinja/filters"
	runner  = "agent/internal/runner"
	view    = "controller/internal/ui/view"
	compile = "playbook/compile"
)

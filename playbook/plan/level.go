package plan

import (
	"fmt"
	"slices"

	"hark/modules/py/ident"
)

// Level is the language of a playbook, named by the first release of ansible-core that speaks it. Levels are ordered as their texts are.
// The zero value is Level214.
type Level string

// The levels.
const (
	Level214 Level = ""
	Level219 Level = "2.19"
	Level220 Level = "2.20"
	Level221 Level = "2.21"
	Level222 Level = "2.22"
)

// Levels are all levels, oldest first.
func Levels() []Level { return []Level{Level214, Level219, Level220, Level221, Level222} }

// String is the level as users give it.
func (l Level) String() string {
	if l == Level214 {
		return "2.14"
	}
	return string(l)
}

// Known tells that there is such a level.
func (l Level) Known() bool { return slices.Contains(Levels(), l) }

// Since tells that the level is that of a release or a later one.
func (l Level) Since(release Level) bool { return l >= release }

// Tagged tells that values carry whether they are trusted as templates, keep their types and may stay undefined until they are used.
func (l Level) Tagged() bool { return l.Since(Level219) }

// NamesVariable tells whether a variable may have a name.
func (l Level) NamesVariable(name string) bool {
	if l.Tagged() {
		return ident.Jinja(name)
	}
	return ident.Python(name)
}

// Core is the release of ansible-core whose answers the level gives.
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

// VersionOf is the version of the format that a plan of the level needs: agents that know nothing of levels, or of none above 2.19, would
// take a later one for 2.14. Agents of today ask Known.
func VersionOf(l Level) int {
	switch l {
	case Level214:
		return Version - 2
	case Level219:
		return Version - 1
	}
	return Version
}

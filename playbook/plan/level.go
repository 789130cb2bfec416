package plan

import (
	"fmt"

	"hark/modules/py/ident"
)

// Level is the language of a playbook, named by the first release of ansible-core that speaks it. The zero value is Level214.
type Level string

// The levels.
const (
	Level214 Level = ""
	Level219 Level = "2.19"
)

// String is the level as users give it.
func (l Level) String() string {
	if l == Level214 {
		return "2.14"
	}
	return string(l)
}

// Tagged tells that values carry whether they are trusted as templates, keep their types and may stay undefined until they are used.
func (l Level) Tagged() bool { return l == Level219 }

// NamesVariable tells whether a variable may have a name.
func (l Level) NamesVariable(name string) bool {
	if l.Tagged() {
		return ident.Jinja(name)
	}
	return ident.Python(name)
}

// Core is the release of ansible-core that the level was compared with.
func (l Level) Core() (major, minor, patch int) {
	if l.Tagged() {
		return 2, 19, 11
	}
	return 2, 14, 18
}

// CoreVersion is Core as a text: 2.14.18.
func (l Level) CoreVersion() string {
	major, minor, patch := l.Core()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// VersionOf is the version of the format that a plan of the level needs: agents that know nothing of levels would take a later one for 2.14.
func VersionOf(l Level) int {
	if l == Level214 {
		return Version - 1
	}
	return Version
}

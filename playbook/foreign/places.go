package foreign

import (
	"os"
	"path/filepath"
	"slices"
)

// places are the directories in which one kind of thing is looked for. As in Ansible the first playbook or role that
// was read comes first, wherever the task stands, and the settings come last.
type places struct {
	own []string // of playbooks and roles
	// expected are those of roles that lie beside a playbook and may be read yet.
	expected []string
	settings []string
}

func (p *places) add(dir string)    { p.own = appendDir(p.own, dir) }
func (p *places) expect(dir string) { p.expected = appendDir(p.expected, dir) }

// configure takes the directories of a setting, nearest first. What lies in directories below them, two deep, hides
// what lies in them.
func (p *places) configure(dirs []string) {
	for _, dir := range dirs {
		for _, pattern := range []string{"*", "*/*"} {
			below, _ := filepath.Glob(filepath.Join(escape(dir), pattern))
			for _, d := range below {
				p.settings = appendDir(p.settings, d)
			}
		}
		p.settings = appendDir(p.settings, dir)
	}
}

// dirs returns all of them, nearest first.
func (p *places) dirs() []string { return slices.Concat(p.own, p.expected, p.settings) }

func appendDir(list []string, dir string) []string {
	if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(list, dir) {
		return append(list, dir)
	}
	return list
}

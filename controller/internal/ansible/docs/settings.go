package docs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hark/controller/config"
)

const settingsHead = `# Settings

A setting comes from the command line, else from the environment, else from the first of ` + "`$ANSIBLE_CONFIG`, `./ansible.cfg`,\n" +
	"`~/.ansible.cfg` and `/etc/ansible/ansible.cfg`, else it has its default. `hark config dump` shows all values and where" + `
each came from.

`

// SettingsPage is docs/settings.md. Ansible's settings are those of the newest level.
func SettingsPage() string {
	var b strings.Builder
	b.WriteString(strings.Replace(madeBy, "the modules' declarations", "the table of settings (controller/config)", 1) +
		settingsHead)
	all := config.Settings()
	slices.SortFunc(all, func(a, b config.Setting) int { return cmp.Compare(a.Name, b.Name) })
	for _, own := range []bool{true, false} {
		if own {
			b.WriteString("## hark's own\n\n| variable | in ansible.cfg | default | meaning |\n|---|---|---|---|\n")
		} else {
			b.WriteString(
				"\n## Ansible's\n\nVariables and entries are Ansible's; the last column says what hark does with them.\n\n" +
					"| setting | variable | in ansible.cfg | default | meaning |\n|---|---|---|---|---|\n")
		}
		for _, s := range all {
			if s.Own() != own || s.Until != nil {
				continue
			}
			if !own {
				fmt.Fprintf(&b, "| %s ", s.Name)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", ticked(s.Env), ticked(keyNames(s.Keys)), shownDefault(s),
				cell(s.Doc))
		}
	}
	return b.String()
}

// ticked returns names as code, separated by commas.
func ticked(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, "`"+n+"`")
	}
	return strings.Join(all, ", ")
}

func keyNames(keys []config.Key) []string {
	var all []string
	for _, k := range keys {
		all = append(all, fmt.Sprintf("[%s] %s", k.Section, k.Name))
	}
	return all
}

// shownDefault returns the default of a setting, empty if it has none.
func shownDefault(s config.Setting) string {
	def := s.Default
	if s.Newer != "" {
		def = s.Newer
	}
	if def == "" || s.NoDefault {
		return ""
	}
	def = strings.NewReplacer("@home", "~/.ansible", "@hark", "~/.config/hark", "|", `\|`, "\n", " ").Replace(def)
	return "`" + def + "`"
}

package shell

import (
	"slices"
	"strings"
)

// Complete returns what may stand in place of the last word of a line: commands and modules, of cd hosts and groups, of
// list its word, of a module its arguments with =.
func (c *Shell) Complete(line string) []string {
	words := strings.Split(line, " ")
	last := words[len(words)-1]
	var all []string
	switch {
	case len(words) == 1:
		for _, x := range commands() {
			all = append(all, x.name)
		}
		for _, m := range c.Modules {
			all = append(all, m.Name)
			if short, own := strings.CutPrefix(m.Name, builtin); own && strings.HasPrefix(short, last) && last != "" {
				all = append(all, short)
			}
		}
	case words[0] == "cd":
		all = c.Groups()
		if hosts, err := c.Hosts("all"); err == nil {
			all = append(slices.Clone(all), hosts...)
		}
	case words[0] == "list":
		all = []string{"groups"}
	case words[0] == "help":
		for _, x := range commands() {
			all = append(all, x.name)
		}
		for _, m := range c.Modules {
			all = append(all, m.Name)
		}
	case slices.Contains([]string{"become", "check", "diff"}, words[0]):
		all = []string{"yes", "no"}
	default:
		m, _ := c.module(words[0])
		for _, p := range m.Params {
			all = append(all, p.Name+"=")
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(word string) bool { return !strings.HasPrefix(word, last) })
	slices.Sort(all)
	return slices.Compact(all)
}

// Extend returns a line with its last word completed as far as that goes: to the end and a space where one thing only
// can be meant. The second value are the choices that are left where it goes no further.
func Extend(line string, choices []string) (string, []string) {
	if len(choices) == 0 {
		return line, nil
	}
	common := choices[0]
	for _, x := range choices[1:] {
		for !strings.HasPrefix(x, common) {
			common = common[:len(common)-1]
		}
	}
	at := strings.LastIndexByte(line, ' ') + 1
	if len(choices) == 1 && !strings.HasSuffix(common, "=") {
		common += " "
	}
	if line[at:] == common {
		return line, choices
	}
	return line[:at] + common, nil
}

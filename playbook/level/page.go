package level

import "strings"

const pageHead = `<!-- Made from playbook/level/table.go: go test ./playbook/level -update -->

# What differs between language levels

hark speaks the language of ansible-core 2.14, and with level 2.19 that of ansible-core 2.19; [language.md](language.md#language-levels) tells how one is chosen.
The releases from 2.15 to 2.18 are of level 2.14; what they changed is built at level 2.19. Each row was seen beside ansible-core 2.14.18 and 2.19.11.
[Moving a project](language.md#moving-a-project) tells how to have the places of a project named that rows speak of.

`

// Page is docs/levels.md.
func Page() string {
	var built, open strings.Builder
	for _, r := range Table() {
		b := &open
		if r.Built() {
			b = &built
		}
		b.WriteString("| " + r.ID + " | " + r.Since + " | " + cell(r.What) + " | " + cell(r.Before) + " | " + cell(r.After) + " | " + cell(r.Instead) + " |")
		if r.Built() {
			b.WriteString(" `" + r.Where + "` |")
		}
		b.WriteString("\n")
	}
	return pageHead + "## What level 2.19 does\n\n| | since | what | 2.14 | later | write instead | decided in |\n|---|---|---|---|---|---|---|\n" + built.String() +
		"\n## What level 2.19 does not do yet\n\n| | since | what | 2.14 | later | write instead |\n|---|---|---|---|---|---|\n" + open.String()
}

// cell is a text within a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

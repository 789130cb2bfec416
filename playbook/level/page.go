package level

import (
	"strings"

	"hark/modules/dialect"
)

const pageHead = `<!-- Made from modules/dialect: go test ./playbook/level -update -->

# What differs between language levels

hark speaks the language of ansible-core 2.14, and with the levels 2.19 to 2.22 those of the later releases; [language.md](language.md#language-levels) tells how one is chosen.
The releases from 2.15 to 2.18 are of level 2.14; what they changed is built at level 2.19. A level does all rows up to its release. Those up to 2.19 were seen beside ansible-core 2.14.18 and 2.19.11,
later ones beside 2.19.11 and 2.22.0b2 under the same Python. 2.20 and 2.21 could not be had: their rows are dated by the release notes, and what these do not date by the rework of results in 2.21 that it came with.

`

// Page is docs/levels.md.
func Page() string {
	var built, open strings.Builder
	for _, r := range dialect.Changes() {
		b := &open
		if r.Built() {
			b = &built
		}
		b.WriteString("| " + r.ID + " | " + r.Since + " | " + cell(r.What) + " | " + cell(r.Before) + " | " + cell(r.After) +
			" | " + cell(r.Instead) + " |")
		if r.Built() {
			b.WriteString(" `" + r.Where + "` |")
		}
		b.WriteString("\n")
	}
	return pageHead +
		"## What the levels do\n\n| | since | what | before | later | write instead | decided in " +
		"|\n|---|---|---|---|---|---|---|\n" + built.String() +
		"\n## What they do not do yet\n\n| | since | what | before | later | write instead |\n|---|---|---|---|---|---|\n" +
		open.String()
}

// cell returns a text within a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

package docs

import (
	"fmt"
	"slices"
	"strings"

	"hark/modules"
)

// madeBy is the first line of every page.
const madeBy = "<!-- Made from the modules' declarations: go test ./controller/internal/ansible/docs -update -->\n\n"

// Pages returns the files of docs/modules by name: a page for each module that hark runs, and README.md with the
// list.
func Pages(list []*modules.Module) map[string]string {
	list = slices.DeleteFunc(slices.Clone(list), func(m *modules.Module) bool { return m.Foreign })
	slices.SortFunc(list, func(a, b *modules.Module) int { return strings.Compare(a.Name, b.Name) })
	pages := map[string]string{}
	var index strings.Builder
	index.WriteString(madeBy + "# Modules\n\nThe modules that hark runs itself, without Python on the target.\n\n| " +
		"module | what it does |\n|---|---|\n")
	for _, m := range list {
		pages[m.Name+".md"] = page(m)
		fmt.Fprintf(&index, "| [%s](%s.md) | %s |\n", m.Name, m.Name, m.Doc)
	}
	pages["README.md"] = index.String()
	return pages
}

func page(m *modules.Module) string {
	var b strings.Builder
	b.WriteString(madeBy + "# " + m.Name + "\n\n" + m.Doc + "\n")
	if len(m.OtherNames) > 0 {
		b.WriteString("\nAlso called " + strings.Join(m.OtherNames, ", ") + ".\n")
	}
	if params := shownParams(m.Params()); len(params) > 0 {
		b.WriteString("\n## Arguments\n\n| name | type | default | meaning |\n|---|---|---|---|\n")
		writeRows(&b, params, "")
	}
	b.WriteString(rulesText(m.Rules))
	if m.AnyArgs {
		b.WriteString("\nAny other name is an argument, too.\n")
	}
	if m.Examples != "" {
		b.WriteString("\n## Examples\n\n```yaml\n" + strings.Trim(m.Examples, "\n") + "\n```\n")
	}
	if len(m.Returns) > 0 {
		b.WriteString("\n## Results\n\n| name | type | when | meaning |\n|---|---|---|---|\n")
		for _, r := range m.Returns {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.Name, r.Type, r.When, cell(r.Doc))
		}
	}
	return b.String()
}

func writeRows(b *strings.Builder, params []modules.Param, prefix string) {
	for _, p := range params {
		kind := p.Type
		if p.Elements != "" {
			kind += " of " + p.Elements
		}
		def := ""
		switch {
		case p.Required:
			def = "**required**"
		case p.Default != nil:
			def = "`" + defaultText(p) + "`"
		}
		fmt.Fprintf(b, "| %s%s | %s | %s | %s |\n", prefix, p.Name, kind, def, cell(meaning(p)))
		writeRows(b, shownParams(p.Options), prefix+p.Name+".")
	}
}

// meaning returns a parameter's line with its choices and other names.
func meaning(p modules.Param) string {
	parts := []string{}
	if p.Doc != "" {
		parts = append(parts, p.Doc)
	}
	if len(p.Choices) > 0 {
		parts = append(parts, "One of "+strings.Join(p.Choices, ", ")+".")
	}
	if len(p.Aliases) > 0 {
		parts = append(parts, "Also "+strings.Join(p.Aliases, ", ")+".")
	}
	if p.Since != "" {
		parts = append(parts, "Since ansible-core "+string(p.Since)+".")
	}
	if p.Until != "" {
		parts = append(parts, "Gone in ansible-core "+string(p.Until)+".")
	}
	return strings.Join(parts, " ")
}

// cell is text within a table.
func cell(s string) string { return strings.NewReplacer("|", "\\|", "\n", " ").Replace(s) }

// rulesText returns the rules that arguments obey together.
func rulesText(r modules.Rules) string {
	var lines []string
	add := func(format string, groups [][]string) {
		for _, g := range groups {
			lines = append(lines, fmt.Sprintf(format, strings.Join(g, ", ")))
		}
	}
	add("- %s exclude each other.", r.Exclusive)
	add("- %s come together.", r.Together)
	add("- One of %s is required.", r.OneOf)
	if len(lines) == 0 {
		return ""
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

package docs

import (
	"fmt"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
)

// Text returns a module's documentation for people.
func Text(m *modules.Module) string {
	var b strings.Builder
	fmt.Fprintf(&b, "> %s    (built into hark)\n\n        %s\n", strings.ToUpper(m.Name), m.Doc)
	if version := follows(m.Name); version != "" {
		fmt.Fprintf(&b, "\n        It follows %s. Options that another version has are refused by name.\n", version)
	}
	if params := shownParams(m.Params()); len(params) > 0 {
		b.WriteString("\nOPTIONS (= is mandatory):\n")
		for _, p := range params {
			writeParam(&b, p, "")
		}
	}
	if m.Examples != "" {
		b.WriteString("\nEXAMPLES:\n\n" + strings.Trim(m.Examples, "\n") + "\n")
	}
	if len(m.Returns) > 0 {
		b.WriteString("\nRETURN VALUES:\n")
		for _, r := range m.Returns {
			fmt.Fprintf(&b, "- %s\n        %s\n", r.Name, r.Doc)
			writeField(&b, "", "returned", r.When)
			writeField(&b, "", "type", r.Type)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// follows returns the collection whose options and results a module has, with its version; "" if no version is known.
func follows(module string) string {
	for collection, version := range map[string]string{
		"ansible.builtin.": "ansible-core 2.14 to 2.22, as the level of the play says", "ansible.posix.": "ansible.posix 2.1",
		"community.general.": "community.general 11",
	} {
		if strings.HasPrefix(module, collection) {
			return version
		}
	}
	return ""
}

// shownParams returns the parameters that users may give, by name.
func shownParams(params []modules.Param) []modules.Param {
	out := slices.DeleteFunc(slices.Clone(params), func(p modules.Param) bool { return p.Hidden || p.Name == "*" })
	slices.SortFunc(out, func(a, b modules.Param) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func writeParam(b *strings.Builder, p modules.Param, indent string) {
	mark := "-"
	if p.Required {
		mark = "="
	}
	fmt.Fprintf(b, "\n%s%s %s\n", indent, mark, p.Name)
	if p.Doc != "" {
		fmt.Fprintf(b, "%s        %s\n", indent, p.Doc)
	}
	if len(p.Aliases) > 0 {
		writeField(b, indent, "aliases", "["+strings.Join(p.Aliases, ", ")+"]")
	}
	if len(p.Choices) > 0 {
		writeField(b, indent, "choices", "["+strings.Join(p.Choices, ", ")+"]")
	}
	if p.Default != nil {
		writeField(b, indent, "default", defaultText(p))
	}
	writeField(b, indent, "elements", p.Elements)
	writeField(b, indent, "type", p.Type)
	for _, sub := range shownParams(p.Options) {
		writeParam(b, sub, indent+"    ")
	}
}

func writeField(b *strings.Builder, indent, name, text string) {
	if text != "" {
		fmt.Fprintf(b, "%s        %s: %s\n", indent, name, text)
	}
}

// Snippet returns a task with every parameter, to be filled in.
func Snippet(m *modules.Module) string {
	var b strings.Builder
	short := m.Name[strings.LastIndexByte(m.Name, '.')+1:]
	fmt.Fprintf(&b, "- name: %s\n  %s:\n", m.Doc, short)
	for _, p := range shownParams(m.Params()) {
		note := p.Doc
		if p.Required {
			note = "(required) " + note
		}
		fmt.Fprintf(&b, "      %-22s # %s\n", p.Name+":", strings.TrimSpace(note))
	}
	return strings.TrimRight(b.String(), "\n")
}

// Value returns a module's documentation for programs.
func Value(m *modules.Module) *value.Dict {
	doc := value.NewDict()
	doc.Set("module", value.Str(m.Name[strings.LastIndexByte(m.Name, '.')+1:]))
	doc.Set("collection", value.Str(m.Name[:max(strings.LastIndexByte(m.Name, '.'), 0)]))
	doc.Set("short_description", value.Str(m.Doc))
	doc.Set("description", value.NewList(value.Str(m.Doc)))
	doc.Set("options", paramValues(m.Params()))
	returns := value.NewDict()
	for _, r := range m.Returns {
		d := value.NewDict()
		d.Set("description", value.Str(r.Doc))
		d.Set("returned", value.Str(r.When))
		d.Set("type", value.Str(r.Type))
		returns.Set(r.Name, d)
	}
	out := value.NewDict()
	out.Set("doc", doc)
	out.Set("examples", value.Str(m.Examples))
	out.Set("metadata", value.None{})
	out.Set("return", returns)
	return out
}

func paramValues(params []modules.Param) *value.Dict {
	out := value.NewDict()
	for _, p := range shownParams(params) {
		d := value.NewDict()
		d.Set("description", value.NewList(value.Str(p.Doc)))
		d.Set("type", value.Str(p.Type))
		d.Set("required", value.Bool(p.Required))
		if p.Default != nil {
			d.Set("default", value.FromGo(p.Default, value.KindStr))
		}
		if p.Elements != "" {
			d.Set("elements", value.Str(p.Elements))
		}
		for name, list := range map[string][]string{"aliases": p.Aliases, "choices": p.Choices} {
			if len(list) > 0 {
				d.Set(name, value.KindStr.Texts(list))
			}
		}
		if len(p.Options) > 0 {
			d.Set("suboptions", paramValues(p.Options))
		}
		out.Set(p.Name, d)
	}
	return out
}

// defaultText returns a parameter's default as Python prints it.
func defaultText(p modules.Param) string {
	s, err := value.ToStr(value.FromGo(p.Default, value.KindStr))
	if err != nil {
		return err.Error()
	}
	return s
}

package docs

import (
	"fmt"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// keywords returns the rows of the table of keywords that people write, by name.
func keywords() []Plugin {
	list := []Plugin{{Kind: "keyword", Name: "with_*", On: plan.OnTask.Names(),
		Doc: "The lookup that gives the items of the loop."}}
	for _, k := range plan.Keywords() {
		if on := k.On.Names(); len(on) > 0 && k.Doc != "" {
			list = append(list, Plugin{Kind: "keyword", Name: k.Name, On: on, Doc: k.Doc})
		}
	}
	slices.SortFunc(list, func(a, b Plugin) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Keyword returns a keyword's documentation.
func (p Plugin) Keyword() *value.Dict {
	d := value.NewDict()
	d.Set("applies_to", value.KindStr.Texts(p.On))
	d.Set("description", value.Str(p.Doc))
	return d
}

// KeywordsPage is docs/keywords.md.
func KeywordsPage() string {
	var b strings.Builder
	b.WriteString(strings.Replace(madeBy, "the modules' declarations", "the table of keywords (playbook/plan/keywords.go)",
		1) + keywordsHead)
	rows := slices.Clone(plan.Keywords())
	slices.SortFunc(rows, func(a, b plan.Keyword) int { return strings.Compare(a.Name, b.Name) })
	for _, k := range rows {
		if len(k.On.Names()) == 0 || k.Doc == "" {
			continue
		}
		wins := strings.Join(k.Vars, ", ")
		otherwise := defaultOf(k)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", k.Name, strings.Join(k.On.Names(), ", "), k.Is,
			inherits(k.Inherit), counts(k.Stage),
			strings.ReplaceAll(wins, "{method}", "*method*"), otherwise, cell(k.Doc))
	}
	return b.String()
}

const keywordsHead = `# Keywords

Each word of the language, where it may stand, what it is, how it joins what the block, the role and the play around say, when it counts, and which variables win over it.
What Ansible's classes say of them is the same, and held by tests.

| keyword | on | is | inherited | counts | variables that win | otherwise | meaning |
|---|---|---|---|---|---|---|---|
`

// defaultOf returns what holds of a keyword that nobody gives.
func defaultOf(k plan.Keyword) string {
	var parts []string
	if k.Default != nil {
		parts = append(parts, "`"+value.Printed(k.Default)+"`")
	}
	if k.Setting != "" {
		parts = append(parts, k.Setting)
	}
	return strings.Join(parts, ", ")
}

func inherits(how plan.Inheritance) string {
	switch how {
	case plan.Nearest:
		return "the nearest counts"
	case plan.Inner:
		return "added after"
	case plan.Outer:
		return "added before"
	}
	return ""
}

func counts(at plan.Stage) string {
	switch at {
	case plan.AtLoad:
		return "when it is read"
	case plan.AtPlay:
		return "when the play begins"
	case plan.AtLoop:
		return "before the items"
	case plan.AtWay:
		return "before the conditions"
	case plan.AtGuard:
		return "with the conditions"
	case plan.AtCall:
		return "when the conditions hold"
	}
	return "with the result"
}

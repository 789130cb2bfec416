package doctor

import (
	"fmt"
	"strings"
)

// group puts findings together that differ in nothing but the agent.
type group struct {
	order []string
	first map[string]Finding
	names map[string][]string
}

// add notes a finding about an agent.
func (g *group) add(name string, f Finding) {
	if g.first == nil {
		g.first, g.names = map[string]Finding{}, map[string][]string{}
	}
	text, detail, _ := strings.Cut(f.Text, ", last seen ")
	key := f.State + "\x00" + text + "\x00" + strings.ReplaceAll(f.Do, name, "NAME")
	if g.names[key] == nil {
		g.order = append(g.order, key)
		g.first[key] = f
	}
	if detail != "" {
		name += " (last seen " + detail + ")"
	}
	g.names[key] = append(g.names[key], name)
}

// findings returns one for each kind: of an agent if it is the only one, else of all of them.
func (g *group) findings() []Finding {
	var out []Finding
	for _, key := range g.order {
		f, names := g.first[key], g.names[key]
		if len(names) > 1 {
			text, _, _ := strings.Cut(f.Text, ", last seen ")
			f.Do = strings.ReplaceAll(f.Do, strings.TrimPrefix(f.Check, "agent "), "NAME")
			f.Check, f.Text = "agents", fmt.Sprintf("%d agents: %s: %s", len(names), text, list(names))
		}
		out = append(out, f)
	}
	return out
}

// mostNamed is how many hosts are named in one finding.
const mostNamed = 20

// list are names, the first of many.
func list(names []string) string {
	if more := len(names) - mostNamed; more > 0 {
		return strings.Join(names[:mostNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

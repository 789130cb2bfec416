package cli

import (
	"context"
	"fmt"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/plan"
)

// evaluators prints of each task of a play who evaluates it: its host, or the controller and why. What dynamic
// includes bring is not known before they run.
func (l listing) evaluators(ctx context.Context, n int, p *compile.Play, s *compile.Settings,
	hosts []*inventory.Host) error {
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	gathers := s.GatherFacts == nil || *s.GatherFacts
	unit, err := l.Compiler.Compile(ctx, p, compile.Batch{
		ID: fmt.Sprint(n), AllHosts: names, Hosts: names, Batch: names, Settings: s, Ahead: true, GatherFacts: gathers,
		Inventory: func(name string) []value.Value { return l.values(hosts, name) },
	})
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("    evaluators:\n")
	show := func(step *plan.Step) {
		if step.Implicit && step.Kind == plan.Meta {
			return
		}
		name := step.Name
		if name == "" {
			name = step.Written
		}
		if role := unit.Plan.Roles[step.Role]; role != nil {
			name = role.FullName() + " : " + name
		}
		who := "host"
		if step.Evaluator == plan.Controller {
			if who = "controller: " + step.Why; step.Guard {
				who += ", where its conditions hold"
			}
		}
		fmt.Fprintf(&b, "      %s\t%s\n", name, who)
	}
	plan.Walk(unit.Plan.Blocks, show)
	for _, h := range unit.Plan.Handlers {
		show(h.Step)
	}
	l.line(strings.TrimSuffix(b.String(), "\n"))
	return nil
}

// values returns the different values that hosts have for a variable in the inventory.
func (l listing) values(hosts []*inventory.Host, name string) []value.Value {
	var out []value.Value
	seen := map[string]bool{}
	for _, h := range hosts {
		vars, err := l.Inventory.Vars(h)
		if err != nil {
			continue // said when the play begins
		}
		v, ok := vars.Get(name)
		text, isText := value.Text(value.OrNone(v))
		if !ok || isText && seen[text] {
			continue
		}
		seen[text] = isText
		out = append(out, v)
	}
	return out
}

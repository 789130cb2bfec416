package inventory

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
)

// Where returns the hosts for which an expression over their variables and cached facts holds, and those for which that
// is not known, because facts are not cached or the expression fails: these must judge themselves. An expression that
// cannot be parsed is an error. facts returns those of the host of an agent, by its name, nil for none.
func (inv *Inventory) Where(ctx context.Context, expr string,
	facts func(agent string) *value.Dict) (sure, unsure []*Host, err error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	templates := templates{inv.o.Templates}
	if _, _, err := templates.of(value.NewDict()).Condition(ctx, value.SourceText(expr)); err != nil && syntaxError(err) {
		return nil, nil, err
	}
	for _, h := range inv.tree.hostList {
		vars, err := inv.vars.withMagic(h)
		if err != nil {
			return nil, nil, err
		}
		cached := facts(AgentOf(h, vars))
		inv.tree.merge.combine(vars, injected(cached))
		switch (judge{templates, vars, WholeFacts(cached)}).holds(ctx, expr) {
		case yes:
			sure = append(sure, h)
		case maybe:
			unsure = append(unsure, h)
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	return sure, unsure, nil
}

// AgentOf returns the name of the agent of a host with these variables.
func AgentOf(h *Host, vars *value.Dict) string {
	v, _ := vars.Get("hark_agent")
	if name, _ := value.Text(value.OrNone(v)); name != "" {
		return name
	}
	return h.Name
}

// WholeFacts reports whether facts are complete: a play may have gathered only some.
func WholeFacts(facts *value.Dict) bool {
	if facts == nil {
		return false
	}
	subset, _ := get[*value.List](facts, "gather_subset")
	if subset == nil || len(subset.Items) != 1 {
		return false
	}
	only, _ := value.Text(subset.Items[0])
	return only == "all"
}

func syntaxError(err error) bool {
	var broken *jinja.SyntaxError
	return errors.As(err, &broken)
}

// verdict is what is known of a condition.
type verdict int

const (
	no verdict = iota
	yes
	maybe
)

// judge judges conditions by a host's variables.
type judge struct {
	templates templates
	vars      *value.Dict
	whole     bool // all facts of the host are among the variables
}

// holds judges a condition. If one of its conjuncts is known to be false, so is the condition.
func (j judge) holds(ctx context.Context, expr string) verdict {
	out := j.one(ctx, expr)
	if out != maybe {
		return out
	}
	for _, part := range conjuncts(expr) {
		if j.one(ctx, part) == no {
			return no
		}
	}
	return maybe
}

func (j judge) one(ctx context.Context, expr string) verdict {
	seen := &asked{DictVars: templar.DictVars{Dict: j.vars}}
	holds, _, err := j.templates.over(seen).Condition(ctx, value.SourceText(expr))
	switch {
	case err != nil, seen.short && !j.whole:
		return maybe
	case holds:
		return yes
	}
	return no
}

// asked are variables that note whether a missing fact was read. A template looks up all its names, even those that it
// does not reach.
type asked struct {
	templar.DictVars
	short bool
}

// Raw implements templar.Vars.
func (a *asked) Raw(ctx context.Context, name string) (value.Value, bool, error) {
	v, ok, err := a.DictVars.Raw(ctx, name)
	switch {
	case name == "ansible_facts", name == "hostvars", name == "vars": // the member that is read is not visible
		a.short = true
	case !ok && strings.HasPrefix(name, "ansible_"):
		a.short = true
	}
	return v, ok, err
}

// conjuncts returns the conjuncts of an expression, none if it is not of that form.
func conjuncts(expr string) []string {
	var parts []string
	depth, quote, from := 0, byte(0), 0
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case depth == 0 && (i == 0 || !nameByte(expr[i-1])) && nameByte(c):
			end := i
			for end < len(expr) && nameByte(expr[end]) {
				end++
			}
			switch word := expr[i:end]; {
			case slices.Contains([]string{"or", "if", "else"}, word):
				return nil
			case word == "and":
				parts, from = append(parts, expr[from:i]), end
			}
			i = end - 1
		}
	}
	if parts == nil {
		return nil
	}
	return append(parts, expr[from:])
}

func nameByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

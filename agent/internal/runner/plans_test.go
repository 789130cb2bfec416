package runner

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// planOf makes a plan of a play written as people write them, with only what these tests need: steps get the
// IDs 1, 2, ... in order, and a step whose key gate is set a gate.
func planOf(t *testing.T, text string) *plan.Plan {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("bad play: %v", err)
	}
	d := valueOf(t, doc.Content[0]).(*value.Dict)
	b := &planner{t: t, roles: map[string]*plan.Role{}}
	p := &plan.Plan{Version: plan.Version, Roles: b.roles,
		Play: plan.Play{ID: "0.0", Strategy: "linear", InjectFacts: true, Interpreter: "/usr/bin/python3"}}
	d.Each(func(k, v value.Value) bool {
		switch name, _ := value.Text(k); name {
		case "vars":
			p.Play.Vars = plan.Dict{Dict: v.(*value.Dict)}
		case "vars_files":
			for _, item := range v.(*value.List).Items {
				p.Play.VarsFiles = append(p.Play.VarsFiles, plan.VarsFile{Names: textsOf(item), Late: true})
			}
		case "gated":
			p.Play.Gated = true
		case "withheld":
			p.Play.Withheld = textsOf(v)
		case "becomes":
			p.Play.Becomes = textsOf(v)
		case "brief":
			p.Play.Brief = true
		case "verbosity":
			n, _ := value.AsInt(v)
			p.Play.Verbosity = int(n)
		case "tasks":
			p.Blocks = append(b.top(v), plan.Block{Body: []plan.Node{b.flush()}})
		case "handlers":
			for i, h := range v.(*value.List).Items {
				d := h.(*value.Dict)
				s := b.step(d)
				s.ID, s.Handler = plan.ID(fmt.Sprintf("0.%d", i+1)), true
				listen, _ := d.Get("listen")
				p.Handlers = append(p.Handlers, plan.Handler{Step: s, Listen: textsOf(listen)})
			}
		default:
			t.Fatalf("unknown keyword of a play: %s", name)
		}
		return true
	})
	return p
}

type planner struct {
	t     *testing.T
	next  int
	roles map[string]*plan.Role
}

func (b *planner) flush() plan.Node {
	b.next++
	return plan.Node{Step: &plan.Step{ID: plan.ID(fmt.Sprint(b.next)), Kind: plan.Meta, Implicit: true, Pure: true,
		Args: argsOf("_raw_params", "flush_handlers")}}
}

func argsOf(name, text string) plan.Dict {
	d := value.NewDict()
	d.Set(name, value.SourceText(text))
	return plan.Dict{Dict: d}
}

// top are the blocks of a list, as the compiler makes them: steps that stand outside are put into one.
func (b *planner) top(v value.Value) []plan.Block {
	var out []plan.Block
	loose := false
	for _, n := range b.nodes(v) {
		switch {
		case n.Block != nil:
			out = append(out, *n.Block)
		case loose:
			last := &out[len(out)-1]
			last.Body = append(last.Body, n)
		default:
			out = append(out, plan.Block{Body: []plan.Node{n}})
		}
		loose = n.Block == nil
	}
	return out
}

func (b *planner) nodes(v value.Value) []plan.Node {
	var out []plan.Node
	for _, item := range v.(*value.List).Items {
		d := item.(*value.Dict)
		if body, ok := d.Get("block"); ok {
			blk := &plan.Block{Body: b.nodes(body)}
			if v, ok := d.Get("rescue"); ok {
				blk.Rescue = b.nodes(v)
			}
			if v, ok := d.Get("always"); ok {
				blk.Always = b.nodes(v)
			}
			out = append(out, plan.Node{Block: blk})
			continue
		}
		if end, ok := d.Get("role_end"); ok {
			role, _ := value.Text(end)
			out = append(out, plan.Node{Block: &plan.Block{RoleEnd: role}})
			continue
		}
		b.next++
		s := b.step(d)
		s.ID = plan.ID(fmt.Sprint(b.next))
		out = append(out, plan.Node{Step: s})
	}
	return out
}

func (b *planner) step(d *value.Dict) *plan.Step {
	s := &plan.Step{Kind: plan.Task}
	d.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		text, _ := value.Text(v)
		if keyword(s, name, v) {
			return true
		}
		switch name {
		case "name":
			s.Name = text
		case "register":
			s.Register = text
		case "vars":
			s.Vars = plan.Dict{Dict: v.(*value.Dict)}
		case "gate":
			s.Gate = true
		case "ahead":
			s.Gate, s.Ahead = true, true
		case "controller":
			s.Evaluator = plan.Controller
		case "guard":
			s.Evaluator, s.Guard = plan.Controller, true
		case "listen":
		case "role":
			s.Role = text
			b.roles[text] = &plan.Role{Name: text, Identity: text}
		case "defaults":
			s.Defaults = append(s.Defaults, plan.Dict{Dict: v.(*value.Dict)})
		case "args_expr":
			s.ArgsExpr = text
		case "loop":
			b.loop(s).Over = plan.Lit(v)
		case "loop_control":
			b.loop(s)
			v.(*value.Dict).Each(func(k, v value.Value) bool {
				name, _ := value.Text(k)
				return keyword(s, name, v)
			})
		default:
			b.action(s, name, v)
		}
		return true
	})
	return s
}

// keyword sets a keyword that steps keep as it is written; false for any other name.
func keyword(s *plan.Step, name string, v value.Value) bool {
	k, _ := plan.KeywordNamed(name)
	switch {
	case k.One != nil:
		*k.One(s) = plan.Lit(v)
	case k.Many != nil:
		*k.Many(s) = exprsOf(v)
	default:
		return false
	}
	return true
}

func (b *planner) loop(s *plan.Step) *plan.Loop {
	if s.Loop == nil {
		s.Loop = &plan.Loop{}
	}
	return s.Loop
}

func (b *planner) action(s *plan.Step, name string, v value.Value) {
	if with, ok := strings.CutPrefix(name, "with_"); ok {
		l := b.loop(s)
		l.With, l.Over = with, plan.Lit(v)
		return
	}
	if s.Written != "" {
		b.t.Fatalf("two actions: %s and %s", s.Written, name)
	}
	s.Written, s.Action = name, "ansible.builtin."+name
	if d, ok := v.(*value.Dict); ok {
		s.Args = plan.Dict{Dict: d}
	} else if text, ok := value.Text(v); ok {
		s.Args = argsOf("_raw_params", text)
	}
	switch {
	case name == "meta":
		s.Kind, s.Pure = plan.Meta, true
	case strings.HasPrefix(name, "include_") && name != "include_vars":
		s.Kind = plan.Include
	}
}

func exprsOf(v value.Value) []plan.Expr {
	items := []value.Value{v}
	if l, ok := v.(*value.List); ok {
		items = l.Items
	}
	var out []plan.Expr
	for _, item := range items {
		out = append(out, plan.Lit(item))
	}
	return out
}

func textsOf(v value.Value) []string {
	if s, ok := value.Text(v); ok {
		return []string{s}
	}
	var out []string
	if l, ok := v.(*value.List); ok {
		for _, item := range l.Items {
			s, _ := value.Text(item)
			out = append(out, s)
		}
	}
	return out
}

func valueOf(t *testing.T, n *yaml.Node) value.Value {
	switch n.Kind {
	case yaml.MappingNode:
		d := value.NewDict()
		for i := 0; i+1 < len(n.Content); i += 2 {
			d.Set(n.Content[i].Value, valueOf(t, n.Content[i+1]))
		}
		return d
	case yaml.SequenceNode:
		l := value.NewList()
		for _, item := range n.Content {
			l.Items = append(l.Items, valueOf(t, item))
		}
		return l
	}
	if n.Tag == "!unsafe" {
		return value.UnsafeStr(n.Value)
	}
	var x any
	if err := n.Decode(&x); err != nil {
		t.Fatal(err)
	}
	return value.FromGo(x, value.KindSource)
}

// TestPlansOfLaterHarksAreRefused: an agent does not play in a language that it does not know, and says what to do.
func TestPlansOfLaterHarksAreRefused(t *testing.T) {
	for name, change := range map[string]func(p *plan.Plan){
		"version 5: this agent knows version 4; upgrade hark-agent":           func(p *plan.Plan) { p.Version++ },
		"version 1: this agent knows version 4; upgrade hark, the controller": func(p *plan.Plan) { p.Version = 1 },
		"language level 2.99: this agent knows no level after 2.22; upgrade hark-agent": func(
			p *plan.Plan) {
			p.Play.Level = "2.99"
		},
	} {
		p := planOf(t, "tasks: []")
		change(p)
		if err := known(p); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
	for _, l := range plan.Levels() {
		p := planOf(t, "tasks: []")
		p.Version, p.Play.Level = plan.VersionOf(l), l
		if err := known(p); err != nil {
			t.Errorf("level %s: %v", l, err)
		}
	}
}

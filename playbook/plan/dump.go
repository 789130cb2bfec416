package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// Dump returns the plan as text for people: every step on a line, what it inherited below it. Nothing reads it back.
func (p *Plan) Dump() string {
	d := &dumper{}
	d.play(&p.Play)
	d.blocks(p.Blocks, 0)
	d.handlers(p.Handlers)
	d.roles(p.Roles)
	return d.out.String()
}

// Dump returns the fragment as text, like that of a plan.
func (f *Fragment) Dump() string {
	d := &dumper{}
	d.line(0, "fragment %d%s", f.Index, word(" ", f.Path))
	d.dict(1, "role_defaults", f.RoleDefaults)
	d.dict(1, "role_vars", f.RoleVars)
	d.blocks(f.Blocks, 0)
	d.handlers(f.Handlers)
	d.roles(f.Roles)
	return d.out.String()
}

type dumper struct{ out strings.Builder }

func (d *dumper) line(depth int, format string, a ...any) {
	d.out.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(&d.out, format, a...)
	d.out.WriteByte('\n')
}

// word returns a text with something before it, or nothing.
func word(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

func flags(names ...any) string {
	out := ""
	for i := 0; i+1 < len(names); i += 2 {
		if names[i+1].(bool) {
			out += " " + names[i].(string)
		}
	}
	return out
}

func text(v value.Value) string {
	b, err := value.Encode(v)
	if err != nil {
		return fmt.Sprintf("<%s: %v>", v.Type(), err)
	}
	return string(b)
}

func (d *dumper) dict(depth int, name string, v Dict) {
	if v.Len() > 0 {
		d.line(depth, "%s: %s", name, text(v.Dict))
	}
}

func (d *dumper) play(p *Play) {
	d.line(0, "play %s %q %s%s", p.ID, p.Name, p.Strategy, flags(
		"gated", p.Gated, "all_gated", p.AllGated, "force_handlers", p.ForceHandlers, "check", p.Check, "diff", p.Diff))
	d.dict(1, "role_defaults", p.RoleDefaults)
	d.dict(1, "vars", p.Vars)
	for _, f := range p.VarsFiles {
		d.line(1, "vars_file %s%s", strings.Join(f.Names, " | "), flags("late", f.Late))
		d.dict(2, "vars", f.Vars)
	}
	d.dict(1, "role_vars", p.RoleVars)
	d.dict(1, "extra", p.Extra)
}

func (d *dumper) blocks(blocks []Block, depth int) {
	for i := range blocks {
		b := &blocks[i]
		d.line(depth, "%s block%s%s", b.ID, word(" ", quoted(b.Name)), word(" end of role ", b.RoleEnd))
		d.nodes(b.Body, depth+1)
		d.section("rescue", b.Rescue, depth)
		d.section("always", b.Always, depth)
	}
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

func (d *dumper) section(name string, nodes []Node, depth int) {
	if len(nodes) > 0 {
		d.line(depth, "%s", name)
		d.nodes(nodes, depth+1)
	}
}

func (d *dumper) nodes(nodes []Node, depth int) {
	for _, n := range nodes {
		if n.Step != nil {
			d.step(n.Step, depth)
		}
		if n.Block != nil {
			d.blocks([]Block{*n.Block}, depth)
		}
	}
}

func (d *dumper) handlers(list []Handler) {
	for _, h := range list {
		d.line(0, "handler of list %d%s", h.Group, word(" listens to ", strings.Join(h.Listen, ", ")))
		d.step(h.Step, 1)
	}
}

func (d *dumper) roles(roles map[string]*Role) {
	for _, k := range slices.Sorted(maps.Keys(roles)) {
		r := roles[k]
		d.line(0, "role %s %s%s", k, r.Path, flags("allow_duplicates", r.AllowDuplicates))
		d.dict(1, "defaults", r.Defaults)
		d.dict(1, "vars", r.Vars)
		d.dict(1, "params", r.Params)
	}
}

func (d *dumper) step(s *Step, depth int) {
	kind := ""
	if s.Kind != Task {
		kind = " " + string(s.Kind)
	}
	d.line(depth, "%s%s %s%s%s%s", s.ID, kind, s.Written, word(" ", quoted(s.Name)), word(" of ", s.Role),
		flags("implicit", s.Implicit, "handler", s.Handler, "pure", s.Pure, "gate", s.Gate, "ahead", s.Ahead))
	depth++
	if s.Evaluator == Controller {
		d.line(depth, "controller%s: %s", flags("guard", s.Guard), s.Why)
	}
	if s.Implicit && s.Kind == Meta {
		d.dict(depth, "args", s.Args)
		return
	}
	if s.Action != s.Written {
		d.line(depth, "action: %s", s.Action)
	}
	d.dict(depth, "args", s.Args)
	if s.ArgsExpr != "" {
		d.line(depth, "args: %s", s.ArgsExpr)
	}
	for i, def := range s.Defaults {
		d.dict(depth, "defaults", def)
		if i < len(s.DefaultExprs) && s.DefaultExprs[i] != "" {
			d.line(depth, "defaults: %s", s.DefaultExprs[i])
		}
	}
	d.loop(s, depth)
	d.keywords(s, depth, OnTask)
	for _, name := range slices.Sorted(maps.Keys(s.Otherwise)) {
		d.line(depth, "otherwise %s: %s", name, text(s.Otherwise[name].V))
	}
	d.dict(depth, "vars", s.Vars)
	d.dict(depth, "include_vars", s.IncludeVars)
	if len(s.Tags) > 0 {
		d.line(depth, "tags: %s", strings.Join(s.Tags, ", "))
	}
	if s.Place != "" {
		d.line(depth, "at %s", s.Place)
	}
	if len(s.Search) > 1 {
		d.line(depth, "search: %s", strings.Join(s.Search, ":"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		d.line(depth, "file %s: %s %d bytes", name, s.Files[name].Path, s.Files[name].Size)
	}
}

func (d *dumper) loop(s *Step, depth int) {
	l := s.Loop
	if l == nil {
		return
	}
	name := "loop"
	if l.With != "" {
		name = "with_" + l.With
	}
	d.line(depth, "%s: %s", name, text(l.Over.V))
	d.keywords(s, depth+1, OnLoopControl)
}

// keywords prints the keywords of a place that were given.
func (d *dumper) keywords(s *Step, depth int, on Where) {
	for _, k := range Keywords() {
		if !k.On.Has(on) || k.Stage == AtLoad || k.Name == "args" || k.Stage == AtLoop && on == OnTask {
			continue
		}
		if v := k.Given(s); v != nil {
			d.line(depth, "%s: %s", k.Name, text(v))
		}
	}
}

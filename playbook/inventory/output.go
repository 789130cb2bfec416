package inventory

import (
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/modules/result"
)

// Format is a form of output.
type Format string

// The forms that ansible-inventory writes.
const (
	JSON Format = "json"
	YAML Format = "yaml"
	TOML Format = "toml"
)

// Output says what List, Show and Graph write.
type Output struct {
	Format Format // "" is JSON
	// Export keeps variables where they were set, with the groups and hosts, instead of merging them for each host.
	Export bool
	// Vars shows variables in a graph.
	Vars bool
	// Extra are the extra variables: they are part of every host's variables, but not of an export.
	Extra *value.Dict
	// BareFacts is inject_facts_as_vars turned off: ansible_local is a variable of every host then.
	BareFacts bool
	// Tagged names the form of JSON, as ansible-core 2.19 does.
	Tagged bool
}

// internalVars are not shown.
var internalVars = []string{"ansible_diff_mode", "ansible_config_file", "ansible_facts", "ansible_forks",
	"ansible_inventory_sources",
	"ansible_limit", "ansible_playbook_python", "ansible_run_tags", "ansible_skip_tags", "ansible_verbosity",
	"ansible_version",
	"inventory_dir", "inventory_file", "inventory_hostname", "inventory_hostname_short", "groups", "group_names", "omit",
	"playbook_dir"}

// List returns the inventory within its limit, as `ansible-inventory --list` prints it, without the last line end.
func (inv *Inventory) List(o Output) (string, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	hosts, err := inv.patterns.within([]string{"all"})
	if err != nil {
		return "", err
	}
	l := &lister{vars: inv.vars, o: o, kept: inv.o.Facts, hosts: hosts}
	if inv.patterns.limited() {
		l.within = map[*Host]bool{}
		for _, h := range hosts {
			l.within[h] = true
		}
	}
	var v *value.Dict
	switch o.Format {
	case YAML:
		v, err = l.yaml(inv.tree.groups["all"])
	case TOML:
		v, err = l.toml(inv.tree.groups["all"])
	default:
		v, err = l.json()
	}
	if err != nil {
		return "", err
	}
	return o.write(v)
}

// Show returns the variables of one host, as `ansible-inventory --host` prints them.
func (inv *Inventory) Show(pattern string, o Output) (string, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	hosts, err := inv.patterns.within(SplitPattern(pattern))
	if err != nil {
		return "", err
	}
	if len(hosts) != 1 {
		return "", failf("You must pass a single valid host to --host parameter")
	}
	l := &lister{vars: inv.vars, o: o, kept: inv.o.Facts}
	v, err := l.hostVars(hosts[0])
	if err != nil {
		return "", err
	}
	if o.Tagged && (o.Format == "" || o.Format == JSON) { // only a list has a form that marks texts
		return value.Dumps(v, value.JSONOptions{Sorted: true, Lines: true, Indent: "    ", Replace: plain})
	}
	return o.write(v)
}

// Graph returns the tree of a group, as `ansible-inventory --graph` prints it.
func (inv *Inventory) Graph(group string, o Output) (string, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	g := inv.tree.groups[group]
	if g == nil {
		return "", failf("Pattern must be valid group name when using --graph")
	}
	l := &lister{vars: inv.vars, o: o, kept: inv.o.Facts}
	if err := l.graph(g, 0); err != nil {
		return "", err
	}
	return strings.Join(l.lines, "\n"), nil
}

func (o Output) write(v *value.Dict) (string, error) {
	switch o.Format {
	case YAML:
		return writeYAML(v)
	case TOML:
		return writeTOML(v)
	}
	return jsonText(v)
}

// lister walks the groups for one output.
type lister struct {
	vars   *variables
	o      Output
	kept   func(host string) *value.Dict // facts, nil without a cache
	hosts  []*Host                       // of a list: all that are within the limit
	within map[*Host]bool                // the same, nil without a limit
	lines  []string                      // of a graph
	seen   map[any]bool
}

// own returns the hosts that a group itself names, within the limit.
func (l *lister) own(g *Group) []*Host {
	if l.within == nil {
		return g.hosts
	}
	return slices.DeleteFunc(slices.Clone(g.hosts), func(h *Host) bool { return !l.within[h] })
}

// once reports whether a group or host occurs for the first time.
func (l *lister) once(x any) bool {
	if l.seen == nil {
		l.seen = map[any]bool{}
	}
	first := !l.seen[x]
	l.seen[x] = true
	return first
}

func (l *lister) hostVars(h *Host) (*value.Dict, error) {
	out := value.NewDict()
	if l.o.Export {
		l.vars.tree.merge.combine(out, h.vars)
		if err := l.vars.files.lay(out, l.vars.dirs.given("host_vars"), AnyStage, h.Name); err != nil {
			return nil, err
		}
	} else {
		merged, err := l.vars.of(h, AnyStage)
		if err != nil {
			return nil, err
		}
		out = merged
		l.vars.tree.merge.combine(out, l.facts(h))
		l.vars.tree.merge.combine(out, l.o.Extra)
	}
	return withoutInternal(out), nil
}

// facts returns the variables of a host that the fact cache keeps, as get_vars of vars/manager.py adds them: its facts,
// or the local ones alone if facts are not injected.
func (l *lister) facts(h *Host) *value.Dict {
	out := value.NewDict()
	if l.o.BareFacts {
		out.Set("ansible_local", value.NewDict())
	}
	if l.kept == nil {
		return out
	}
	l.kept(h.Name).Each(func(k, v value.Value) bool {
		name := value.Printed(k)
		if !result.Internal(name) && (!l.o.BareFacts || name == "ansible_local") {
			out.SetKey(k, v)
		}
		return true
	})
	return out
}

func (l *lister) groupVars(g *Group) (*value.Dict, error) {
	out := g.vars.Copy()
	if err := l.vars.files.lay(out, l.vars.dirs.given("group_vars"), AnyStage, g.Name); err != nil {
		return nil, err
	}
	if g.priority != 1 {
		out.Set("ansible_group_priority", value.Int(g.priority))
	}
	return withoutInternal(out), nil
}

func withoutInternal(d *value.Dict) *value.Dict {
	for _, name := range internalVars {
		d.Delete(value.Str(name))
	}
	return d
}

func names[T any](list []T, name func(T) value.Value) *value.List {
	l := value.NewList()
	for _, x := range list {
		l.Items = append(l.Items, name(x))
	}
	return l
}

// json returns the form of inventory scripts.
func (l *lister) json() (*value.Dict, error) {
	out := value.NewDict()
	if err := l.jsonGroup(l.vars.tree.groups["all"], out); err != nil {
		return nil, err
	}
	hostvars := value.NewDict()
	for _, h := range l.hosts {
		vars, err := l.hostVars(h)
		if err != nil {
			return nil, err
		}
		if vars.Len() > 0 {
			hostvars.Set(h.Name, vars)
		}
	}
	meta := value.NewDict()
	meta.Set("hostvars", hostvars)
	if l.o.Tagged {
		meta.Set("profile", value.Str("inventory_legacy"))
	}
	out.Set("_meta", meta)
	return out, nil
}

func (l *lister) jsonGroup(g *Group, out *value.Dict) error {
	entry := value.NewDict()
	if hosts := l.own(g); g.Name != "all" && len(hosts) > 0 {
		entry.Set("hosts", names(hosts, (*Host).variable))
	}
	if len(g.children) > 0 {
		entry.Set("children", names(g.children, (*Group).variable))
	}
	for _, c := range g.children {
		if !l.once(c) {
			continue
		}
		if err := l.jsonGroup(c, out); err != nil {
			return err
		}
	}
	if l.o.Export {
		vars, err := l.groupVars(g)
		if err != nil {
			return err
		}
		if vars.Len() > 0 {
			entry.Set("vars", vars)
		}
	}
	if entry.Len() > 0 {
		out.Set(g.Name, entry)
	}
	return nil
}

// yaml returns the form of YAML inventories: groups within groups, a host's variables at its first occurrence.
func (l *lister) yaml(g *Group) (*value.Dict, error) {
	entry, children, hosts := value.NewDict(), value.NewDict(), value.NewDict()
	for _, c := range g.children {
		if c.Name == "all" {
			continue
		}
		sub, err := l.yaml(c)
		if err != nil {
			return nil, err
		}
		sub.Each(func(k, v value.Value) bool { children.SetKey(k, v); return true })
	}
	if err := l.hostEntries(g, hosts); err != nil {
		return nil, err
	}
	if children.Len() > 0 {
		entry.Set("children", children)
	}
	if hosts.Len() > 0 {
		entry.Set("hosts", hosts)
	}
	if err := l.exportVars(g, entry); err != nil {
		return nil, err
	}
	out := value.NewDict()
	out.Set(g.Name, entry)
	return out, nil
}

func (l *lister) exportVars(g *Group, entry *value.Dict) error {
	if !l.o.Export {
		return nil
	}
	vars, err := l.groupVars(g)
	if err == nil && vars.Len() > 0 {
		entry.Set("vars", vars)
	}
	return err
}

// hostEntries adds the group's own hosts, with variables for those that occur for the first time.
func (l *lister) hostEntries(g *Group, hosts *value.Dict) error {
	if g.Name == "all" {
		return nil
	}
	for _, h := range l.own(g) {
		vars := value.NewDict()
		if l.once(h) {
			var err error
			if vars, err = l.hostVars(h); err != nil {
				return err
			}
		}
		hosts.Set(h.Name, vars)
	}
	return nil
}

// toml returns the form of TOML inventories: groups side by side.
func (l *lister) toml(g *Group) (*value.Dict, error) {
	out, entry, hosts := value.NewDict(), value.NewDict(), value.NewDict()
	out.Set(g.Name, entry)
	children := value.NewList()
	for _, c := range g.children {
		if c.Name == "ungrouped" && len(c.hosts) == 0 {
			continue
		}
		if g.Name != "all" {
			children.Items = append(children.Items, c.variable())
		}
		sub, err := l.toml(c)
		if err != nil {
			return nil, err
		}
		sub.Each(func(k, v value.Value) bool { out.SetKey(k, v); return true })
	}
	if len(children.Items) > 0 {
		entry.Set("children", children)
	}
	if err := l.hostEntries(g, hosts); err != nil {
		return nil, err
	}
	if hosts.Len() > 0 {
		entry.Set("hosts", hosts)
	}
	if err := l.exportVars(g, entry); err != nil {
		return nil, err
	}
	if entry.Len() == 0 {
		out.Delete(value.Str(g.Name))
	}
	return out, nil
}

func (l *lister) graph(g *Group, depth int) error {
	l.line("@"+g.Name+":", depth)
	depth++
	for _, c := range g.children {
		if err := l.graph(c, depth); err != nil {
			return err
		}
	}
	if g.Name != "all" {
		for _, h := range g.hosts {
			l.line(h.Name, depth)
			if !l.o.Vars {
				continue
			}
			vars, err := l.hostVars(h)
			if err != nil {
				return err
			}
			if err := l.varLines(vars, depth+1); err != nil {
				return err
			}
		}
	}
	if !l.o.Vars {
		return nil
	}
	vars, err := l.groupVars(g)
	if err != nil {
		return err
	}
	return l.varLines(vars, depth)
}

func (l *lister) line(text string, depth int) {
	if depth > 0 {
		text = strings.Repeat("  |", depth) + "--" + text
	}
	l.lines = append(l.lines, text)
}

func (l *lister) varLines(d *value.Dict, depth int) error {
	keys := d.Keys()
	slices.SortFunc(keys, func(x, y value.Value) int { return strings.Compare(value.Printed(x), value.Printed(y)) })
	for _, k := range keys {
		v, _ := d.GetKey(k)
		text, err := value.ToStr(v)
		if err != nil {
			return err
		}
		l.line("{"+value.Printed(k)+" = "+text+"}", depth)
	}
	return nil
}

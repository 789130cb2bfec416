package compile

import (
	"path/filepath"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/search"
)

// moduleDefaults finds the module_defaults for an action.
type moduleDefaults struct {
	project *Project
	dir     search.Dir // of the playbook, which may hold collections
}

func (p *Play) defaults() moduleDefaults { return moduleDefaults{p.project, p.base} }

// task returns the module_defaults that hold for a task, in the order in which they are laid over each other: those
// of groups first, then those of the action itself. An inner entry takes the place of an outer one of the same name.
func (m moduleDefaults) task(t *task) ([]plan.Dict, []string) {
	return m.actions(m.merged(t), asks(t.action)...)
}

// merged returns all module_defaults in force, by full names.
func (m moduleDefaults) merged(t *task) *value.Dict {
	merged := value.NewDict()
	for _, d := range t.writtenDefaults() {
		d.Each(func(k, v value.Value) bool {
			name, _ := value.Text(k)
			merged.Set(m.key(name), v)
			if builtin, ok := m.hidden(name); ok {
				merged.Set(builtin, v)
			}
			return true
		})
	}
	return merged
}

// writtenDefaults returns all module_defaults in force as in the playbook, outermost first.
func (t *task) writtenDefaults() []plan.Dict {
	var all []plan.Dict
	for _, d := range items(t.o.keyword("module_defaults")) {
		if d, ok := d.(*value.Dict); ok {
			all = append(all, plan.Dict{Dict: d})
		}
	}
	return all
}

// asks returns the actions whose defaults apply to an action: gather_facts is setup by another name.
func asks(action string) []string {
	if action == modules.GatherFacts {
		return []string{modules.Setup, action}
	}
	return []string{action}
}

// plug adds to a step what plug-ins in Python need of its module_defaults. Any step that gathers facts may need the
// plug-in of ansible-core that does so.
func (m moduleDefaults) plug(s *plan.Step, t *task) {
	switch {
	case s.Plugin != nil:
		own := *s.Plugin
		own.Defaults, s.Plugin = t.writtenDefaults(), &own
	case s.Action == modules.GatherFacts:
		s.Facts = &plan.FactsModules{
			Plugin: plan.ActionPlugin{Name: modules.GatherFacts, Path: modules.GatherFacts, Collections: t.o.collections,
				Defaults: t.writtenDefaults()},
			Always: !native(m.project.cfg.FactsModules),
		}
		s.Facts.Defaults, s.Facts.DefaultExprs = m.actions(m.merged(t), modules.GatherFacts)
	}
}

// native reports whether these modules (facts_modules) are the one that gather_facts is here.
func native(factsModules []string) bool {
	return len(factsModules) == 0 || len(factsModules) == 1 && factsModules[0] == "smart"
}

// actions returns the defaults of actions among all that are in force, and at the places of those that are templates
// their texts; nil if none is one.
func (m moduleDefaults) actions(merged *value.Dict, actions ...string) (dicts []plan.Dict, exprs []string) {
	templates := false
	for _, action := range actions {
		for _, v := range m.action(action, merged) {
			d, _ := v.(*value.Dict)
			text, isText := value.Text(v)
			if d == nil && (!isText || !templar.IsTemplate(v)) {
				continue
			}
			templates = templates || isText
			dicts, exprs = append(dicts, plan.Dict{Dict: d}), append(exprs, text)
		}
	}
	if !templates {
		exprs = nil
	}
	return dicts, exprs
}

// action returns the defaults of an action: those of its groups, then its own.
func (m moduleDefaults) action(action string, merged *value.Dict) []value.Value {
	var out []value.Value
	merged.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		if group, isGroup := strings.CutPrefix(name, "group/"); isGroup && m.inGroup(action, group, nil) {
			out = append(out, v)
		}
		return true
	})
	if v, ok := merged.Get(action); ok {
		out = append(out, v)
	}
	return out
}

// key returns an entry's full name: that of the action, or group/ and the group's.
func (m moduleDefaults) key(name string) string {
	if group, ok := strings.CutPrefix(name, "group/"); ok {
		if strings.Count(group, ".") < 2 {
			group = "ansible.builtin." + group
		}
		return "group/" + group
	}
	if full, ok := m.project.actions.resolve(name, nil); ok {
		return full
	}
	return name
}

// hidden returns the builtin action that one of the project's own hides: defaults for the shared name apply to both.
func (m moduleDefaults) hidden(name string) (string, bool) {
	short := strings.TrimPrefix(name, "ansible.legacy.")
	if strings.Contains(short, ".") {
		return "", false
	}
	return m.project.actions.resolve("ansible.builtin."+short, nil)
}

// inGroup reports whether an action belongs to a group of actions, or to one that the group extends.
func (m moduleDefaults) inGroup(action, group string, seen []string) bool {
	parts := strings.SplitN(group, ".", 3)
	if len(parts) < 3 || slices.Contains(seen, group) {
		return false
	}
	collection := parts[0] + "." + parts[1]
	members, extended, _ := m.group(collection, parts[2])
	for _, name := range members {
		if strings.Count(name, ".") < 2 {
			name = collection + "." + name
		}
		if full, ok := m.project.actions.resolve(name, nil); ok && full == action || name == action {
			return true
		}
	}
	for _, other := range extended {
		if strings.Count(other, ".") < 2 {
			other = collection + "." + other
		}
		if m.inGroup(action, other, append(seen, group)) {
			return true
		}
	}
	return false
}

// builtinGroups are the groups that stand for those of collections.
var builtinGroups = map[string][]string{
	"aws":    {"amazon.aws.aws", "community.aws.aws"},
	"acme":   {"community.crypto.acme"},
	"azure":  {"azure.azcollection.azure"},
	"cpm":    {"wti.remote.cpm"},
	"docker": {"community.general.docker", "community.docker.docker"},
	"gcp":    {"google.cloud.gcp"},
	"k8s": {"community.kubernetes.k8s", "community.general.k8s", "community.kubevirt.k8s", "community.okd.k8s",
		"kubernetes.core.k8s"},
	"os":     {"openstack.cloud.os"},
	"ovirt":  {"ovirt.ovirt.ovirt", "community.general.ovirt"},
	"vmware": {"community.vmware.vmware"},
}

// group reads a group from the meta/runtime.yml of its collection; false if there is no such group.
func (m moduleDefaults) group(collection, name string) (members, extended []string, found bool) {
	if collection == "ansible.builtin" {
		extended, found = builtinGroups[name]
		return nil, extended, found
	}
	dir, ok := m.project.finder.Collection(collection, m.dir)
	file := filepath.Join(dir, "meta", "runtime.yml")
	if !ok || !search.Exists(file) {
		return nil, nil, false
	}
	v, err := m.project.loader.Value(file)
	if err != nil {
		return nil, nil, false
	}
	groups, _ := get(v, "action_groups").(*value.Dict)
	list, found := groups.Get(name)
	if !found {
		list, found = groups.Get(collection + "." + name)
	}
	for _, item := range items(list) {
		if s, ok := value.Text(item); ok {
			members = append(members, s)
			continue
		}
		for _, other := range items(get(get(item, "metadata"), "extend_group")) {
			if s, ok := value.Text(other); ok {
				extended = append(extended, s)
			}
		}
	}
	return members, extended, found
}

// get returns an entry of a dict; nil if v is none or has no such entry.
func get(v value.Value, name string) value.Value {
	d, _ := v.(*value.Dict)
	out, _ := d.Get(name)
	return out
}

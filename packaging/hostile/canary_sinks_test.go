//go:build hostile

package hostile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/playbook/plan"
)

// shapes are the ways of giving a keyword a foreign text, in YAML.
func shapes(k plan.Keyword) []string {
	switch {
	case k.Bare:
		return []string{
			`"TEXT"`, `"{{ TEXT }}"`, `["TEXT", "{{ TEXT }}"]`, `"TEXT == 'x'"`, `"'{{ TEXT }}' == 'x'"`, `"not TEXT"`,
			`"{{ TEXT }} == 'x'"`,
		}
	case k.Is == plan.IsList:
		return []string{`"{{ TEXT }}"`, `["{{ TEXT }}"]`, `"{{ [TEXT] }}"`}
	case k.Is == plan.IsMapping, k.Is == plan.IsObject:
		return []string{`{k: "{{ TEXT }}"}`, `{"{{ TEXT }}": k}`, `"{{ TEXT }}"`, `"{{ {'k': TEXT} }}"`}
	case k.Is == plan.IsAny:
		return []string{`"{{ TEXT }}"`, `["{{ TEXT }}"]`, `["x{{ TEXT }}"]`, `"{{ [TEXT] }}"`, `"{{ [[TEXT]] }}"`}
	}
	return []string{`"{{ TEXT }}"`, `"x{{ TEXT }}"`}
}

// lone are keywords that end a run, or all that follows, when a text makes no sense to them, where tasks have them.
func lone() []string {
	return []string{
		"run_once", "ignore_errors", "any_errors_fatal", "throttle", "ignore_unreachable", "block", "rescue", "always", "register", "action",
		"loop_control", "args", "vars", "collections", "tags", "debugger", "async", "poll", "module_defaults",
	}
}

// fields are those of a mapping of YAML, in order, as names and values.
type fields [][2]string

// with is the mapping with a field more, or another value of one that is there, as an item of a list.
func (f fields) with(name, value string) string {
	var parts []string
	had := false
	for _, one := range f {
		if one[0] == name {
			one[1], had = value, true
		}
		parts = append(parts, one[0]+": "+one[1])
	}
	if !had {
		parts = append(parts, name+": "+value)
	}
	return "- {" + strings.Join(parts, ", ") + "}\n"
}

// place is something that keywords stand on.
type place struct {
	name   string
	fields fields
	// around is the play that has the thing as its ITEM; where it is "", the thing is a task.
	around string
}

// places are the things on which keywords stand. Those of OnMeta are in files of roles, which are read before there
// is any foreign text.
func places() map[plan.Where]place {
	task := fields{{"name", "ID"}, {"debug", "{msg: hello}"}, {"ignore_errors", "true"}}
	return map[plan.Where]place{
		plan.OnTask:        {name: "task", fields: task},
		plan.OnBlock:       {name: "block", fields: fields{{"block", "[{name: ID, ping: }]"}, {"ignore_errors", "true"}}},
		plan.OnInclude:     {name: "include", fields: fields{{"name", "ID"}, {"include_tasks", "show.yml"}, {"ignore_errors", "true"}}},
		plan.OnLoopControl: {name: "loop_control", fields: task},
		plan.OnPlay: {
			name: "play", around: "ITEM",
			fields: fields{{"hosts", "here"}, {"gather_facts", "false"}, {"tasks", "[{name: ID, ping: }]"}},
		},
		plan.OnRole: {
			name: "role", around: "- hosts: here\n  gather_facts: false\n  roles:\n  ITEM", fields: fields{{"role", "shows"}},
		},
		plan.OnImport: {name: "import", around: "ITEM", fields: fields{{"import_playbook", "more.yml"}}},
		plan.OnHandler: {
			name: "handler", fields: fields{{"name", "there"}, {"debug", "{msg: hello}"}},
			around: "- hosts: here\n  gather_facts: false\n  tasks: [{name: ID, command: \"true\", notify: there}]\n  handlers:\n  ITEM",
		},
		plan.OnMeta: {},
	}
}

// ofKeyword are the sinks of a keyword of the table: wherever it may stand, in all shapes.
func ofKeyword(k plan.Keyword) []sink {
	var all []sink
	for on, p := range places() {
		if !k.On.Has(on) || p.fields == nil {
			continue
		}
		for i, shape := range shapes(k) {
			name, value := k.Name, shape
			if on == plan.OnLoopControl {
				name, value = "loop_control", "{"+name+": "+value+"}, loop: [1, 2]"
			}
			switch name {
			case "name":
				value = strings.Replace(value, `"`, `"ID `, 1)
			case "until":
				value += ", retries: 1, delay: 0"
			case "loop_with":
				name = "with_items"
			case "vars_val":
				name = "vars"
			}
			one := sink{name: fmt.Sprintf("%s of a %s, shape %d", k.Name, p.name, i), tasks: p.fields.with(name, value)}
			switch {
			case p.around != "":
				one.tasks, one.alone = strings.Replace(p.around, "ITEM", one.tasks, 1), true
			case slices.Contains(lone(), k.Name):
				one.tasks, one.alone = aPlay+indented(one.tasks), true
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b sink) int { return strings.Compare(a.name, b.name) })
	return all
}

// sinksOfTasks are the sinks that stand beside others, and those that are alone.
func sinksOfTasks() (gentle, alone []sink) {
	var all []sink
	for _, k := range plan.Keywords() {
		all = append(all, ofKeyword(k)...)
	}
	for _, one := range append(all, written()...) {
		if one.alone {
			alone = append(alone, one)
		} else {
			gentle = append(gentle, one)
		}
	}
	return gentle, alone
}

// A keyword that comes to the table has sinks, on whatever it may stand.
func TestEveryKeywordHasSinks(t *testing.T) {
	known := plan.Where(0)
	for on := range places() {
		known |= on
	}
	for _, k := range plan.Keywords() {
		if len(ofKeyword(k)) == 0 && k.On&^plan.OnMeta != 0 {
			t.Errorf("no sink has the keyword %s", k.Name)
		}
		if k.On&^known != 0 {
			t.Errorf("%s may stand on something that has no place here: %b", k.Name, k.On&^known)
		}
	}
}

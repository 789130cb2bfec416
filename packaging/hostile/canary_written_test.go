//go:build hostile

package hostile

import (
	"maps"
	"slices"
	"strings"

	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// pieces are the files that sinks use.
func pieces() project {
	return project{
		"show.yml": meet,
		"more.yml": "- hosts: here\n  gather_facts: false\n  tasks: [{debug: {msg: more}}]\n",
		"roles/shows/tasks/main.yml": `- include_tasks: "{{ playbook_dir }}/show.yml"
`,
		"roles/shows/defaults/main.yml": "v: \"\"\nw: \"{{ v }}\"\n",
		"templates/show.j2": `{{ v }} {% if v %}yes{% endif %} {% for c in [v] %}{{ c }}{% endfor %} {% set w = v %}{{ w ~ v }}
{% macro m(x) %}{{ x }}{% endmacro %}{{ m(v) }} {{ {v: v} }}
`,
		"templates/includes.j2": "{% include v %}\n",
	}
}

// meet are tasks that meet a variable v again, which holds a foreign text.
const meet = `- {debug: {msg: "{{ v }}"}, ignore_errors: true}
- {debug: {var: v}, ignore_errors: true}
- {debug: {var: "{{ v }}"}, ignore_errors: true}
- {debug: {msg: hello}, when: v, ignore_errors: true}
- {debug: {msg: hello}, when: "{{ v }}", ignore_errors: true}
- {debug: {msg: hello}, when: "'{{ v }}' == 'x'", ignore_errors: true}
- {assert: {that: v}, ignore_errors: true}
- {assert: {that: "{{ v }}"}, ignore_errors: true}
- {assert: {that: ["{{ v }}"]}, ignore_errors: true}
- {debug: {msg: hello}, loop: "{{ [v] }}", when: item, ignore_errors: true}
- {debug: {msg: "{{ item }}"}, loop: "{{ [v] }}", loop_control: {label: "{{ item }}"}, ignore_errors: true}
- {set_fact: {w: "{{ v }}"}}
- {debug: {msg: "{{ w }}"}, failed_when: w, ignore_errors: true}
- {debug: {msg: "{{ hostvars[inventory_hostname].w }}"}, changed_when: "hostvars[inventory_hostname].w", ignore_errors: true}
- {debug: {msg: "{{ lookup('vars', 'w') }}"}, ignore_errors: true}
`

// met are sinks that take a text into a variable v, which is met again then.
func met() []sink {
	var all []sink
	for name, task := range map[string]string{
		"set_fact":              `set_fact: {v: "{{ TEXT }}"}`,
		"set_fact of a mapping": `set_fact: {m: {k: ["{{ TEXT }}"]}}|set_fact: {v: "{{ m.k[0] }}"}`,
		"key of a mapping":      `set_fact: {m: "{{ {TEXT: 1} }}"}|set_fact: {v: "{{ m | list | first }}"}`,
		"result of debug":       `debug: {msg: "{{ TEXT }}"}, register: r|set_fact: {v: "{{ r.msg }}"}`,
		"failed result":         `fail: {msg: "{{ TEXT }}"}, register: r|set_fact: {v: "{{ r.msg }}"}`,
		"result of a loop":      `debug: {msg: "{{ item }}"}, loop: ["{{ TEXT }}"], register: r|set_fact: {v: "{{ r.results[0].item }}"}`,
		"result of a module":    `command: echo "{{ TEXT }}", check_mode: false, register: r|set_fact: {v: "{{ r.stdout }}"}`,
		"result of ping":        `ping: {data: "{{ TEXT }}"}, register: r|set_fact: {v: "{{ r.ping }}"}`,
		"argument in a result":  `command: {argv: [echo, "{{ TEXT }}"]}, check_mode: false, register: r|set_fact: {v: "{{ r.cmd[1] }}"}`,
	} {
		first, rest, _ := strings.Cut(task, "|")
		if strings.HasPrefix(first, "command: echo") {
			first = strings.Replace(first, `echo "{{ TEXT }}"`, `{argv: [echo, "{{ TEXT }}"]}`, 1)
		}
		text := "- {set_fact: {v: \"\"}}\n- {name: ID, " + first + ", ignore_errors: true}\n"
		if rest != "" {
			text += "- {" + rest + ", ignore_errors: true}\n"
		}
		all = append(all, sink{name: "met: " + name, tasks: text + meet})
	}
	for name, task := range map[string]string{
		"variables of an include":       `include_tasks: show.yml, vars: {v: "{{ TEXT }}"}`,
		"variables applied":             `include_tasks: {file: show.yml, apply: {vars: {v: "{{ TEXT }}"}}}`,
		"parameters of a role":          `include_role: {name: shows}, vars: {v: "{{ TEXT }}"}`,
		"variables of an imported role": `import_role: {name: shows}, vars: {v: "{{ TEXT }}"}`,
		"items of an include":           `include_tasks: show.yml, loop: ["{{ TEXT }}"], loop_control: {loop_var: v}`,
	} {
		all = append(all, sink{name: "met: " + name, tasks: "- {name: ID, debug: {msg: hello}}\n- {" + task + ", ignore_errors: true}\n"})
	}
	return all
}

// written are sinks of parts of the language that no table has.
func written() []sink {
	all := met()
	for name, task := range map[string]string{
		"value of a key":          `debug: {msg: {k: ["{{ TEXT }}"]}}`,
		"key of an argument":      `debug: {msg: {"{{ TEXT }}": k}}`,
		"key of a template":       `debug: {msg: "{{ {TEXT: TEXT} }}"}`,
		"argument of a template":  `debug: {msg: "{% set x = TEXT %}{{ x }}{% for y in [x] %}{{ y }}{% endfor %}"}`,
		"name of an argument":     `debug: {"{{ TEXT }}": k}`,
		"name of a fact":          `set_fact: {"{{ TEXT }}": k}`,
		"part of a fact's name":   `set_fact: {"app_{{ TEXT }}": k}`,
		"name in a mapping":       `set_fact: "{{ {TEXT: 'k'} }}"`,
		"key of group_by":         `group_by: {key: "{{ TEXT }}"}`,
		"part of group_by":        `group_by: {key: "role_{{ TEXT }}", parents: "over_{{ TEXT }}"}`,
		"name of add_host":        `add_host: {name: "new-{{ TEXT }}", ansible_connection: local}`,
		"groups of add_host":      `add_host: {name: newer, groups: ["{{ TEXT }}"], ansible_connection: local}`,
		"variable of add_host":    `add_host: {name: newer, "{{ TEXT }}": k}`,
		"value of add_host":       `add_host: {name: newer, k: "{{ TEXT }}"}`,
		"name of a host variable": `debug: {msg: "{{ hostvars[TEXT] | default(vars[TEXT]) | default(groups[TEXT]) }}"}`,
		"name of a variable":      `debug: {msg: "{{ lookup('vars', TEXT) }}"}`,
		"name of a lookup":        `debug: {msg: "{{ lookup(TEXT, 'x') }}"}`,
		"handler":                 `command: {argv: ["true"]}, check_mode: false, notify: "{{ TEXT }}", when: false`,
		"delegate":                `ping: , delegate_to: "{{ TEXT }}", delegate_facts: true, vars: {ansible_connection: local}`,
		"delegate of a loop":      `ping: , delegate_to: "{{ item }}", loop: ["{{ TEXT }}"], vars: {ansible_connection: local}`,
		"delegated fact":          `set_fact: {"d{{ 1 }}": "{{ TEXT }}"}, delegate_to: other, delegate_facts: true`,
		"delegated call":          `command: {argv: [echo, "{{ TEXT }}"]}, delegate_to: other, check_mode: false`,
		"call at a controller":    `command: {argv: [echo, "{{ TEXT }}", "{{ lookup('env', 'HOME') }}"]}, check_mode: false`,
		"local action":            `local_action: {module: ping, data: "{{ TEXT }}"}`,
		"free form":               `command: "echo {{ TEXT | quote }}", check_mode: false`,
		"text of arguments":       `debug: "msg={{ TEXT }}"`,
		"template":                `template: {src: show.j2, dest: out}, check_mode: true, vars: {v: "{{ TEXT }}"}`,
		"template lookup":         `debug: {msg: "{{ lookup('template', 'show.j2') }}"}, vars: {v: "{{ TEXT }}"}`,
		"variables of a template": `debug: {msg: "{{ lookup('template', 'show.j2', template_vars={'v': TEXT}) }}"}`,
		"include of a template":   `debug: {msg: "{{ lookup('template', 'includes.j2') }}"}, vars: {v: "{{ TEXT }}"}`,
		"include of a file":       `template: {src: includes.j2, dest: out}, check_mode: true, vars: {v: "{{ TEXT }}"}`,
		"content":                 `copy: {content: "{{ TEXT }}", dest: out}, check_mode: true, diff: true`,
		"label and index":         `debug: {msg: hello}, loop: ["{{ TEXT }}"], loop_control: {label: "{{ item }}", index_var: i, extended: true}`,
		"loop of keys":            `debug: {msg: "{{ item.key }}"}, loop: "{{ {TEXT: 1} | dict2items }}", when: item.key`,
		"extended loop":           `debug: {msg: "{{ ansible_loop.allitems }}"}, loop: ["{{ TEXT }}"], loop_control: {extended: true}, when: ansible_loop.first`,
		"stats":                   `set_stats: {data: {k: "{{ TEXT }}", "{{ TEXT }}": k}}`,
		"name of a task of facts": `set_fact: {ansible_thing: "{{ TEXT }}", cacheable: true}`,
		"text of an expression":   `debug: {msg: "{{ 'x' if TEXT else 'y' }} {{ TEXT == 'x' }} {{ TEXT in ['x'] }} {{ TEXT ~ TEXT }} {{ TEXT[:3] }}"}`,
	} {
		all = append(all, sink{name: name, tasks: "- {name: ID, " + task + ", ignore_errors: true}\n"})
	}
	for name, task := range map[string]string{
		"file of an include": `include_tasks: "{{ TEXT }}.yml"`,
		"name of a role":     `include_role: {name: "{{ TEXT }}"}`,
		"tasks of a role":    `include_role: {name: shows, tasks_from: "{{ TEXT }}"}`,
		"meta":               `meta: "{{ TEXT }}"`,
		"module":             `action: "{{ TEXT }}"`,
		"module and text":    `action: "{{ TEXT }} x=1"`,
		"module of action":   `action: {module: "{{ TEXT }}"}`,
		"imported tasks":     `import_tasks: "{{ TEXT }}"`,
		"all arguments":      `debug: "{{ TEXT }}"`,
		"all arguments, 2":   `debug: , args: "{{ TEXT }}"`,
	} {
		all = append(all, sink{name: name, alone: true, tasks: aPlay + "  - {name: ID, " + task + "}\n"})
	}
	all = append(all, ofVariables()...)
	slices.SortStableFunc(all, func(a, b sink) int { return strings.Compare(a.name, b.name) })
	return all
}

// aPlay is a play for the tasks that follow.
const aPlay = "- hosts: here\n  gather_facts: false\n  ignore_unreachable: true\n  tasks:\n"

// ofVariables are sinks in the variables that stand for keywords, for every way of becoming another user.
func ofVariables() []sink {
	var all []sink
	for _, k := range plan.Keywords() {
		for _, name := range k.Variables("sudo") {
			all = append(all, sink{
				name:  "variable " + name,
				tasks: "- {name: ID, ping: , vars: {" + name + ": \"{{ TEXT }}\"}, ignore_errors: true}\n",
			})
		}
	}
	return all
}

// short are the names of plug-ins without what has a longer name too.
func short[V any](named map[string]V) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		bare := name[strings.LastIndex(name, ".")+1:]
		if _, had := named[bare]; name == bare || !had {
			all = append(all, name)
		}
	}
	return all
}

// ofPlugins are sinks in the arguments of all filters and tests, and their results.
func ofPlugins() []sink {
	var all []sink
	add := func(name, expression string) {
		task := "- {name: ID, assert: {that: \"{{ " + expression + " }}\", success_msg: \"{{ " + expression + " }}\"}, ignore_errors: true}\n"
		all = append(all, sink{name: name, tasks: task})
	}
	for _, name := range short(templar.Filters()) {
		add("filter "+name, "TEXT | "+name)
		add("filter "+name+" of a list", "[TEXT] | "+name)
		add("filter "+name+" with arguments", "'x' | "+name+"(TEXT, TEXT)")
	}
	for _, name := range short(templar.Tests()) {
		add("test "+name, "TEXT is "+name)
		add("test "+name+" with arguments", "TEXT is "+name+"(TEXT)")
	}
	return all
}

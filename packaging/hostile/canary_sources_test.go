//go:build hostile

package hostile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	levels "hark/playbook/level"
)

// source brings the texts of canaries into a play, as something that a host, a file or a server says. The files
// texts (lines), texts.json (a list) and keys.json (a list of mappings whose keys are texts) lie in the project.
type source struct {
	name string
	// before are plays before the one with the cases; vars are the variables of that, and tasks its first.
	before, vars, tasks string
	// at is the expression for text NUM, NUM0 with five digits.
	at string
	// files are more files of the project, and flags more flags of the command.
	files func(texts []string) project
	flags func(texts []string) []string
	// since is the first level at which Ansible takes the texts for data, "" for the oldest.
	since string
}

// foreign reports whether the texts are data at a level.
func (s source) foreign(at string) bool {
	return slices.Index(levels.Names(), at) >= slices.Index(levels.Names(), s.since)
}

// expr is the expression for a text.
func (s source) expr(n int) string {
	at := strings.ReplaceAll(s.at, "NUM0", fmt.Sprintf("%05d", n))
	return strings.ReplaceAll(at, "NUM", fmt.Sprint(n))
}

// stdout is the task behind most sources.
const stdout = `- {name: texts, command: "cat '{{ playbook_dir }}/texts'", register: said, check_mode: false, changed_when: false}
`

// tells is a module that gives what a file says as its result, and as facts.
const tells = `#!/usr/bin/python3
import json, sys
from ansible.module_utils.basic import AnsibleModule
m = AnsibleModule(argument_spec={'src': {}, 'keys': {}, 'facts': {'type': 'bool'}}, supports_check_mode=True)
told = json.load(open(m.params['src']))
keys = json.load(open(m.params['keys']))
if m.params['facts']:
    m.exit_json(ansible_facts={'told': told, 'told_keys': keys, 'deep': {'list': [told]}})
m.exit_json(told=told, keys=keys, deep={'list': [{'told': told}]}, results=[{'told': told}], msg=told[0], warnings=told[:2])
`

// told is the task that calls it.
const told = `- {name: tells, tells: {src: "{{ playbook_dir }}/texts.json", keys: "{{ playbook_dir }}/keys.json"}, register: said}
`

// sources are all from which texts come that nobody wrote into a playbook.
func sources() []source {
	return slices.Concat(outputs(), lookups(), detours(), inventories())
}

// outputs are sources in what hosts say.
func outputs() []source {
	library := func([]string) project { return project{"library/tells.py": tells} }
	return []source{
		{name: "stdout_lines", tasks: stdout, at: "said.stdout_lines[NUM]"},
		{name: "stdout", tasks: stdout, at: "said.stdout.splitlines()[NUM]"},
		{name: "stderr", tasks: strings.Replace(strings.Replace(stdout, "command", "shell", 1), "texts'\"", "texts' >&2\"", 1), at: "said.stderr_lines[NUM]"},
		{name: "results of a loop", tasks: strings.Replace(stdout, "register", "loop: [1, 2], register", 1),
			at: "said.results[1].stdout_lines[NUM]"},
		{name: "failed result", tasks: strings.NewReplacer("command", "shell", "/texts'", "/texts'; exit 1",
			"register", "ignore_errors: true, register").Replace(stdout), at: "said.stdout_lines[NUM]"},
		{name: "rescued result", tasks: `- block:
  - {shell: "cat '{{ playbook_dir }}/texts'; exit 1", check_mode: false}
  rescue:
  - {debug: {msg: rescued}}
`, at: "ansible_failed_result.stdout_lines[NUM]"},
		{name: "result", tasks: told, at: "said.deep.list[0].told[NUM]", files: library},
		{name: "keys of a result", tasks: told, at: "(said['keys'][NUM] | dict2items)[0].key", files: library},
		{name: "facts", tasks: strings.Replace(told, "src", "facts: true, src", 1), at: "told[NUM]", files: library},
		{name: "ansible_facts", tasks: strings.Replace(told, "src", "facts: true, src", 1),
			at: "ansible_facts.deep.list[0][NUM]", files: library},
		{name: "local facts", tasks: `- {setup: {gather_subset: ["!all", "!min", local], fact_path: "{{ playbook_dir }}/facts.d"}}
`, at: "ansible_local.told.texts[NUM]", files: func(texts []string) project {
			raw, _ := json.Marshal(map[string]any{"texts": texts})
			return project{"facts.d/told.fact": string(raw)}
		}},
		{name: "environment", tasks: `- {setup: {gather_subset: ["!all", "!min", env]}}
`, at: "ansible_env.FOREIGN.splitlines()[NUM]"},
		{name: "slurp", tasks: `- {slurp: {src: "{{ playbook_dir }}/texts"}, register: said}
`, at: "(said.content | b64decode).splitlines()[NUM]"},
		{name: "names of files", tasks: `- {find: {paths: "{{ playbook_dir }}/names", recurse: true}, register: said}
`, at: "(said.files | map(attribute='path') | sort)[NUM] | basename", files: named},
	}
}

// named are files whose names are texts, each in a directory of its own.
func named(texts []string) project {
	p := project{}
	for i, text := range texts {
		p[fmt.Sprintf("names/%05d/%s", i, text)] = ""
	}
	return p
}

// lookups are sources in files, the environment and programs of the controller.
func lookups() []source {
	return []source{
		{name: "fetched file", tasks: `- {fetch: {src: "{{ playbook_dir }}/texts", dest: "{{ playbook_dir }}/fetched", flat: true}, check_mode: false}
`, at: "lookup('file', 'fetched').splitlines()[NUM]"},
		{name: "lookup lines", at: "query('lines', 'cat texts')[NUM]"},
		{name: "lookup pipe", at: "lookup('pipe', 'cat texts').splitlines()[NUM]"},
		{name: "lookup env", at: "lookup('env', 'FOREIGN').splitlines()[NUM]"},
		{name: "lookup unvault", at: "lookup('unvault', 'texts').splitlines()[NUM]"},
		{name: "lookup csvfile", at: "lookup('csvfile', 'kNUM', file='texts.csv', delimiter='|')", files: func(texts []string) project {
			var b strings.Builder
			for i, text := range texts {
				fmt.Fprintf(&b, "k%d|%s\n", i, text)
			}
			return project{"texts.csv": b.String()}
		}},
		{name: "lookup ini", at: "lookup('ini', 'kNUM', file='texts.ini', section='all')", files: func(texts []string) project {
			b := "[all]\n"
			for i, text := range texts {
				b += fmt.Sprintf("k%d=%s\n", i, text)
			}
			return project{"texts.ini": b}
		}},
		{name: "fact cache", at: "ansible_facts.told[NUM]", files: func(texts []string) project {
			raw, _ := json.Marshal(map[string]any{"told": texts})
			return project{"cache/here": string(raw)}
		}},
		{name: "lookup url", at: "query('url', lookup('file', 'address'))[NUM]", files: func(texts []string) project {
			return project{"address": served(texts)}
		}},
		{name: "lookup fileglob", at: "query('fileglob', 'names/NUM0/*')[0] | basename", files: named},
		{name: "lookup template", tasks: stdout, at: "lookup('template', 'echo.j2').splitlines()[NUM]", files: func([]string) project {
			return project{"templates/echo.j2": "{{ said.stdout }}\n"}
		}},
	}
}

// detours are outputs that went through more of the language.
func detours() []source {
	other := `- hosts: other
  gather_facts: false
  tasks:
` + indented(stdout)
	encoded := func(texts []string) project {
		return project{"encoded": base64.StdEncoding.EncodeToString([]byte(strings.Join(texts, "\n")))}
	}
	list := strings.Replace(stdout, "/texts'", "/texts.json'", 1)
	return []source{
		{name: "another host", before: other, at: "hostvars.other.said.stdout_lines[NUM]"},
		{name: "set_fact", tasks: stdout + "- {set_fact: {kept: \"{{ said.stdout_lines }}\"}}\n", at: "kept[NUM]"},
		{name: "cached set_fact", tasks: stdout + "- {set_fact: {kept: \"{{ said.stdout_lines }}\", cacheable: true}}\n",
			at: "ansible_facts.kept[NUM]"},
		{name: "vars of a play", vars: `{kept: "{{ said.stdout_lines }}", deeper: {kept: "{{ kept }}"}}`, tasks: stdout, at: "deeper.kept[NUM]"},
		{name: "vars of add_host", tasks: stdout + "- {add_host: {name: told, texts: \"{{ said.stdout_lines }}\"}}\n",
			at: "hostvars.told.texts[NUM]"},
		{name: "debug", tasks: stdout + "- {debug: {msg: \"{{ said.stdout_lines }}\"}, register: kept}\n", at: "kept.msg[NUM]"},
		{name: "from_json", tasks: list, at: "(said.stdout | from_json)[NUM]"},
		{name: "from_yaml", tasks: list, at: "(said.stdout | from_yaml)[NUM]"},
		{name: "b64decode", tasks: strings.Replace(stdout, "/texts'", "/encoded'", 1), files: encoded,
			at: "(said.stdout | b64decode).splitlines()[NUM]"},
		{name: "regex_replace", tasks: stdout, at: "(said.stdout_lines[NUM] | regex_replace('^', ''))"},
		{name: "join", tasks: stdout, at: "([said.stdout_lines[NUM]] | join(''))"},
		{name: "concatenation", tasks: stdout, at: "('' ~ said.stdout_lines[NUM])"},
		{name: "format", tasks: stdout, at: "('%s' | format(said.stdout_lines[NUM]))"},
		{name: "slice", tasks: stdout, at: "said.stdout_lines[NUM][:]"},
		{name: "split", tasks: stdout, at: "said.stdout.split()[NUM]"},
		{name: "key of a mapping", tasks: stdout, at: "({said.stdout_lines[NUM]: 1} | list)[0]"},
		{name: "default", tasks: stdout, at: "(nothing | default(said.stdout_lines[NUM]))"},
		{name: "ternary", tasks: stdout, at: "(true | ternary(said.stdout_lines[NUM], ''))"},
		{name: "lookup vars", tasks: stdout, at: "lookup('vars', 'said').stdout_lines[NUM]"},
		{name: "lookup items", tasks: stdout, at: "query('items', said.stdout_lines)[NUM]"},
		{name: "lookup dict", tasks: stdout, at: "query('dict', {'k': said.stdout_lines})[0].value[NUM]"},
	}
}

// inventories are plug-ins of inventories: the kept facts that constructed sees are data, and the text that those in
// Python make is from level 2.19 on, if they do not say that it is a template.
func inventories() []source {
	const inventory = `import json
import os
from ansible.plugins.inventory import BaseInventoryPlugin


class InventoryModule(BaseInventoryPlugin):
    NAME = "told"

    def verify_file(self, path):
        return path.endswith("told.yml")

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path)
        with open(os.path.join(os.path.dirname(path), "texts.json")) as f:
            inventory.set_variable("here", "told", json.load(f))
`
	const variables = `import json
import os
from ansible.plugins.vars import BaseVarsPlugin


class VarsModule(BaseVarsPlugin):
    def get_vars(self, loader, path, entities, cache=True):
        with open(os.path.join(os.path.dirname(os.path.dirname(__file__)), "texts.json")) as f:
            return {"told": json.load(f)}
`
	plugin := project{"inventory_plugins/told.py": inventory, "told.yml": "plugin: told\n"}
	composed := project{"composed.yml": "plugin: constructed\ncompose: {made: told}\n"}
	maps.Copy(composed, plugin)
	return []source{
		{name: "composed of kept facts", at: "made[NUM]", files: func(texts []string) project {
			raw, _ := json.Marshal(map[string]any{"told": texts})
			return project{"cache/here": string(raw), "composed.yml": "plugin: constructed\ncompose: {made: told}\n"}
		}, flags: func([]string) []string { return []string{"-i", "composed.yml"} }},
		{name: "inventory plug-in", since: "2.19", at: "told[NUM]", files: func([]string) project { return plugin },
			flags: func([]string) []string { return []string{"-i", "told.yml"} }},
		{name: "composed", since: "2.19", at: "made[NUM]", files: func([]string) project { return composed },
			flags: func([]string) []string { return []string{"-i", "told.yml", "-i", "composed.yml"} }},
		{name: "vars plug-in", since: "2.19", at: "told[NUM]", files: func([]string) project {
			return project{"vars_plugins/told.py": variables}
		}},
	}
}

// served is the address of a web server of this process that answers with the texts, a line each.
func served(texts []string) string {
	body := strings.Join(texts, "\n")
	sum := fmt.Sprintf("/%x", sha256.Sum256([]byte(body)))
	pages.Store(sum, body)
	return server().URL + sum
}

// pages are what the server has, by path.
var pages sync.Map

var server = sync.OnceValue(func() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, ok := pages.Load(r.URL.Path); ok {
			fmt.Fprint(w, body)
			return
		}
		http.NotFound(w, r)
	}))
})

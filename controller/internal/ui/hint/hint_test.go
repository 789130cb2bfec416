package hint

import (
	"strings"
	"testing"
)

func TestHints(t *testing.T) {
	w := Words{
		Modules:   []string{"ansible.builtin.copy", "ansible.builtin.command", "community.general.ini_file", "ansible.builtin.template"},
		Keywords:  []string{"name", "when", "become", "notify", "register", "hosts", "gather_facts"},
		Filters:   []string{"default", "to_json", "ansible.builtin.combine"},
		Tests:     []string{"defined", "version"},
		Lookups:   []string{"file", "env"},
		Hosts:     []string{"web1", "web2", "database", "all"},
		Arguments: func(string) []string { return []string{"msg", "var"} },
		Becomes:   []string{"su", "sudo"},
		Callbacks: []string{"default", "minimal"},
		Handlers:  []string{"restart nginx", "reload"},
		Variables: []string{"user_name", "port"},
		Dirs:      []string{"/b"},
		Entries: func(dir string) []string {
			return map[string][]string{"/p": {"site.yml", "inv.ini", "broken.ini"}, "/p/files": {"motd.txt"}, ".": {"site.yml"},
				"/b/roles": {"web"}, "/b/roles/web/tasks": {"main.yml", "install.yml"}, "/b": {"secrets.yml"}, "/b/vars": {"secrets.yml"}}[dir]
		},
		Lines: func(path string) []string {
			return map[string][]string{"/p/broken.ini": {"a", "[all]", " [web", "b"}}[path]
		},
		HasCollection: func(name string) bool { return name == "community.general" },
	}
	for _, c := range []struct{ message, want string }{
		{"couldn't resolve module/action 'coppy'. This often indicates a misspelling,", "did you mean 'ansible.builtin.copy'?"},
		{"couldn't resolve module/action 'ansible.builtin.tempalte'.", "did you mean 'ansible.builtin.template'?"},
		{"couldn't resolve module/action 'acme.web.site'.", "the collection acme.web is not installed: ansible-galaxy collection install acme.web"},
		{"couldn't resolve module/action 'community.general.nothing'.", ""},
		{"couldn't resolve module/action 'frobnicate'.", ""},
		{"The module pign was not found in configured module paths. Additionally", ""},
		{"the role 'nginx' was not found in /roles", "roles come by ansible-galaxy install -r requirements.yml, if the project has such a file"},
		{"the role 'geerlingguy.nginx' was not found in /roles", "roles of Galaxy come by: ansible-galaxy role install geerlingguy.nginx"},
		{"the role 'acme.web.site' was not found in /roles", "the collection acme.web is not installed: ansible-galaxy collection install acme.web"},
		{"'wen' is not a valid attribute for a Task", "did you mean 'when'?"},
		{"'hsots' is not a valid attribute for a Play", "did you mean 'hosts'?"},
		{"conflicting action statements: nmae, debug", "'nmae' is no keyword of tasks; did you mean 'name'?"},
		{"conflicting action statements: copy, command", ""},
		{"Unsupported parameters for (ansible.builtin.copy) module: srce. Supported parameters include: attributes (attr), backup, dest, src.",
			"'srce' is no argument of this module; did you mean 'src'?"},
		{"Invalid options for debug: msge", "'msge' is no argument of this module; did you mean 'msg'?"},
		{"template error while templating string: No filter named 'defualt'.", "did you mean 'default'?"},
		{`template error while templating string: Could not load "combin": 'combin'.`, "did you mean 'ansible.builtin.combine'?"},
		{"No test named 'defind'.", "did you mean 'defined'?"},
		{"lookup plugin (fil) not found", "did you mean 'file'?"},
		{"Could not match supplied host pattern,\nignoring: wbe1", "did you mean 'web1'?"},
		{"Could not match supplied host pattern, ignoring: elsewhere", ""},
		{"The module failed to execute correctly, you probably need to set the interpreter.",
			"this module is in Python, and the host has none that was found; `hark doc -l` lists the modules that need none"},
		{"The task includes an option with an undefined variable. The error was: 'usr_name' is undefined. 'usr_name' is undefined", "did you mean 'user_name'?"},
		{"'elsewhere' is undefined", ""},
		{"(ansible_distribution == 'Debian'): 'ansible_distribution' is undefined. 'ansible_distribution' is undefined", notGathered},
		{"'ansible_os_familly' is undefined", "did you mean the fact 'ansible_os_family'? And " + notGathered},
		{"{{ ansible_facts.distribution }}: 'dict object' has no attribute 'distribution'", notGathered},
		{"'dict object' has no attribute 'distribution'. debug: msg={{ ansible_facts.distribution }}", notGathered},
		{"(rc == 0): 'rc' is undefined. 'rc' is undefined", "a result has a name only by `register: result`; then it is result.rc"},
		{"Invalid variable name in 'register' specified: 'my-var'", "names have letters, digits and _ only, and begin with no digit; did you mean 'my_var'?"},
		{"invalid meta action requested: flush_handler", "did you mean 'flush_handlers'?"},
		{"the field 'become' has an invalid value (yess), and could not be converted to an bool.", "did you mean 'yes'?"},
		{"Could not find specified file in role: tasks/instal", "did you mean 'install', of the role web?"},
		{"vars file secretz.yml was not found Could not find file", "did you mean 'secrets.yml'?"},
		{"vars file vars/secretz.yml was not found", "did you mean 'vars/secrets.yml'?"},
		{"Invalid options for import_role: nmae", "'nmae' is no argument of this module; did you mean 'name'?"},
		{"'name' is a required field for import_role.", "the role is named by `name:`, as in `import_role: {name: web}`; see that it is spelt so"},
		{"'with_fil' is not a valid attribute for a Task", "did you mean 'with_file'?"},
		{"there are no hosts to put agents on", "`hark bootstrap -i FILE` takes the hosts of an inventory, and `-i web1,` a host by its name"},
		{"The requested handler 'restart ngnix' was not found in either the main handlers list nor in the listening handlers list", "did you mean 'restart nginx'?"},
		{"Invalid become method specified, could not find matching plugin: 'sodo'. Use `ansible-doc", "did you mean 'sudo'?"},
		{"Invalid callback for stdout specified: minmal", "did you mean 'minimal'?"},
		{"Invalid callback for stdout specified: pretty", "there are default, minimal"},
		{"argument action: invalid choice: 'veiw' (choose from 'create', 'view')", "did you mean 'view'?"},
		{"Could not find or access '/p/stie.yml' on the Ansible Controller.", "did you mean '/p/site.yml'?"},
		{"Could not find or access '/q/stie.yml' on the Ansible Controller.", "there is no directory /q"},
		{"Could not find or access '/p/else.yml' on the Ansible Controller.", ""},
		{"Could not find or access 'mtod.txt'\nSearched in:\n\t/p/files/mtod.txt\n\t/p/mtod.txt on the Ansible Controller.", "did you mean 'motd.txt'?"},
		{"the playbook: siet.yml could not be found", "did you mean 'site.yml'?"},
		{"could not locate file in lookup: x.txt. could not locate file in lookup: x.txt",
			"it is looked for in files/ beside the playbook or in the role, and beside the playbook itself"},
		{" * Failed to parse /p/broken.ini with ini plugin: not\nenough values to unpack (expected 3, got 2)", `/p/broken.ini:3: "[web" has no closing bracket`},
		{"/p/i.ini:1: Section [web:childern] has unknown type: childern", "did you mean 'children'?"},
		{"Unable to parse /p/in.ini as an inventory source", "did you mean '/p/inv.ini'?"},
		{"Unable to parse /p/elsewhere as an inventory source", "there is no file /p/elsewhere; hosts can be named too, with a comma: -i web1,"},
		{"Unable to parse /p/inv.ini as an inventory source", ""},
		{"Unable to parse hark: as an inventory source", ""},
		{"A playbook must be a list of plays, got a <class 'x'> instead: site.yml", "a playbook is a list: its first play begins with `- hosts: ...`"},
		{"The error was: template error while templating string: expected token 'end of statement block', got '='. String: {% if a = 1 %}", "two values are compared by =="},
		{"Attempting to decrypt but no vault secrets found", "give the vault's password: --ask-vault-password, or --vault-password-file FILE"},
		{"anything else", ""},
	} {
		if got := w.For(c.message); got != c.want {
			t.Errorf("%s: got %q, want %q", c.message, got, c.want)
		}
	}
	for _, message := range []string{"Could not find or access '/p/x'", "Unable to parse /x as an inventory source", "Failed to parse /x with ini plugin: not enough values to unpack"} {
		if got := (Words{}).For(message); got != "" {
			t.Errorf("without a look at files: %q", got)
		}
	}
	if got := w.ModuleOption("copy", []string{"_raw_params", "mgs"}); got != "'mgs' is no argument of this module; did you mean 'msg'?" {
		t.Errorf("argument: %q", got)
	}
	if got := w.ModuleOption("copy", []string{"msg", "elsewhere"}); got != "" {
		t.Errorf("arguments that are right: %q", got)
	}
	if got := (Words{}).For("couldn't resolve module/action 'a.b.c'"); got != "" {
		t.Errorf("without words: %q", got)
	}
}

// TestFactsThatAreThere: where facts were gathered, only their names can be wrong.
func TestFactsThatAreThere(t *testing.T) {
	w := Words{Variables: []string{"ansible_architecture", "ansible_os_family"}}
	for message, want := range map[string]string{
		"'ansible_os_familly' is undefined":                                            "did you mean 'ansible_os_family'?",
		"'ansible_kernl' is undefined":                                                 "did you mean 'ansible_kernel'?",
		"'ansible_selinux' is undefined":                                               "",
		"'dict object' has no attribute 'distributon' {{ ansible_facts.distributon }}": "did you mean 'distribution'?",
	} {
		if got := w.For(message); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
	if got := (Words{NoInventory: true}).For("Could not match supplied host pattern, ignoring: web"); got != "no inventory was given or found: name one with -i FILE, or hosts with -i web," {
		t.Error(got)
	}
}

// TestFilesThatAreTakenForPlaybooks: inventories and lists of tasks are told from playbooks.
func TestFilesThatAreTakenForPlaybooks(t *testing.T) {
	for text, want := range map[string]bool{
		"[web]\nweb1": true, "# hosts\n\nweb1 ansible_port=22\n": true, "[web:children]": true,
		"- hosts: all": false, "---\n- hosts: all": false, "{a: 1}": false, "web1": false, "": false, "[1, 2]": false,
	} {
		if got := IsInventory(strings.Split(text, "\n")); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
	for text, want := range map[string]string{
		"- tasks: []": "p.yml:1: this play has no `hosts:`",
		"---\n- name: first\n  hosts: all\n\n- name: second\n  tasks:\n  - debug:\n": "p.yml:5: this play has no `hosts:`",
		"- name: x\n  copy:\n    src: y\n":                                           "p.yml:1 is a task, and a playbook is a list of plays: put it below `tasks:` of a play, or include the file with include_tasks",
		"- hosts: all\n- import_playbook: x.yml\n":                                   "",
		"": "",
	} {
		if got := Hostless("p.yml", strings.Split(text, "\n")); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{"agent", "agents"}, {"broekr", "broker"}, {"paly", "play"}, {"x", ""}, {"", ""}, {"completely", ""}, {"play", ""},
	} {
		if got := Nearest(c.word, []string{"agents", "broker", "play", "run"}); got != c.want {
			t.Errorf("%q: got %q, want %q", c.word, got, c.want)
		}
	}
}

func FuzzFor(f *testing.F) {
	f.Add("conflicting action statements: a, b")
	f.Fuzz(func(_ *testing.T, message string) { Words{Keywords: []string{"name"}}.For(message) })
}

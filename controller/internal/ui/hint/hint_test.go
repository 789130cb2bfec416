package hint

import "testing"

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
		Entries: func(dir string) []string {
			return map[string][]string{"/p": {"site.yml", "inv.ini", "broken.ini"}, "/p/files": {"motd.txt"}, ".": {"site.yml"}}[dir]
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
		{"A playbook must be a list of plays, got a <class", "a playbook is a list: its first play begins with `- hosts: ...`"},
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
	if got := w.Argument("copy", []string{"_raw_params", "mgs"}); got != "'mgs' is no argument of this module; did you mean 'msg'?" {
		t.Errorf("argument: %q", got)
	}
	if got := w.Argument("copy", []string{"msg", "elsewhere"}); got != "" {
		t.Errorf("arguments that are right: %q", got)
	}
	if got := (Words{}).For("couldn't resolve module/action 'a.b.c'"); got != "" {
		t.Errorf("without words: %q", got)
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

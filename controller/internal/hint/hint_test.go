package hint

import "testing"

func TestHints(t *testing.T) {
	w := Words{
		Modules:       []string{"ansible.builtin.copy", "ansible.builtin.command", "community.general.ini_file", "ansible.builtin.template"},
		Keywords:      []string{"name", "when", "become", "notify", "register", "hosts", "gather_facts"},
		Filters:       []string{"default", "to_json", "ansible.builtin.combine"},
		Tests:         []string{"defined", "version"},
		Lookups:       []string{"file", "env"},
		Hosts:         []string{"web1", "web2", "database", "all"},
		Arguments:     func(string) []string { return []string{"msg", "var"} },
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
		{"anything else", ""},
	} {
		if got := w.For(c.message); got != c.want {
			t.Errorf("%s: got %q, want %q", c.message, got, c.want)
		}
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

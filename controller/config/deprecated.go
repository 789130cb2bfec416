package config

import "hark/playbook/deprecation"

// deprecated is a setting, or one of its names, that will go: a variable of the environment or [section]entry.
type deprecated struct {
	name string
	// why it goes, what is to be used instead, if anything is, and the version of ansible-core that is without it.
	why, instead, version string
}

func (d deprecated) notice() deprecation.Notice {
	text := d.name + " option, " + d.why
	if d.instead != "" {
		text += ", use " + d.instead + " instead"
	}
	return deprecation.Notice{Text: text, Version: d.version, Collection: "ansible.builtin"}
}

// deprecatedNames returns those that are deprecated, in the order in which Ansible warns of them.
func deprecatedNames() []deprecated {
	const (
		renamed  = "normalizing names to new standard"
		defaults = "the module_defaults keyword is a more generic version and can apply to all calls to the " +
			"M(ansible.builtin.gather_facts) or M(ansible.builtin.setup) actions"
	)
	return []deprecated{
		{"ANSIBLE_COW_WHITELIST", renamed, "ANSIBLE_COW_ACCEPTLIST", "2.15"},
		{"[defaults]cow_whitelist", renamed, "cowsay_enabled_stencils", "2.15"},
		{"ANSIBLE_CALLBACK_WHITELIST", renamed, "ANSIBLE_CALLBACKS_ENABLED", "2.15"},
		{"[defaults]callback_whitelist", renamed, "callbacks_enabled", "2.15"},
		{"DEFAULT_FACT_PATH", defaults, "module_defaults", "2.18"},
		{"DEFAULT_GATHER_SUBSET", defaults, "module_defaults", "2.18"},
		{"DEFAULT_GATHER_TIMEOUT", defaults, "module_defaults", "2.18"},
		{"ANSIBLE_JINJA2_NATIVE_WARNING", "This option is no longer used in the Ansible Core code base.", "", "2.17"},
	}
}

// deprecations reports the deprecated names that are used. An entry of the file that a variable of the environment
// hides is not.
func (c *Config) deprecations(ini iniFile) []deprecation.Notice {
	used := map[string]bool{}
	for _, s := range c.settings {
		hidden := false
		for _, name := range s.Env {
			_, ok := c.world.Getenv(name)
			used[name], hidden = ok, hidden || ok
		}
		for _, k := range s.Keys {
			_, ok := ini.get(k)
			used[k.String()] = ok && !hidden
		}
		used[s.Name] = used[s.Name] || c.values[key(s)].Origin != "default"
	}
	var out []deprecation.Notice
	for _, d := range deprecatedNames() {
		if used[d.name] {
			out = append(out, d.notice())
		}
	}
	return out
}

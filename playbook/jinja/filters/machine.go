package filters

import "hark/playbook/jinja"

// Machine returns the filters and tests whose answers depend on the machine that they run on: on its files, users and
// environment. For Ansible that is always the controller.
func Machine() (filters map[string]jinja.Filter, tests map[string]jinja.Test) {
	names := ansibleNames()
	filters = map[string]jinja.Filter{}
	for _, name := range []string{"expanduser", "expandvars", "fileglob", "realpath", "relpath"} {
		named(filters, name, names[name])
	}
	tests = map[string]jinja.Test{}
	for name, t := range fileTests() {
		if name != "abs" && name != "is_abs" {
			named(tests, name, t)
		}
	}
	return filters, tests
}

// named puts a plug-in of Ansible's own under all its names.
func named[P any](all map[string]P, name string, p P) {
	for _, prefix := range []string{"", "ansible.builtin.", "ansible.legacy."} {
		all[prefix+name] = p
	}
}

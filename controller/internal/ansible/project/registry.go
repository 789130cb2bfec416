package project

import (
	"os"
	"slices"
	"strings"

	"hark/controller/config"
	"hark/controller/internal/ansible/ansibleerror"
	"hark/modules"
	"hark/modules/all"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// Registry has the modules that plays may use: all, but for those that the plug-in filter file rejects.
func Registry(settings *config.Config, l plan.Level, warn func(string)) (*modules.Registry, error) {
	list := all.Modules()
	path := settings.Text("PLUGIN_FILTERS_CFG")
	refused := rejected(path, warn)
	if slices.Contains(refused, "stat") {
		list := "blacklist"
		if l.Has(dialect.PlaybookWords) {
			list = "reject list"
		}
		return nil, ansibleerror.Errorf("The stat module was specified in the module %s file, %s, but"+
			" Ansible will not function without the stat module.  Please remove stat from the %s.", list, path, list)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(m *modules.Module) bool {
		return slices.Contains(refused, m.Name) || slices.Contains(refused, strings.TrimPrefix(m.Name, "ansible.builtin."))
	})
	return modules.NewRegistry(list...), nil
}

// rejected returns the names in a plug-in filter file. A file that makes no sense is reported and rejects nothing.
func rejected(path string, warn func(string)) []string {
	if path == "" {
		if path = "/etc/ansible/plugin_filters.yml"; !Exists(path) {
			return nil
		}
	}
	skip := func(start, end string) []string {
		warn(start + path + end + " Skipping.")
		return nil
	}
	const file = "The plugin filter file, "
	if !Exists(path) {
		return skip(file, " does not exist.")
	}
	v, err := (&syntax.Loader{}).Value(path)
	if err != nil {
		warn(file + path + " was not parsable. Skipping: " + err.Error())
		return nil
	}
	d, _ := v.(*value.Dict)
	if d == nil {
		return skip(file, " was invalid.")
	}
	version, ok := d.Get("filter_version")
	switch {
	case !ok:
		return skip(file, " was invalid.")
	case strings.TrimSpace(value.Plain(version)) != "1.0":
		return skip(file, " was a version not recognized by this version of Ansible.")
	}
	var names []string
	for _, key := range []string{"module_blacklist", "module_rejectlist"} {
		v, _ := d.Get(key)
		l, isList := v.(*value.List)
		if _, there := d.Get(key); there && !isList {
			return skip("Unable to parse the plugin filter file ", " as "+key+" is not a list.")
		}
		if isList {
			for _, name := range l.Items {
				names = append(names, value.Plain(name))
			}
		}
	}
	return names
}

// Exists reports whether a file is there.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

package cli

import (
	"os"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/all"
	"hark/playbook/jinja/value"
	"hark/playbook/syntax"
)

// registry has the modules that plays may use: all, but for those that the plug-in filter file rejects.
func (a *app) registry() (*modules.Registry, error) {
	list := all.Modules()
	path := a.cfg.Text("PLUGIN_FILTERS_CFG")
	rejected := a.rejected(path)
	if slices.Contains(rejected, "stat") {
		return nil, failf("The stat module was specified in the module blacklist file, %s, but"+
			" Ansible will not function without the stat module.  Please remove stat from the blacklist.", path)
	}
	list = slices.DeleteFunc(slices.Clone(list), func(m *modules.Module) bool {
		return slices.Contains(rejected, m.Name) || slices.Contains(rejected, strings.TrimPrefix(m.Name, "ansible.builtin."))
	})
	return modules.NewRegistry(list...), nil
}

// rejected are the names in a plug-in filter file. A file that makes no sense is told and rejects nothing.
func (a *app) rejected(path string) []string {
	if path == "" {
		if path = "/etc/ansible/plugin_filters.yml"; !exists(path) {
			return nil
		}
	}
	skip := func(start, end string) []string {
		a.display.Warn(start + path + end + " Skipping.")
		return nil
	}
	const file = "The plugin filter file, "
	if !exists(path) {
		return skip(file, " does not exist.")
	}
	v, err := (&syntax.Loader{}).Value(path)
	if err != nil {
		a.display.Warn(file + path + " was not parsable. Skipping: " + err.Error())
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

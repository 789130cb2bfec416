package compile

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// check returns what is wrong with the module_defaults of a play, role, block or task. Ansible shows no place.
func (m moduleDefaults) check(attrs syntax.Attrs) error {
	v := attrs.Get("module_defaults")
	if v == nil || value.IsNone(v) {
		return nil
	}
	for _, item := range items(v) {
		d, ok := item.(*value.Dict)
		if !ok {
			return &syntax.Error{Msg: "The field 'module_defaults' is supposed to be a dictionary or list of dictionaries, " +
				"the keys of which must be static action, module, or group names. Only the values may contain " +
				"templates. For example: {'ping': \"{{ ping_defaults }}\"}"}
		}
		for _, k := range d.Keys() {
			name, _ := value.Text(k)
			if err := m.checkEntry(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEntry reports whether the action or group exists that an entry is for.
func (m moduleDefaults) checkEntry(name string) error {
	if group, ok := strings.CutPrefix(m.key(name), "group/"); ok {
		parts := strings.SplitN(group, ".", 3)
		if _, _, found := m.group(parts[0]+"."+parts[1], parts[2]); !found {
			return &syntax.Error{Msg: "Error loading module_defaults: could not resolve the module_defaults group " + group}
		}
		return nil
	}
	if strings.Count(name, ".") < 2 {
		name = "ansible.legacy." + name
	}
	if _, ok := m.project.actions.resolve(name, nil); !ok {
		return &syntax.Error{Msg: "Could not resolve action " + name + " in module_defaults"}
	}
	return nil
}

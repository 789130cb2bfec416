package answer

import (
	"fmt"
	"slices"
	"strings"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
)

func lookupConfig(a *Answerer, c *lookupCall) ([]value.Value, error) {
	missing := c.text("on_missing", "error")
	if !slices.Contains([]string{"error", "warn", "skip"}, missing) {
		return nil, failLookup("AnsibleOptionsError",
			`Invalid value "%s" for configuration option "plugin_type: lookup plugin: config setting: on_missing ", valid values are: error, skip, warn`, missing)
	}
	kind, plugin := c.text("plugin_type", ""), c.text("plugin_name", "")
	if (kind == "") != (plugin == "") {
		return nil, failLookup("AnsibleOptionsError",
			"Both plugin_type and plugin_name are required, cannot use one without the other")
	}
	origins := c.bool("show_origin", false)
	var out []value.Value
	for _, term := range c.terms {
		name, ok := value.Text(term)
		if !ok {
			return nil, failLookup("AnsibleOptionsError", `Invalid setting identifier, "%s" is not a string, its a %s`,
				textOf(term), pyType(term))
		}
		v, origin, ok := a.setting(name)
		if kind != "" {
			v, origin, ok = a.pluginSetting(c, kind+"/"+strings.TrimPrefix(plugin, "ansible.builtin."), name, len(out))
		}
		switch {
		case ok && origins:
			out = append(out, value.NewList(v, value.Str(origin)))
		case ok:
			out = append(out, v)
		case kind == "" && slices.Contains(noSettings, name):
			return nil, failLookup("AnsibleOptionsError", `Invalid setting "%s" attempted`, name)
		case missing == "error" && a.Templates.Has(dialect.LookupWords):
			return nil, failLookup("AnsibleUndefinedConfigEntry", "%s", noDefinition(kind, plugin, name))
		case missing == "error" && kind != "":
			return nil, failLookup("AnsibleLookupError", "Unable to find setting %[1]s. %[2]s. %[2]s", name,
				fmt.Sprintf("Requested entry (plugin_type: %s plugin: %s setting: %s ) was not defined in configuration.", kind,
					plugin, name))
		case missing == "error":
			return nil, failLookup("AnsibleLookupError", "Unable to find setting %[1]s. %[2]s. %[2]s", name,
				"module 'ansible.constants' has no attribute '"+name+"'")
		case missing == "warn":
			a.warn("Skipping, did not find setting " + name)
		}
	}
	return out, nil
}

func (a *Answerer) setting(name string) (v value.Value, origin string, ok bool) {
	if a.Setting == nil {
		return nil, "", false
	}
	return a.Setting(name)
}

// noSettings are names beside Ansible's settings that are functions and classes there.
var noSettings = []string{"ConfigManager", "Sequence", "add_internal_fqcns", "set_constant", "to_text"}

// PluginSetting is a setting of a plug-in: its value and where that is from, and the variables of hosts that count
// more, the last most. Kind is int, bool or "".
type PluginSetting struct {
	Value     value.Value
	Origin    string
	Variables []string
	Kind      string
}

// pluginSetting returns a setting as hosts have it that set no variable for it; those that do are told which.
func (a *Answerer) pluginSetting(c *lookupCall, plugin, name string, at int) (v value.Value, origin string, ok bool) {
	if a.PluginSetting == nil {
		return nil, "", false
	}
	s, ok := a.PluginSetting(plugin, name)
	if ok && len(s.Variables) > 0 {
		c.overrides = append(c.overrides, wire.Override{At: at, Names: s.Variables, Kind: s.Kind})
	}
	return s.Value, s.Origin, ok
}

func lookupHosts(a *Answerer, c *lookupCall) ([]value.Value, error) {
	var patterns string
	for i, t := range c.texts() {
		if i > 0 {
			patterns += ","
		}
		patterns += t
	}
	if a.Match == nil {
		return nil, nil
	}
	hosts, err := a.Match(patterns)
	if err != nil {
		return nil, nil
	}
	return strs(hosts...), nil
}

// noDefinition says that there is no such setting, as ansible-core does since 2.19.
func noDefinition(kind, plugin, name string) string {
	of := ""
	if kind != "" {
		of = " for " + value.ReprText(plugin) + " " + kind + " plugin"
	}
	return "No config definition exists for " + value.ReprText(name) + of + "."
}

package project

import (
	"strings"

	"hark/controller/config"
	"hark/controller/internal/play/answer"
	"hark/modules/py/value"
)

// ConfigLookup answers the lookup config.
type ConfigLookup struct{ Settings *config.Config }

// Setting returns a setting of Ansible by its name.
func (l ConfigLookup) Setting(name string) (v value.Value, origin string, ok bool) {
	for _, s := range l.Settings.Values("") {
		if s.Setting.Name == name {
			return SettingValue(s.V), s.Origin, true
		}
	}
	return nil, "", false
}

// PluginSetting returns a setting of a plug-in ("connection/ssh").
func (l ConfigLookup) PluginSetting(plugin, name string) (answer.PluginSetting, bool) {
	for _, s := range l.Settings.Values(plugin) {
		if s.Setting.Name != name {
			continue
		}
		out := answer.PluginSetting{Value: SettingValue(s.V), Origin: s.Origin, Variables: s.Setting.Variables()}
		switch s.Setting.Kind {
		case config.Int:
			out.Kind = "int"
		case config.Bool:
			out.Kind = "bool"
		}
		return out, true
	}
	return answer.PluginSetting{}, false
}

// forModules returns the settings that modules in Python get, by Ansible's names for them, without those that have
// their defaults.
func (e Effective) forModules() *value.Dict {
	told := value.NewDict()
	for _, s := range []struct{ plugin, setting, name string }{
		{"", "DEFAULT_SYSLOG_FACILITY", "syslog_facility"}, {"", "STRING_CONVERSION_ACTION", "string_conversion_action"},
		{"", "DEFAULT_SELINUX_SPECIAL_FS", "selinux_special_fs"}, {"", "DEFAULT_KEEP_REMOTE_FILES",
			"keep_remote_files"}, {"", "DEFAULT_DEBUG", "debug"},
		{"", "DEFAULT_NO_TARGET_SYSLOG", "no_log"}, {"shell/sh", "remote_tmp", "remote_tmp"},
	} {
		for _, v := range e.Settings.Values(s.plugin) {
			// a task may say no_log by itself
			if v.Setting.Name == s.setting && v.Origin != "default" && (s.name != "no_log" || v.V == true) {
				told.Set(s.name, SettingValue(v.V))
			}
		}
	}
	return told
}

// SettingValue returns the Go value of a setting as a value.
func SettingValue(v any) value.Value {
	if l, ok := v.([]string); ok {
		return value.KindStr.Texts(l)
	}
	return value.FromGo(v, value.KindStr)
}

// Split cuts the values of --tags and the like at commas; equal ones count once.
func Split(values []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, v := range values {
		for _, tag := range strings.Split(v, ",") {
			if tag = strings.TrimSpace(tag); !seen[tag] {
				seen[tag] = true
				out = append(out, tag)
			}
		}
	}
	return out
}

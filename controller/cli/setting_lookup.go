package cli

import (
	"hark/controller/config"
	"hark/controller/internal/answer"
)

// pluginSetting answers the lookup config about a setting of a plug-in ("connection/ssh").
func (p *project) pluginSetting(plugin, name string) (answer.PluginSetting, bool) {
	for _, s := range p.cfg.Values(plugin) {
		if s.Setting.Name != name {
			continue
		}
		out := answer.PluginSetting{Value: goValue(s.V), Origin: s.Origin, Variables: s.Setting.Variables()}
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

package project

import (
	"hark/controller/config"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// keywords are what flags and settings say of keywords that a playbook does not give. Flags win.
func (p *Project) keywords() *value.Dict {
	d := settingsOfKeywords(p.Settings)
	text := func(keyword, v string) {
		if v != "" {
			d.Set(keyword, value.YAMLStr(v))
		}
	}
	flag := func(keyword string, on bool) {
		if on {
			d.Set(keyword, value.Bool(true))
		}
	}
	flag("become", p.Options.Become.On)
	text("become_user", p.Options.Become.User)
	text("become_method", p.Options.Become.Method)
	text("remote_user", p.Options.Connect.User)
	if p.Options.Connect.Kind != "smart" {
		text("connection", p.Options.Connect.Kind)
	}
	flag("check_mode", p.Options.Mode.Check)
	flag("diff", p.Options.Mode.Diff)
	flag("force_handlers", p.Options.ForceHandlers)
	if n := p.Options.TaskTimeout; n > 0 {
		d.Set("timeout", value.Int(n))
	}
	return d
}

// settingsOfKeywords are the keywords that somebody has set by a setting.
func settingsOfKeywords(settings *config.Config) *value.Dict {
	d := value.NewDict()
	for _, k := range plan.Keywords() {
		if k.Setting == "" || !settings.IsSet(k.Setting) {
			continue
		}
		switch k.Is {
		case plan.IsBool:
			d.Set(k.Name, value.Bool(settings.Bool(k.Setting)))
		case plan.IsInt:
			d.Set(k.Name, value.Int(settings.Int(k.Setting)))
		case plan.IsList:
			d.Set(k.Name, SettingValue(settings.List(k.Setting)))
		default:
			d.Set(k.Name, value.YAMLStr(settings.Text(k.Setting)))
		}
	}
	return d
}

package project

import (
	"hark/controller/config"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// keywords returns what flags and settings say of keywords that a playbook does not give. Flags win.
func (e Effective) keywords() *value.Dict {
	d := settingsOfKeywords(e.Settings)
	text := func(keyword, v string) {
		if v != "" {
			d.Set(keyword, value.SourceText(v))
		}
	}
	flag := func(keyword string, on bool) {
		if on {
			d.Set(keyword, value.Bool(true))
		}
	}
	flag("become", e.Options.Become.On)
	text("become_user", e.Options.Become.User)
	text("become_method", e.Options.Become.Method)
	text("remote_user", e.Options.Connect.User)
	if e.Options.Connect.Kind != "smart" {
		text("connection", e.Options.Connect.Kind)
	}
	flag("check_mode", e.Options.Mode.Check)
	flag("diff", e.Options.Mode.Diff)
	flag("force_handlers", e.Options.ForceHandlers)
	if n := e.Options.TaskTimeout; n > 0 {
		d.Set("timeout", value.Int(n))
	}
	return d
}

// settingsOfKeywords returns the keywords that somebody has set by a setting.
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
			d.Set(k.Name, value.SourceText(settings.Text(k.Setting)))
		}
	}
	return d
}

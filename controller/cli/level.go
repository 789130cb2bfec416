package cli

import (
	"hark/controller/config"
	"hark/controller/internal/ansible/argparse"
	"hark/playbook/level"
	"hark/playbook/plan"
)

// levelOf returns the language of this call.
func levelOf(a *app) plan.Level {
	l, _ := levelFrom(a)
	return l
}

// levelFrom returns the level and where it comes from: the flag, the setting, the ansible-core of this machine, or
// the newest. Others than there are were refused where they were read.
func levelFrom(a *app) (plan.Level, string) {
	if a.chosen != "" {
		l, _ := level.Parse(a.chosen)
		return l, "--level"
	}
	if v := a.cfg.Get("HARK_ANSIBLE"); v.V != nil {
		l, _ := level.Parse(a.cfg.Text("HARK_ANSIBLE"))
		return l, v.Origin
	}
	if dir := a.python().ansible; dir != "" {
		if core := level.CoreIn(dir); core != "" {
			return level.OfCore(core), "that of ansible-core " + core + " in " + dir
		}
	}
	return level.OfCore(""), levelDefault
}

// levelDefault is where a level comes from that nobody has chosen.
const levelDefault = "default"

// checkLevel refuses a level that there is not.
func checkLevel(a *app) error {
	if a.chosen == "" {
		return nil
	}
	if _, err := level.Parse(a.chosen); err != nil {
		return &argparse.UsageError{Text: "argument --level: " + err.Error()}
	}
	return nil
}

// has reports whether the level has a setting.
func has(a *app, s config.Setting) bool {
	is := levelOf(a)
	return (s.Since == nil || is.Has(s.Since)) && (s.Until == nil || !is.Has(s.Until))
}

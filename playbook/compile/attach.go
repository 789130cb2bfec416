package compile

import (
	"strings"

	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// attach sends the controller-side file of a step ahead, if its name is constant and Config.Attach is for it. A step without is
// not wrong: its host asks.
func (c *compiler) attach(s *plan.Step) {
	attach := c.play.project.cfg.Attach
	if attach == nil || s.ArgsExpr != "" {
		return
	}
	name, dir := sourceOf(s)
	if name == "" || templar.IsTemplate(value.YAMLStr(name)) || strings.HasSuffix(name, "/") {
		return
	}
	path, _, ok := c.play.base.Stack(s.Search, dir, name)
	if !ok {
		return
	}
	if f, ok := attach(path); ok {
		f.Path = path
		s.Files = map[string]plan.File{name: f}
	}
}

// sourceOf is the file that a step reads on the controller, and the directory where such files are kept.
func sourceOf(s *plan.Step) (name, dir string) {
	text := func(arg string) string {
		v, _ := s.Args.Get(arg)
		out, _ := value.Text(value.OrNone(v))
		return out
	}
	switch s.Action {
	case "ansible.builtin.copy":
		if remote, ok := s.Args.Get("remote_src"); ok && !off(plan.Lit(remote)) {
			return "", ""
		}
		return text("src"), "files"
	case "ansible.builtin.template":
		return text("src"), "templates"
	}
	return "", ""
}

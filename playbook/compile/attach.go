package compile

import (
	"regexp"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// Attachment is a file of the controller that a step names, see Config.Attach.
type Attachment struct {
	File plan.File
	// Text is the content, if it was read.
	Text []byte
}

// inlineBudget is how many bytes of files travel in one plan; hosts pull the rest.
const inlineBudget = 256 << 10

// attach adds the controller's file of a step to the plan, if its name is constant and Config.Attach agrees. A step
// without its file is the controller's. A file that an earlier step may change is not added: it is read when its step
// comes.
func (c *compiler) attach(s *plan.Step) {
	cfg := &c.play.project.cfg
	if c.play.hosts.Ahead {
		defer func() { c.unit.touched = c.unit.touched || c.mayTouch(s) }()
	}
	if cfg.Attach == nil || !c.play.hosts.Ahead || c.unit.touched || c.local() || s.ArgsExpr != "" ||
		len(s.Defaults) > 0 || !s.DelegateTo.IsZero() || s.Plugin != nil {
		return
	}
	if s.Foreign != nil {
		c.attachModule(s)
		return
	}
	name, dir := sourceOf(c.play.project.cfg.Modules, s)
	if name == "" || templar.IsTemplateText(name) || strings.HasSuffix(name, "/") {
		return
	}
	path, _, ok := c.play.base.Stack(s.Search, dir, name)
	if !ok {
		return
	}
	a, ok := cfg.Attach(path, name, dir == "templates")
	if !ok || dir == "templates" && !c.plainTemplate(s, string(a.Text)) {
		return
	}
	c.carry(s, name, a.File)
}

// carry adds a file to a step.
func (c *compiler) carry(s *plan.Step, name string, f plan.File) {
	if c.unit.inlined += len(f.Inline); c.unit.inlined > inlineBudget {
		f.Inline = nil
	}
	s.Files = map[string]plan.File{name: f}
}

// attachModule adds the pack of a module that is not native.
func (c *compiler) attachModule(s *plan.Step) {
	if c.play.project.cfg.AttachModule == nil {
		return
	}
	if f, ok := c.play.project.cfg.AttachModule(s); ok {
		c.carry(s, s.Written, f)
	}
}

// plainTemplate reports whether a host can render a template: it needs nothing of the controller, and its delimiters
// are the usual ones. What it reads counts for the step.
func (c *compiler) plainTemplate(s *plan.Step, text string) bool {
	for _, name := range []string{
		"variable_start_string", "variable_end_string", "block_start_string", "block_end_string", "comment_start_string",
		"comment_end_string",
	} {
		if _, given := s.Args.Get(name); given {
			return false
		}
	}
	if strings.HasPrefix(text, "#jinja2:") {
		return false
	}
	w := c.survey(s)
	before := w.why
	w.text(templar.ReadText(text))
	return w.why == before
}

// local reports whether hosts of the batch are the controller, whose own steps change its files.
func (c *compiler) local() bool {
	for _, host := range c.play.hosts.Batch {
		if host == "localhost" || host == "127.0.0.1" || host == "::1" {
			return true
		}
	}
	return c.play.hosts.Settings != nil && strings.HasSuffix(c.play.hosts.Settings.Connection, "local")
}

// mayTouch reports whether a step may change files of the controller.
func (c *compiler) mayTouch(s *plan.Step) bool {
	switch {
	case !s.DelegateTo.IsZero(), !s.Connection.IsZero(), s.Plugin != nil:
		return true
	case s.Kind == plan.Include:
		return c.play.project.touches()
	}
	return c.play.project.cfg.Modules.Has(s.Action, modules.ChangesController) || c.survey(s).writes
}

// touching matches words of task files that may change files of the controller.
var touching = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\b(?:delegate_to|local_action|connection|fetch|synchronize|with_lines|with_password|` +
		`with_pipe)\b[ \t]*:|` +
		`\b(?:lookup|query|q)\(\s*(?:[^'"\s]|['"](?:\w+\.\w+\.)?(?:pipe|lines|password|url)\b|['"](?:[^a'"]\w*|` +
		`a[^n'"]\w*)\.)`)
})

// touches reports whether any task file of the project has such words.
func (p *Project) touches() bool {
	p.touching.Do(func() { p.touched = p.Mentions(touching()) })
	return p.touched
}

// sourceOf returns the file that a step reads on the controller, and the directory for such files.
func sourceOf(known *modules.Registry, s *plan.Step) (name, dir string) {
	text := func(arg string) string {
		v, _ := s.Args.Get(arg)
		out, _ := value.Text(value.OrNone(v))
		return out
	}
	if remote, ok := s.Args.Get("remote_src"); ok && !off(plan.Lit(remote)) {
		return "", ""
	}
	does := func(trait modules.Trait) bool { return known.Has(s.Action, trait) }
	switch {
	case does(modules.ReadsFiles):
		return text("src"), "files"
	case does(modules.ReadsTemplates):
		return text("src"), "templates"
	case does(modules.ReadsProgram):
		line := text("_raw_params")
		if line == "" {
			line = text("cmd")
		}
		words, err := shlex.Split(line)
		if err != nil || len(words) == 0 || templar.IsTemplateText(words[0]) {
			return "", ""
		}
		return words[0], "files"
	}
	return "", ""
}

package compile

import (
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// Mistake is something in a task that will fail when the task is reached, and that can be seen before the first one.
type Mistake struct {
	Place syntax.Place
	// Kind is "register", "handler", "meta" or "argument"; Word is what is wrong.
	Kind, Word string
	// Known are the words that would be right, if there is a list of them; Of is whose they are.
	Known []string
	Of    string
}

// Mistakes returns those of a play's tasks and handlers, with those of its roles and of files that it imports. Words
// with templates, tasks that are included later, and modules that are not native are left out: nobody can know them
// yet.
func Mistakes(p *Play) []Mistake {
	m := mistakes{play: p}
	lists := [][]*block{p.pre, p.tasks, p.post, p.allHandlers()}
	for _, r := range p.roles {
		m.role(r, map[*role]bool{})
	}
	for _, list := range lists {
		m.blocks(list)
	}
	if !m.open {
		m.notifications()
	}
	return m.found
}

// mistakes is one search.
type mistakes struct {
	play  *Play
	found []Mistake
	// open: tasks are included when the play runs, which may bring handlers.
	open     bool
	notified []Mistake
	handlers []string
}

func (m *mistakes) role(r *role, seen map[*role]bool) {
	if seen[r] {
		return
	}
	seen[r] = true
	for _, d := range r.deps {
		m.role(d, seen)
	}
	m.blocks(r.blocks)
}

func (m *mistakes) blocks(list []*block) {
	for _, b := range list {
		for _, section := range [][]item{b.body, b.rescue, b.always} {
			for _, it := range section {
				if it.block != nil {
					m.blocks([]*block{it.block})
				} else if !it.task.implicit {
					m.task(it.task)
				}
			}
		}
	}
}

func (m *mistakes) task(t *task) {
	if t.handler {
		m.handlers = append(append(m.handlers, t.src.Listen...), t.src.Name)
	}
	if name, ok := value.Text(value.OrNone(t.src.Attrs.Get("register"))); ok && name != "" && !dynamic(name) &&
		!identifier(name) {
		m.add(t, Mistake{Kind: "register", Word: name})
	}
	if n := t.src.Attrs["notify"]; n.Value != nil {
		for _, name := range plainTexts(n.Value) {
			m.notified = append(m.notified, Mistake{Place: t.src.Place, Kind: "handler", Word: name})
		}
	}
	switch modules.ShortName(t.action) {
	case "include_tasks", "include_role", "include":
		m.open = true
	case "meta":
		m.meta(t)
	default:
		m.arguments(t)
	}
}

func (m *mistakes) add(t *task, x Mistake) {
	x.Place = t.src.Place
	m.found = append(m.found, x)
}

// metas returns the actions that meta has.
func metas() []string {
	return []string{
		"flush_handlers", "noop", "refresh_inventory", "clear_facts", "clear_host_errors", "end_play", "end_batch",
		"end_host", "end_role", "reset_connection",
	}
}

func (m *mistakes) meta(t *task) {
	raw, _ := t.src.Args.Get("_raw_params")
	action, ok := value.Text(value.OrNone(raw))
	if !ok || dynamic(action) || slices.Contains(metas(), strings.TrimSpace(action)) {
		return
	}
	m.add(t, Mistake{Kind: "meta", Word: action, Known: metas(), Of: "meta"})
}

// arguments compares the arguments of a task with those of its native module.
func (m *mistakes) arguments(t *task) {
	module, ok := m.play.project.cfg.Modules.Get(t.action)
	if !ok || module.Has(modules.SetsVariables|modules.ChangesInventory) || t.foreign != nil ||
		t.plugin != nil || t.src.ArgsExpr != "" || dynamic(t.action) {
		return
	}
	var known []string
	for _, p := range module.Params() {
		known = append(append(known, p.Name), p.Aliases...)
	}
	if len(known) == 0 {
		return
	}
	for _, key := range t.src.Args.Keys() {
		name, ok := value.Text(key)
		if ok && !dynamic(name) && !strings.HasPrefix(name, "_") && !slices.Contains(known, name) {
			m.add(t, Mistake{Kind: "argument", Word: name, Known: known, Of: t.src.Action})
		}
	}
}

// notifications are compared with the handlers when all of them are known. A handler whose name is a template may be
// any.
func (m *mistakes) notifications() {
	if slices.ContainsFunc(m.handlers, dynamic) {
		return
	}
	for _, x := range m.notified {
		role, name, ok := strings.Cut(x.Word, " : ")
		if slices.Contains(m.handlers, x.Word) || ok && role != "" && slices.Contains(m.handlers, name) {
			continue
		}
		x.Known = m.handlers
		m.found = append(m.found, x)
	}
}

// plainTexts returns the texts of a value that is one or a list of them, those with templates left out.
func plainTexts(v value.Value) []string {
	var out []string
	if list, ok := v.(*value.List); ok {
		for _, x := range list.Items {
			out = append(out, plainTexts(x)...)
		}
		return out
	}
	if text, ok := value.Text(v); ok && text != "" && !dynamic(text) {
		out = append(out, text)
	}
	return out
}

// dynamic reports whether a text holds a template.
func dynamic(text string) bool { return strings.Contains(text, "{{") || strings.Contains(text, "{%") }

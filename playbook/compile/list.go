package compile

import (
	"context"

	"hark/modules/py/fnmatch"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// List returns the tasks of a play for --list-tasks and --list-tags. As in Ansible, tasks that are included while a
// play runs, and those of rescue and always sections, are not in it.
func (p *Project) List(ctx context.Context, play *Play, w World) ([]Listed, error) {
	s, err := p.Settings(ctx, play, w)
	if err != nil {
		return nil, err
	}
	l := &lister{p: play.batch(Batch{Settings: s, World: w})}
	for _, list := range l.p.sections() {
		for _, b := range list {
			l.items(b.body)
		}
	}
	return l.out, syntax.Join(l.errs...)
}

type lister struct {
	p    *Play
	out  []Listed
	errs []error
}

func (l *lister) items(list []item) {
	for _, it := range list {
		if it.block != nil {
			l.items(it.block.body)
			continue
		}
		run, tags, err := l.p.selected(it.task)
		if err != nil {
			l.errs = append(l.errs, err)
		}
		if run && !it.task.implicit {
			l.out = append(l.out, Listed{Name: it.task.listName(), Tags: tags})
		}
	}
}

// listName returns a task's name for --list-tasks.
func (t *task) listName() string {
	if t.src.Name == "" {
		return t.src.Action
	}
	return t.fullName()
}

// fullName returns the name with the role: "role : name".
func (t *task) fullName() string {
	name := t.src.Name
	if name == "" {
		name = t.src.Action
	}
	if t.o.role != nil && t.from == nil {
		return t.o.role.fullName() + " : " + name
	}
	return name
}

// findStart finds the step at which --start-at-task begins.
func (u *Unit) findStart(name string) {
	if name == "" {
		return
	}
	u.startIn(u.Plan.Blocks, name)
}

func (u *Unit) startIn(blocks []plan.Block, name string) {
	for _, b := range blocks {
		// Nothing has failed yet, so no host enters a rescue.
		u.startAmong(b.Body, name)
		u.startAmong(b.Always, name)
	}
}

func (u *Unit) startAmong(nodes []plan.Node, name string) {
	for _, n := range nodes {
		switch {
		case u.Start != "":
			return
		case n.Block != nil:
			u.startIn([]plan.Block{*n.Block}, name)
		case u.matches(n.Step, name):
			u.Start = n.Step.ID
		}
	}
}

// matches compares a name or a shell pattern with a step's name, with and without its role.
func (u *Unit) matches(s *plan.Step, name string) bool {
	full := s.Name
	if full == "" {
		full = s.Written
	}
	if role := u.Plan.Roles[s.Role]; role != nil {
		full = role.FullName() + " : " + full
	}
	for _, candidate := range []string{s.Name, full} {
		if candidate != "" && (candidate == name || fnmatch.Match(name, candidate)) {
			return true
		}
	}
	return false
}

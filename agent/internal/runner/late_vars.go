package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hark/agent/wire"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// lateVars are the vars_files whose names hold templates. They are read again when their names have other values: often
// they wait for facts.
type lateVars struct {
	files []plan.VarsFile
	vars  *vars.Host
	line  *controllerLink
	// eval renders outside of any step.
	eval func() *eval
	// seen are the names under which they were read, by index.
	seen map[int]string
}

// read asks the controller for the contents.
func (l *lateVars) read(ctx context.Context) error {
	for i, vf := range l.files {
		if !vf.Late {
			continue
		}
		names, ok, err := l.names(ctx, vf)
		if err != nil {
			return err
		}
		key := strings.Join(names, "\x00")
		if !ok || key == l.seen[i] {
			continue
		}
		a, err := l.line.ask(ctx, wire.Ask{Kind: wire.AskVarsFile, Names: names})
		if err != nil {
			return err
		}
		if a.Err != "" {
			l.line.emit(wire.Event{Kind: wire.Broken, Text: a.Err})
			return fmt.Errorf("%s", a.Err)
		}
		l.seen[i] = key
		late := map[int]*value.Dict{}
		for k, d := range l.vars.Late {
			late[k] = d
		}
		late[i], _ = a.Value.V.(*value.Dict)
		l.vars.Late = late
	}
	return nil
}

// changed reports whether names have other values than before, as far as this session can tell, and notes the new ones.
func (l *lateVars) changed(ctx context.Context) bool {
	changed := false
	for i, vf := range l.files {
		if !vf.Late {
			continue
		}
		e, key := l.eval(), ""
		for _, n := range vf.Texts() {
			text, err := e.tpl.Text(ctx, n)
			if err != nil {
				text = fmt.Sprint("\x00", l.gathered())
			}
			key += text + "\x00"
		}
		changed = changed || key != l.seen[i]
		l.seen[i] = key
	}
	return changed
}

// names renders the candidates of an entry; false means that a variable is not defined yet.
func (l *lateVars) names(ctx context.Context, vf plan.VarsFile) ([]string, bool, error) {
	e := l.eval()
	var names []string
	for _, n := range vf.Texts() {
		text, err := e.tpl.Text(ctx, n)
		if err != nil {
			return nil, false, l.fault(ctx, e, vf, err)
		}
		names = append(names, text)
	}
	return names, true, nil
}

// fault returns what an entry of vars_files that cannot be rendered means: before facts are gathered, variables may be
// missing; otherwise it ends the run.
func (l *lateVars) fault(ctx context.Context, e *eval, vf plan.VarsFile, err error) error {
	undefined := templar.IsUndefined(err)
	if undefined && !l.gathered() {
		return l.line.broken()
	}
	err = e.check(ctx, err)
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	text := f.text
	if undefined {
		entry := vf.Names[0]
		if len(vf.Names) > 1 {
			entry = value.PrintedRepr(value.KindStr.Texts(vf.Names))
		}
		text = "an undefined variable was found when attempting to template the vars_files item '" + entry + "'"
		if e.has(dialect.VarsFilesWords) {
			text += ": " + f.text
		}
	}
	l.line.emit(wire.Event{Kind: wire.Broken, Text: text})
	return errors.New(text)
}

// gathered reports whether the facts of the host were gathered.
func (l *lateVars) gathered() bool {
	if l.vars.Facts == nil {
		return false
	}
	_, ok := l.vars.Facts.Get("module_setup")
	return ok
}

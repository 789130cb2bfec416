package plugins

import (
	"context"
	"errors"
	"fmt"

	"hark/modules/py/value"
	"hark/playbook/inventory"
)

// Vars are the vars plug-ins of a project; they need an Ansible on this machine, which they are made of. Calls come
// one at a time.
type Vars struct {
	Runner *Runner
	// Dirs are the directories of plug-ins, Enabled the names of vars_plugins_enabled, Stage is run_vars_plugins.
	Dirs, Enabled []string
	Stage         string
	// Book is the playbook's directory, "" for none.
	Book string
	// idle are the stages at which no plug-in runs, as far as that was found out.
	idle map[inventory.Stage]bool
}

// Vars implements inventory.VarsPlugins.
func (v *Vars) Vars(dir, kind string, names []string, stage inventory.Stage) (under, over *value.Dict, err error) {
	if v.idle[stage] {
		return nil, nil, nil
	}
	args, err := value.Encode(value.NewList(value.Str(dir), value.Str(kind), value.KindStr.Texts(names),
		value.KindStr.Texts(v.Enabled), value.Str(v.Stage), value.Str(stage)))
	if err != nil {
		return nil, nil, err
	}
	q := request{Kind: "vars", Dirs: v.Dirs, Args: args, Basedir: v.Book}
	if v.Book != "" {
		q.Books = []string{v.Book}
	}
	raw, err := v.Runner.ask(context.Background(), q, Call{})
	var raised *value.Error
	if errors.As(err, &raised) {
		return nil, nil, errors.New(raised.Msg)
	}
	if err != nil {
		return nil, nil, err
	}
	answer, err := value.Decode(raw, value.KindSource) // as in files, it may hold templates
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read what vars plug-ins give: %w", err)
	}
	l, ok := answer.(*value.List)
	if !ok {
		if v.idle == nil {
			v.idle = map[inventory.Stage]bool{}
		}
		v.idle[stage] = true
	} else if len(l.Items) == 2 {
		under, _ = l.Items[0].(*value.Dict)
		over, _ = l.Items[1].(*value.Dict)
	}
	return under, over, nil
}

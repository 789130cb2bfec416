package compile

import (
	"context"
	"errors"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// templar renders with the variables that Ansible has while it loads a play: those of the play, its roles and the
// object, the extra and the magic ones; nothing of a host. o may be nil.
func (p *Play) templar(o *object) *templar.Templar {
	s := vars.NewScope(&vars.Host{Late: p.lateFiles}, p.shared(), p.stepVars(o))
	s.Lazy = p.world.Lazy
	return templar.New(s, p.project.cfg.Templates)
}

// shared returns the present layers of the play's variables.
func (p *Play) shared() *vars.Shared {
	cfg := &p.project.cfg
	sh := &vars.Shared{
		Vars: overlay(p.vars, p.world.Prompted), VarsFiles: p.varsFiles, Extra: cfg.Extra, Magic: p.magic(),
		HashMerge: cfg.HashMerge, InjectFacts: cfg.InjectFacts, Outgoing: cfg.Outgoing,
	}
	sh.RoleDefaults, sh.RoleVars = p.roleLayers()
	return sh
}

// roleLayers returns the defaults and the vars of all roles of the play.
func (p *Play) roleLayers() (defaults, all *value.Dict) {
	cfg := &p.project.cfg
	for _, r := range p.roles {
		if r.public != nil && !*r.public {
			continue
		}
		defaults = vars.Combine(defaults, r.defaultVars(nil, cfg.HashMerge), cfg.HashMerge)
		if r.public != nil || !cfg.PrivateRoleVars {
			all = vars.Combine(all, r.exported(cfg.HashMerge), cfg.HashMerge)
		}
	}
	return defaults, all
}

func (p *Play) magic() *value.Dict {
	named, dependent := roleNames(p.roles)
	return vars.PlayMagic(vars.PlayInfo{
		PlaybookDir: string(p.base), ConfigFile: p.project.cfg.ConfigFile, Python: p.project.cfg.Python,
		Name: p.name, PlayRoles: named, DependentRoles: dependent, Options: p.project.cfg.Options,
		AllHosts: p.hosts.AllHosts, Hosts: p.hosts.Hosts, Batch: p.hosts.Batch, Named: p.world.Named,
	})
}

// stepVars returns the layers that an object adds.
func (p *Play) stepVars(o *object) vars.Step {
	if o == nil {
		return vars.Step{}
	}
	st := vars.Step{Vars: o.taskVars(), IncludeVars: o.includeParams(), Search: o.search()}
	if o.role != nil {
		st.Role = o.role.plan(o.chain(), p.project.cfg.HashMerge)
	}
	return st
}

// text renders a name.
func (p *Play) text(s string, o *object) (string, error) {
	if !templar.IsTemplateText(s) {
		return s, nil
	}
	return p.templar(o).Text(context.Background(), value.SourceText(s))
}

// Error is an error of a playbook that is not about its form: a role that does not exist, a name that cannot be
// rendered. Ansible ends with another exit code for them than for errors of syntax.
type Error struct {
	Msg   string
	Place syntax.Place // zero if it has none
	// Detail is what Ansible says of the place, "" if it says nothing.
	Detail string
}

// Error returns the message as ansible-playbook prints it after "ERROR! ".
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Msg
	}
	return e.Msg + "\n\n" + e.Detail
}

// wrong returns an Error with what Ansible says of the place.
func (p *Play) wrong(place syntax.Place, format string, a ...any) *Error {
	e := p.project.loader.Errorf(place, format, a...)
	return &Error{Msg: e.Msg, Place: e.Place, Detail: e.Detail}
}

// at sets an error's place to that of an object, unless it has one. Ansible does not show these places.
func (p *Play) at(place syntax.Place, err error) error {
	if err == nil {
		return nil
	}
	var form *syntax.Error
	var ours *Error
	var many syntax.Errors
	var missing *syntax.NotFoundError
	switch {
	case errors.As(err, &many) || errors.As(err, &missing) || errors.As(err, &ours):
		return err
	case errors.As(err, &form):
		if form.Place.Line > 0 {
			return err
		}
		return &syntax.Error{Msg: form.Msg, Place: place}
	}
	return &Error{Msg: err.Error(), Place: place}
}

// asBool reads a bool as Ansible's keywords do.
func asBool(v value.Value) (bool, error) {
	if b, ok := value.AsBool(v); ok {
		return b, nil
	}
	return false, &Error{Msg: value.NotBool(value.Printed(v))}
}

package runner

import (
	"context"
	"slices"
	"time"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/datetime"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// templateVars are the variables of a template file: those about the file hide all others of their names.
type templateVars struct {
	templar.Vars
	e *eval
	o modules.TemplateOptions

	fileVars *value.Dict // what the controller knows of the file, once it was asked
}

// managedVar is the variable of the setting; at level 2.19 only where no other variable has its name.
const managedVar = "ansible_managed"

// asked returns the variables that only the controller knows.
func asked() []string {
	return []string{managedVar, "template_host", "template_mtime", "template_uid"}
}

// Raw returns a variable of the file, or any other.
func (t *templateVars) Raw(ctx context.Context, name string) (value.Value, bool, error) {
	switch name {
	case "template_path":
		return value.Str(t.o.Written), true, nil
	case "template_fullpath":
		return value.Str(t.o.Name), true, nil
	case "template_destpath":
		if t.o.Dest == "" {
			return value.None{}, true, nil
		}
		return value.Str(t.o.Dest), true, nil
	case "template_run_date":
		return t.naive(t.e.g.clock()), true, nil
	}
	if !slices.Contains(asked(), name) {
		return t.Vars.Raw(ctx, name)
	}
	if name == managedVar && t.e.has(dialect.ManagedVariable) {
		if v, ok, err := t.Vars.Raw(ctx, name); ok || err != nil {
			return v, ok, err
		}
	}
	if err := t.ask(ctx); err != nil {
		return nil, false, err
	}
	v, ok := t.fileVars.Get(name)
	return v, ok, nil
}

// Names returns the names of all variables.
func (t *templateVars) Names(ctx context.Context) []string {
	own := append(asked(), "template_path", "template_fullpath", "template_destpath", "template_run_date")
	for _, name := range t.Vars.Names(ctx) {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	return own
}

// naive returns a datetime as the controller has it.
func (t *templateVars) naive(at time.Time) *datetime.DateTime {
	d := datetime.Naive(at)
	d.Here = t.e.g.clock().Location()
	return d
}

// ask has the controller tell of the file.
func (t *templateVars) ask(ctx context.Context) error {
	if t.fileVars != nil {
		return nil
	}
	d := t.e.g.blobs.templateVars(t.o.Name)
	if d.Len() == 0 {
		const name = "template_vars"
		a, err := t.e.g.line.ask(ctx, wire.Ask{Kind: wire.AskMagic, Step: t.e.id, Name: name,
			Names: []string{name, t.o.Name, t.o.Written}})
		if err != nil {
			return err
		}
		if d, _ = a.Value.V.(*value.Dict); d == nil {
			d = value.NewDict()
		}
	}
	if v, ok := d.Get("template_mtime"); ok {
		if text, _ := value.Text(v); text != "" {
			if at, err := time.Parse(pythonTime, text); err == nil {
				d.Set("template_mtime", t.naive(at))
			}
		}
	}
	t.fileVars = d
	return nil
}

// pythonTime is the form in which Python prints a datetime.
const pythonTime = "2006-01-02 15:04:05.000000"

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

// templateVars are the variables of a template file: those that tell of the file hide all others of their names.
type templateVars struct {
	templar.Vars
	e *eval
	o modules.TemplateOptions

	told *value.Dict // what the controller knows of the file, once it was asked
}

// managedVar is the variable that the setting gives, at level 2.19 only where no other of its name is.
const managedVar = "ansible_managed"

// asked are the variables that only the controller can tell.
func asked() []string {
	return []string{managedVar, "template_host", "template_mtime", "template_uid"}
}

// Raw gives a variable of the file, or any other.
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
		return datetime.Naive(t.e.g.cfg.Now()), true, nil
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
	v, ok := t.told.Get(name)
	return v, ok, nil
}

// Names are all variables.
func (t *templateVars) Names(ctx context.Context) []string {
	own := append(asked(), "template_path", "template_fullpath", "template_destpath", "template_run_date")
	for _, name := range t.Vars.Names(ctx) {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	return own
}

// ask has the controller tell of the file.
func (t *templateVars) ask(ctx context.Context) error {
	if t.told != nil {
		return nil
	}
	d := t.e.g.blobs.told(t.o.Name)
	if d.Len() == 0 {
		const name = "template_vars"
		a, err := t.e.g.line.ask(ctx, wire.Ask{Kind: wire.AskMagic, Step: t.e.id, Name: name, Names: []string{name, t.o.Name, t.o.Written}})
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
				d.Set("template_mtime", datetime.Naive(at))
			}
		}
	}
	t.told = d
	return nil
}

// pythonTime is how Python prints a datetime.
const pythonTime = "2006-01-02 15:04:05.000000"

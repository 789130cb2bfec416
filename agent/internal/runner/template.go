package runner

import (
	"context"

	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// isTemplateLookup reports whether a lookup is template, the only one that needs both a file of the controller and this
// host's variables.
func isTemplateLookup(name string) bool {
	return modules.ShortName(name) == "template"
}

// templateLookup renders template files of the controller, one for each term.
func (e *eval) templateLookup(ctx context.Context, terms []value.Value, kw *value.Dict) (value.Value, error) {
	o, err := templar.ReadTemplateLookup(kw)
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, term := range terms {
		name, err := value.ToStr(term)
		if err != nil {
			return nil, err
		}
		src, err := e.files().source(ctx, "templates", name, true)
		if err != nil {
			if broken := e.g.line.broken(); broken != nil {
				return nil, broken
			}
			return nil, value.Errorf("AnsibleError", "the template file %s could not be found for the lookup", name)
		}
		text, err := e.g.blobs.template(ctx, src)
		if err != nil {
			return nil, err
		}
		o.File.Name = src.Path
		in := e.inTemplate(modules.TemplateOptions{Name: src.Path, Written: name})
		v, err := in.tpl.With(o.Vars).Lookup(ctx, text, o.File, o.Convert, o.Native)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
	}
	return out, nil
}

// inTemplate returns an eval with the variables that Ansible gives to a template file.
func (e *eval) inTemplate(o modules.TemplateOptions) *eval {
	in := *e
	in.base = o.Name
	in.tpl = templar.New(&templateVars{Vars: e.scope, e: e, o: o}, in.options())
	return &in
}

// renderFile renders a template file of the controller.
func (e *eval) renderFile(ctx context.Context, src *modules.Source, o modules.TemplateOptions) (string, error) {
	text, err := e.g.blobs.template(ctx, src)
	if err != nil {
		return "", err
	}
	return e.inTemplate(o).tpl.File(ctx, text, fileOptions(o))
}

func fileOptions(o modules.TemplateOptions) templar.FileOptions {
	return templar.FileOptions{
		Name: o.Name, NoTrimBlocks: !o.TrimBlocks, LstripBlocks: o.LstripBlocks, NewlineSequence: o.NewlineSequence,
		BlockStart: o.BlockStart, BlockEnd: o.BlockEnd, VariableStart: o.VariableStart, VariableEnd: o.VariableEnd,
		CommentStart: o.CommentStart, CommentEnd: o.CommentEnd,
	}
}

package runner

import (
	"context"
	"strings"

	"hark/modules"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
)

// isTemplateLookup tells the one lookup that needs both a file of the controller and this host's variables.
func isTemplateLookup(name string) bool {
	return name == "template" || name == "ansible.builtin.template" || name == "ansible.legacy.template"
}

// templateLookup renders template files of the controller, each a term, as the lookup of that name.
func (e *eval) templateLookup(ctx context.Context, terms []value.Value, kw *value.Dict) (value.Value, error) {
	o, convert, err := templateArguments(kw)
	if err != nil {
		return nil, err
	}
	extra, _ := kw.Get("template_vars")
	local, _ := extra.(*value.Dict)
	out := value.NewList()
	for _, term := range terms {
		name, err := value.ToStr(term)
		if err != nil {
			return nil, err
		}
		src, err := e.source(ctx, "templates", name, true)
		if err != nil {
			if broken := e.r.broken(); broken != nil {
				return nil, broken
			}
			return nil, value.Errorf("AnsibleError", "the template file %s could not be found for the lookup", name)
		}
		text, err := e.r.readBlob(ctx, src.Digest)
		if err != nil {
			return nil, err
		}
		o.Name = src.Path
		rendered, err := e.with(local).renderText(ctx, string(text), o)
		if err != nil {
			return nil, err
		}
		v, err := e.converted(ctx, rendered, convert)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
	}
	return out, nil
}

// templateArguments reads the options of the lookup.
func templateArguments(kw *value.Dict) (o modules.TemplateOptions, convert bool, err error) {
	o.TrimBlocks, convert = true, true
	for i := range kw.Len() {
		k, v := kw.At(i)
		name, _ := value.Text(k)
		text := map[string]*string{
			"variable_start_string": &o.VariableStart, "variable_end_string": &o.VariableEnd,
			"comment_start_string": &o.CommentStart, "comment_end_string": &o.CommentEnd,
		}[name]
		switch {
		case text != nil:
			*text, err = value.ToStr(v)
		case name == "convert_data":
			convert, err = value.Truth(v)
		}
		if err != nil {
			return o, false, err
		}
	}
	return o, convert, nil
}

// renderText renders a template's text with the variables that Ansible gives to templates.
func (e *eval) renderText(ctx context.Context, text string, o modules.TemplateOptions) (string, error) {
	local, err := e.templateVars(ctx, text, o)
	if err != nil {
		return "", err
	}
	in := e.with(local)
	in.base = o.Name
	in.tpl = templar.New(in.scope, in.options())
	return in.tpl.File(ctx, text, templar.FileOptions{
		Name: o.Name, NoTrimBlocks: !o.TrimBlocks, LstripBlocks: o.LstripBlocks, NewlineSequence: o.NewlineSequence,
		BlockStart: o.BlockStart, BlockEnd: o.BlockEnd, VariableStart: o.VariableStart, VariableEnd: o.VariableEnd,
		CommentStart: o.CommentStart, CommentEnd: o.CommentEnd,
	})
}

// converted makes data of a text that looks like data, as a template that holds nothing but a variable does.
func (e *eval) converted(ctx context.Context, text string, wanted bool) (value.Value, error) {
	trimmed := strings.TrimSpace(text)
	data := strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "{{") && !strings.HasPrefix(trimmed, "{%")
	if !wanted || !data && trimmed != "True" && trimmed != "False" {
		return value.Str(text), nil
	}
	local := value.NewDict()
	local.Set("_hark_text", value.Str(text))
	return e.tpl.With(local).Template(ctx, value.YAMLStr("{{ _hark_text }}"))
}

package templar

import (
	"context"

	"hark/modules/py/value"
)

// TemplateLookup are the arguments of the lookup template.
type TemplateLookup struct {
	File FileOptions
	// Convert makes data of what looks like it; Native keeps native types where they are on.
	Convert, Native bool
	// Vars are the variables that the template sees on top of all others; nil are none.
	Vars *value.Dict
}

// ReadTemplateLookup reads the named arguments of the lookup; those that it does not have are passed over.
func ReadTemplateLookup(kw *value.Dict) (TemplateLookup, error) {
	o, trim := TemplateLookup{Convert: true}, true
	for i := range kw.Len() {
		k, v := kw.At(i)
		name, _ := value.Text(k)
		text := map[string]*string{
			"variable_start_string": &o.File.VariableStart, "variable_end_string": &o.File.VariableEnd,
			"comment_start_string": &o.File.CommentStart, "comment_end_string": &o.File.CommentEnd,
		}[name]
		flag := map[string]*bool{"convert_data": &o.Convert, "jinja2_native": &o.Native, "trim_blocks": &trim}[name]
		var err error
		switch {
		case text != nil:
			*text, err = value.ToStr(v)
		case flag != nil:
			*flag, err = value.Truth(v)
		case name == "template_vars":
			o.Vars, _ = v.(*value.Dict)
		}
		if err != nil {
			return o, err
		}
	}
	o.File.NoTrimBlocks = !trim
	return o, nil
}

// templateLookup renders template files, each a term, with the variables of this Templar.
func (s *scope) templateLookup(ctx context.Context, terms []value.Value, kw *value.Dict) (value.Value, error) {
	o, err := ReadTemplateLookup(kw)
	if err != nil {
		return nil, err
	}
	out := value.NewList()
	for _, term := range terms {
		name, err := value.ToStr(term)
		if err != nil {
			return nil, err
		}
		var text value.Source
		if o.File.Name, text, err = s.t.o.TemplateFile(name); err != nil {
			return nil, err
		}
		v, err := s.t.With(o.Vars).Lookup(ctx, text, o.File, o.Convert, o.Native)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
	}
	return out, nil
}

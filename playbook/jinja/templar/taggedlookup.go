package templar

import (
	"errors"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// taggedLookup runs a lookup in the tagged language. Of its terms only constants with templates in them are rendered.
func (s *scope) taggedLookup(c *jinja.Call, name, mode string, wantlist bool, terms []value.Value,
	kw *value.Dict) (value.Value, error) {
	listed := make([]value.Value, len(terms))
	for i, term := range terms {
		listed[i] = term
		if text, ok := term.(value.Source); ok && s.t.trusts(text) {
			s.noted(embedded,
				embeddedHelp+"`msg: \"{{ lookup('env', '{{ a_var }}') }}\"` becomes `msg: \"{{ lookup('env', a_var) }}\"`", s.src)
			v, err := s.t.deeperText(c.Ctx, text, s)
			if err != nil {
				return nil, err
			}
			listed[i] = v
		}
	}
	if u := takesUndefined(name, listed, kw); u != nil {
		return u, nil
	}
	ran, err := s.run(c, name, listed, kw)
	if err != nil {
		if err := s.taggedLookupError(name, mode, err); err != nil {
			return nil, err
		}
		if wantlist {
			return value.NewList(), nil
		}
		return value.None{}, nil
	}
	if wantlist {
		return ran, nil
	}
	return oneOrJoined(ran), nil
}

// takesUndefined returns the first undefined value that a lookup is given, nil if it knows what to do with them.
func takesUndefined(name string, terms []value.Value, kw *value.Dict) *value.Undefined {
	if l, ok := dialect.LookupNamed(name); ok && l.Traits.Has(dialect.TakesUndefined) {
		return nil
	}
	args := &jinja.Args{Pos: terms}
	kw.Each(func(k, v value.Value) bool {
		args.Kw = append(args.Kw, jinja.Kwarg{V: v})
		return true
	})
	return jinja.Travelling(args)
}

func (s *scope) taggedLookupError(name, mode string, err error) error {
	var used *value.UndefinedError
	switch {
	case passThrough(err):
		return err
	case errors.Is(err, ErrUnknownLookup):
		return &Error{Class: "AnsibleTemplatePluginNotFoundError",
			Msg: "The lookup plugin " + value.ReprText(name) + " was not found.", Err: err}
	case errors.As(err, &used) && used.Undefined != nil && shortName(name) == "vars" && used.Undefined.Err == nil:
		return value.UndefinedHint("No variable named " + value.ReprText(used.Undefined.Name) + " was found.").Use()
	case errors.As(err, &used) && used.Undefined != nil:
		return err
	}
	switch mode {
	case "warn":
		s.t.warn("An error occurred while running the lookup plugin " + value.ReprText(name) + ": " + plainTypes(err.Error()))
		return nil
	case "ignore":
		return nil
	}
	return pluginFailed("lookup", name, err)
}

// oneOrJoined returns what a template gets of the list that a lookup gave: its only element, or texts joined with
// commas.
func oneOrJoined(ran value.Value) value.Value {
	l, ok := ran.(*value.List)
	if !ok || len(l.Items) == 0 {
		return ran
	}
	if len(l.Items) == 1 {
		return l.Items[0]
	}
	texts := make([]string, len(l.Items))
	for i, item := range l.Items {
		text, ok := value.Text(item)
		if !ok {
			return ran
		}
		texts[i] = text
	}
	return value.Str(strings.Join(texts, ","))
}

package move

import (
	"path/filepath"
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
	"hark/playbook/syntax"
)

// definition is one of the places where a variable gets a value.
type definition struct {
	v      value.Value
	at     syntax.Place
	origin string // where it stands if that is no file
	result bool   // register
	other  bool   // a value that only a run has
}

// where is the place of a definition for a reader.
func (p *project) where(d definition) string {
	if d.origin != "" {
		return d.origin
	}
	name := d.at.File
	if len(p.in.Playbooks) > 0 {
		if rel, err := filepath.Rel(filepath.Dir(p.in.Playbooks[0]), name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	return name + ":" + strconv.Itoa(d.at.Line)
}

func (p *project) define(name string, d definition) { p.vars[name] = append(p.vars[name], d) }

// deepest is how many variables that are made of others are followed.
const deepest = 8

// variableKinds are the types of x, x.y and x['y'].
func (p *project) variableKinds(e *jinja.Part, deep int) kinds {
	name, path, ok := pathOf(e)
	if !ok || deep > deepest {
		return isUnknown
	}
	defs := p.vars[name]
	if len(defs) == 0 {
		if len(path) == 0 {
			return magicKinds(name)
		}
		return isUnknown
	}
	var out kinds
	for _, d := range defs {
		out |= p.definedKinds(d, path, deep)
	}
	return out
}

// definedKinds are the types of what a path leads to in one definition.
func (p *project) definedKinds(d definition, path []string, deep int) kinds {
	switch {
	case d.other:
		return isUnknown
	case d.result && len(path) == 0:
		return isDict
	case d.result:
		return resultKinds(path[len(path)-1])
	}
	v := d.v
	for _, key := range path {
		dict, ok := v.(*value.Dict)
		if !ok {
			return isUnknown
		}
		if v, ok = dict.Get(key); !ok {
			return isUnknown
		}
	}
	text, isString := value.Text(v)
	if isString && isTemplate(v) {
		return p.textKinds(text, deep+1)
	}
	return kindOf(v)
}

// pathOf reads x.y['z'] as x and its keys.
func pathOf(e *jinja.Part) (name string, path []string, ok bool) {
	switch e.Kind {
	case jinja.PartName:
		return e.Name, nil, true
	case jinja.PartAttr:
		name, path, ok = pathOf(e.Parts[0])
		return name, append(path, e.Name), ok
	case jinja.PartItem:
		if key, isText := value.Text(value.OrNone(e.Parts[1].Const)); isText {
			name, path, ok = pathOf(e.Parts[0])
			return name, append(path, key), ok
		}
	}
	return "", nil, false
}

// textKinds are the types that a template renders to.
func (p *project) textKinds(text string, deep int) kinds {
	parts, err := templar.Outline(text)
	switch {
	case err != nil:
		return isUnknown
	case len(parts) == 1 && parts[0].Kind != jinja.PartStatement:
		return p.kinds(parts[0], deep)
	}
	for _, e := range parts {
		if e.Kind == jinja.PartStatement && !printsText(e) {
			return isUnknown
		}
	}
	return isText
}

// printsText tells that all a statement prints is text that stands in it.
func printsText(e *jinja.Part) bool {
	texts := 0
	for _, inner := range e.Parts {
		switch inner.Kind {
		case jinja.PartText:
			texts++
		case jinja.PartStatement:
			if !printsText(inner) {
				return false
			}
		}
	}
	return texts > 0
}

// names are the definitions of what a part reads, if it is nothing but a variable.
func (p *project) definitions(e *jinja.Part) []definition {
	name, path, ok := pathOf(e)
	if !ok || len(path) > 0 {
		return nil
	}
	return p.vars[name]
}

func isTemplate(v value.Value) bool { return templar.IsTemplate(v) }

// looksBool tells that a text is a word for yes or no.
func looksBool(v value.Value) bool {
	text, _ := value.Text(value.OrNone(v))
	switch strings.ToLower(text) {
	case "yes", "no", "true", "false", "on", "off":
		return true
	}
	return false
}

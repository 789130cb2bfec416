package modules

import (
	"fmt"
	"reflect"
	"strings"

	"hark/modules/py/value"
)

// paramsOf reads the parameters of an argument struct. It panics on an invalid tag, which is an error in a declaration
// and shows at start.
func paramsOf[A any]() []Param {
	t := reflect.TypeFor[A]()
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("arguments must be a struct, not %s", t))
	}
	return structParams(t)
}

func structParams(t reflect.Type) []Param {
	var list []Param
	seen := map[string]bool{}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("arg")
		switch {
		case !ok && f.Anonymous:
			for _, p := range structParams(f.Type) {
				p.index = append([]int{i}, p.index...)
				list = appendParam(list, seen, t, p)
			}
		case ok:
			p := fieldParam(t, f, tag)
			p.index = []int{i}
			list = appendParam(list, seen, t, p)
		}
	}
	return list
}

func appendParam(list []Param, seen map[string]bool, t reflect.Type, p Param) []Param {
	for _, name := range append([]string{p.Name}, p.Aliases...) {
		if seen[name] {
			panic(fmt.Sprintf("%s declares argument %q twice", t, name))
		}
		seen[name] = true
	}
	return append(list, p)
}

func fieldParam(t reflect.Type, f reflect.StructField, tag string) Param {
	parts := strings.Split(tag, ",")
	p := Param{Name: parts[0], Doc: f.Tag.Get("doc")}
	bad := func(why string) { panic(fmt.Sprintf("%s.%s: argument %q %s", t, f.Name, p.Name, why)) }
	text, hasDefault := f.Tag.Lookup("default")
	typeName := ""
	for _, part := range parts[1:] {
		key, val, _ := strings.Cut(part, "=")
		switch key {
		case "required":
			p.Required = true
		case "nolog":
			p.NoLog, p.NoLogIf = val == "", val
		case "hidden":
			p.Hidden = true
		case "extra":
			p.Extra = true
		case "resolved":
			p.Resolved = true
		case "alias":
			p.Aliases = strings.Split(val, "|")
		case "choices":
			p.Choices = strings.Split(val, "|")
		case "default":
			text, hasDefault = val, true
		case "type":
			typeName = val
		case "env":
			p.Env = val
		case "elements":
			p.Elements = val
		case "removed":
			p.Removed = val
		case "since":
			p.Since = Release(val)
		case "until":
			p.Until = Release(val)
		default:
			bad(fmt.Sprintf("has an unknown option %q", part))
		}
	}
	p.setType(f.Type, typeName)
	if p.Type == "" {
		bad("has a field type that arguments cannot have")
	}
	if hasDefault {
		if p.Required {
			bad("is required and has a default")
		}
		v, err := p.parseDefault(text)
		if err != nil {
			bad("has a wrong default: " + err.Error())
		}
		p.Default = v
	}
	return p
}

// setType derives the Ansible type of a field; typeName replaces the type from Go, in a list of texts for the elements.
func (p *Param) setType(t reflect.Type, typeName string) {
	if t.Kind() == reflect.Pointer && t != anyDict {
		t = t.Elem()
	}
	elem := ""
	switch kind := t.Kind(); {
	case t == anyValue:
		p.Type = "raw"
	case t == anyDict, t == reflect.TypeFor[map[string]string]():
		p.Type = "dict"
	case kind == reflect.Slice:
		p.Type = "list"
		var inner Param
		inner.setType(t.Elem(), "")
		if inner.Type == "raw" {
			inner.Type = ""
		}
		elem, p.Options = inner.Type, inner.Options
		if typeName != "" && typeName != "list" {
			elem, typeName = typeName, ""
		}
	case kind == reflect.String:
		p.Type = "str"
	case kind == reflect.Bool:
		p.Type = "bool"
	case kind == reflect.Int, kind == reflect.Int64, kind == reflect.Uint32:
		p.Type = "int"
	case kind == reflect.Float64:
		p.Type = "float"
	case kind == reflect.Struct:
		p.Type, p.Options = "dict", structParams(t)
	}
	if typeName != "" {
		p.Type = typeName
	}
	if p.Elements == "" {
		p.Elements = elem
	}
}

func (p *Param) parseDefault(text string) (value.Value, error) {
	if text == "" && p.Type == "list" {
		return value.NewList(), nil
	}
	if text == "" && p.Type == "dict" {
		return value.NewDict(), nil
	}
	v, err := coerce(p.Type, value.UnsafeStr(text), Reading{})
	if err != nil {
		return nil, err
	}
	if list, ok := v.(*value.List); ok && p.Elements != "" {
		for i := range list.Items {
			if list.Items[i], err = coerce(p.Elements, list.Items[i], Reading{}); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

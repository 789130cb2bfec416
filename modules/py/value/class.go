package value

import "fmt"

// Class is a Python class: what __class__ gives. Its name, module and bases can be read; nothing can be made with it.
type Class struct {
	// Module is "builtins" for Python's own.
	Module string
	Name   string
	// Bases are the classes it comes from, the nearest first, without itself.
	Bases []*Class
}

// Type returns that of Python's classes.
func (*Class) Type() string { return "type" }

// Str prints as Python prints a class.
func (c *Class) Str() string {
	if c.Module == "builtins" {
		return "<class '" + c.Name + "'>"
	}
	return "<class '" + c.Module + "." + c.Name + "'>"
}

// Repr is Str.
func (c *Class) Repr() string { return c.Str() }

// Attr returns the names of the class and its order of bases.
func (c *Class) Attr(name string) (Value, bool) {
	switch name {
	case "__name__", "__qualname__":
		return Str(c.Name), true
	case "__module__":
		return Str(c.Module), true
	case "__class__":
		return builtin("type"), true
	case "__mro__":
		order := NewTuple(c)
		for _, b := range c.Bases {
			order.Items = append(order.Items, b)
		}
		return order, true
	}
	return nil, false
}

// ClassOf returns the class of v.
func ClassOf(v Value) *Class {
	objectClass := builtin("object")
	strClass := builtin("str", objectClass)
	yamlObject := &Class{Module: "ansible.parsing.yaml.objects", Name: "AnsibleBaseYAMLObject"}
	unsafeMixin := &Class{Module: "ansible.utils.unsafe_proxy", Name: "AnsibleUnsafe"}
	nativeText := &Class{Module: "ansible.utils.native_jinja", Name: "NativeJinjaText"}
	unsafeText := &Class{Module: unsafeMixin.Module, Name: "AnsibleUnsafeText"}
	switch v := v.(type) {
	case Source:
		return &Class{Module: yamlObject.Module, Name: v.Type(), Bases: []*Class{yamlObject, strClass, objectClass}}
	case UnsafeStr:
		return &Class{Module: unsafeMixin.Module, Name: v.Type(), Bases: []*Class{strClass, unsafeMixin, objectClass}}
	case Rendered:
		return ClassOf(v.Plain())
	case NativeStr:
		return &Class{Module: nativeText.Module, Name: v.Type(), Bases: []*Class{strClass, objectClass}}
	case NativeUnsafeStr:
		return &Class{Module: unsafeMixin.Module, Name: v.Type(),
			Bases: []*Class{nativeText, unsafeText, strClass, unsafeMixin, objectClass}}
	case Markup:
		return &Class{Module: "markupsafe", Name: v.Type(), Bases: []*Class{strClass, objectClass}}
	case *Vault:
		return &Class{Module: yamlObject.Module, Name: v.Type(), Bases: []*Class{yamlObject, objectClass}}
	case *Undefined:
		return &Class{Module: "ansible.template.native_helpers", Name: v.Type(), Bases: []*Class{objectClass}}
	case Bool:
		return builtin("bool", builtin("int"), objectClass)
	case interface{ QualifiedType() string }:
		return &Class{Module: moduleOf(v.QualifiedType()), Name: v.(Value).Type(), Bases: []*Class{objectClass}}
	}
	return builtin(v.Type(), objectClass)
}

// names returns the modules and names of the class and its bases.
func (c *Class) names() []Value {
	out := []Value{Str(c.Module), Str(c.Name)}
	for _, b := range c.Bases {
		out = append(out, Str(b.Module), Str(b.Name))
	}
	return out
}

// classNamed returns the class of names.
func classNamed(names []Value) (Value, error) {
	var all []*Class
	for i := 0; i+1 < len(names); i += 2 {
		module, _ := Text(names[i])
		name, _ := Text(names[i+1])
		all = append(all, &Class{Module: module, Name: name})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("bad class in encoded value")
	}
	all[0].Bases = all[1:]
	return all[0], nil
}

func builtin(name string, bases ...*Class) *Class {
	return &Class{Module: "builtins", Name: name, Bases: bases}
}

func moduleOf(qualified string) string {
	for i := len(qualified) - 1; i > 0; i-- {
		if qualified[i] == '.' {
			return qualified[:i]
		}
	}
	return "builtins"
}

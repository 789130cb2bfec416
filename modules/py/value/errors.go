package value

import (
	"fmt"
	"strings"
)

// Error is a Python exception: an operation that Python refuses, in its words.
type Error struct {
	// Type is the class: TypeError, ValueError, ZeroDivisionError, ...; AnsibleFilterError and its like for
	// what Ansible's own plug-ins raise.
	Type string
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// UndefinedError is the strict use of an undefined value.
type UndefinedError struct {
	Msg string
	// Undefined is what was used; nil if the error was raised without one.
	Undefined *Undefined
}

func (e *UndefinedError) Error() string { return e.Msg }

// Unwrap is why the variable could not be rendered, if that is known.
func (e *UndefinedError) Unwrap() error {
	if e.Undefined == nil {
		return nil
	}
	return e.Undefined.Err
}

// Use is the error of using u strictly; nil if u is lenient.
func (u *Undefined) Use() error {
	if u.Lenient {
		return nil
	}
	return &UndefinedError{Msg: u.Msg, Undefined: u}
}

// Errorf makes an exception of the class typ.
func Errorf(typ, format string, args ...any) error {
	return &Error{Type: typ, Msg: fmt.Sprintf(format, args...)}
}

// TypeErrorf makes a TypeError.
func TypeErrorf(format string, args ...any) error { return Errorf("TypeError", format, args...) }

// ValueErrorf makes a ValueError.
func ValueErrorf(format string, args ...any) error { return Errorf("ValueError", format, args...) }

// FilterErrorf makes an AnsibleFilterError, what Ansible's own filters raise.
func FilterErrorf(format string, args ...any) error {
	return Errorf("AnsibleFilterError", format, args...)
}

// UndefinedName returns the value of a variable that is not defined.
func UndefinedName(name string) *Undefined {
	return &Undefined{Name: name, Msg: ReprText(name) + " is undefined"}
}

// UndefinedAttr returns the value of an attribute or element that obj has not.
func UndefinedAttr(obj, name Value) *Undefined {
	s, ok := Text(name)
	if !ok {
		r := undefinedRepr(name)
		return &Undefined{Name: r, Msg: objectType(obj) + " has no element " + r, Of: obj, Key: name}
	}
	return &Undefined{Name: s, Msg: ReprText(objectType(obj)) + " has no attribute " + ReprText(s), Of: obj, Key: name}
}

// Tagged returns the message in the words of ansible-core 2.19, which knows one kind of text.
func (u *Undefined) Tagged() string {
	switch {
	case u.Of == nil:
		return u.Msg
	case Falsy(u.Key): // Jinja words it, as Ansible takes the name for none
		return strings.Replace(u.Msg, objectType(u.Of), plainObject(u.Of), 1)
	}
	return "object of type " + ReprText(PlainType(u.Of)) + " has no attribute " + undefinedRepr(u.Key)
}

func plainObject(v Value) string {
	if IsNone(v) {
		return "None"
	}
	return PlainType(v) + " object"
}

// PlainType returns the name of the Python type of a value, where all kinds of text are one.
func PlainType(v Value) string {
	switch v.(type) {
	case *Vault:
		return "str"
	case Markup:
		return v.Type()
	}
	if IsText(v) {
		return "str"
	}
	return v.Type()
}

// undefinedRepr returns the repr of what was asked for, which may be undefined itself.
func undefinedRepr(name Value) string {
	if u, undefined := name.(*Undefined); undefined {
		return fmt.Sprintf("AnsibleUndefined(hint=None, obj=missing, name=%s)", ReprText(u.Name))
	}
	r, err := Repr(name)
	if err != nil {
		return name.Type()
	}
	return r
}

// UndefinedHint returns an undefined value with a message of its own.
func UndefinedHint(hint string) *Undefined { return &Undefined{Msg: hint} }

// objectType names the type of a value as Jinja's messages do: classes that are not Python's own with their module.
func objectType(v Value) string {
	switch v := v.(type) {
	case None:
		return "None"
	case Source:
		return "ansible.parsing.yaml.objects.AnsibleUnicode object"
	case UnsafeStr:
		return "ansible.utils.unsafe_proxy.AnsibleUnsafeText object"
	case NativeUnsafeStr:
		return "ansible.utils.unsafe_proxy.NativeJinjaUnsafeText object"
	case Rendered:
		return objectType(v.Plain())
	case NativeStr:
		return "ansible.utils.native_jinja.NativeJinjaText object"
	case Markup:
		return "markupsafe.Markup object"
	case *Vault:
		return "ansible.parsing.yaml.objects.AnsibleVaultEncryptedUnicode object"
	case interface{ QualifiedType() string }:
		return v.QualifiedType() + " object"
	}
	return v.Type() + " object"
}

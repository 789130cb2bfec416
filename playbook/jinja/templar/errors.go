package templar

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hark/modules/py/codecs"
	"hark/modules/py/pyre"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Error is a failure to render, in Ansible's words.
type Error struct {
	// Class is the class of Ansible's exception: AnsibleError, AnsibleUndefinedVariable, ...
	Class string
	Msg   string
	// Err is why.
	Err error
	// Src is the template or expression that the error is about, in the tagged language; "" if that is not known.
	Src string
	// File is the path of the template file that it is about, "" for other templates.
	File string
	// Part: the error is about a value and not about the template that gave it, and is told apart from the template's.
	Part bool
	// Of: the message names the place of a value, which the Templar does not know; Var is the variable that it is of,
	// with the keys to it.
	Of  bool
	Var string
}

func (e *Error) Error() string { return e.Msg }

// Unwrap gives the reason.
func (e *Error) Unwrap() error { return e.Err }

// ErrUnknownLookup is what Options.Lookup answers if there is no lookup plug-in of that name.
var ErrUnknownLookup = errors.New("no such lookup plugin")

// maxMessage bounds messages: Ansible repeats the reason in each level, which doubles them.
const maxMessage = 16 << 10

func ansibleError(err error, format string, args ...any) error {
	return &Error{Class: "AnsibleError", Msg: bounded(fmt.Sprintf(format, args...)), Err: err}
}

// because is an error that Ansible prints together with its reason.
func because(class string, err error, msg string) error {
	return &Error{Class: class, Msg: bounded(msg + ". " + err.Error()), Err: err}
}

func bounded(msg string) string {
	if len(msg) > maxMessage {
		return strings.ToValidUTF8(msg[:maxMessage], "") + "..."
	}
	return msg
}

// ErrorPart is one of the errors that an error of the tagged language is told as; see Error.
type ErrorPart struct {
	Msg, Src, File string
	Of             bool
	Var            string
}

// Parts returns what an error is told as, outermost first.
func Parts(err error) []ErrorPart {
	var e, cause *Error
	if errors.As(err, &e) && errors.As(e.Err, &cause) &&
		(cause.Part || e.Src != "" && cause.Src != "" && cause.Src != e.Src && strings.HasSuffix(e.Msg, ": "+cause.Msg)) {
		// as of a value that a template uses, or of a variable's template in a condition
		return []ErrorPart{{Msg: strings.TrimSuffix(e.Msg, ": "+cause.Msg) + ".", Src: e.Src, File: e.File},
			{Msg: cause.Msg, Src: cause.Src, File: cause.File}}
	}
	if e == nil {
		return []ErrorPart{{Msg: err.Error()}}
	}
	return []ErrorPart{{Msg: err.Error(), Src: e.Src, File: e.File, Of: e.Of, Var: e.Var}}
}

// Source returns the text of the template that an error is about, "" if that is not known.
func Source(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Src
	}
	return ""
}

// about is an error with the template that it is about, if it knows none yet.
func about(err error, src string) error {
	if e, ok := err.(*Error); ok && e.Src == "" {
		with := *e
		with.Src = src
		return &with
	}
	return err
}

// ofFile is an error with the file whose text it is about, if it is about that text.
func ofFile(err error, text, file string) error {
	if e, ok := err.(*Error); ok && e.Src == text && e.File == "" {
		with := *e
		with.File = file
		return &with
	}
	return err
}

// IsUndefined reports whether rendering failed because something is not defined.
func IsUndefined(err error) bool {
	return ErrorClass(err) == "AnsibleUndefinedVariable"
}

// ErrorClass returns the name of the Python class of an error: AnsibleUndefinedVariable, ZeroDivisionError,
// TemplateNotFound.
func ErrorClass(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		switch e := err.(type) {
		case *Error:
			return e.Class
		case *value.UndefinedError:
			return "UndefinedError"
		case *value.Error:
			return e.Type
		case *pyre.Error:
			return e.Class
		case *codecs.Error:
			return e.Class
		case *jinja.SyntaxError:
			return "TemplateSyntaxError"
		case *jinja.NotFoundError:
			if e.Several {
				return "TemplatesNotFound"
			}
			return "TemplateNotFound"
		}
	}
	return "AnsibleError"
}

// QualifiedClass is ErrorClass with the module of the class, as Python prints it in a traceback.
func QualifiedClass(err error) string {
	class := ErrorClass(err)
	switch {
	case class == "AnsibleVaultError":
		return "ansible.parsing.vault." + class
	case strings.HasPrefix(class, "Ansible"):
		return "ansible.errors." + class
	case strings.HasPrefix(class, "Template"), class == "UndefinedError", class == "FilterArgumentError":
		return "jinja2.exceptions." + class
	case class == "JSONDecodeError":
		return "json.decoder." + class
	case class == "error":
		return "re.error"
	}
	return class
}

// classRepr returns how Python prints the class of an error.
func classRepr(err error) string { return "<class '" + QualifiedClass(err) + "'>" }

// passThrough reports whether an error is none of the template's: it is never worded anew.
func passThrough(err error) bool {
	var limit *jinja.LimitError
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &limit)
}

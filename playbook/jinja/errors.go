package jinja

import (
	"errors"
	"fmt"
)

// SyntaxError is a template that cannot be compiled. Its text is Jinja's message, without the place.
type SyntaxError struct {
	Msg  string
	Name string // of the template; "" for a string of a playbook
	Line int
	// Verbatim says that Jinja takes the template but makes of it what Python refuses: Ansible then prints the text
	// as it is.
	Verbatim bool
	// Late: it was found while the template ran, that a plug-in is missing which the Scope might have had.
	Late bool
}

func (e *SyntaxError) Error() string { return e.Msg }

func syntaxErrorf(line int, format string, args ...any) error {
	return &SyntaxError{Msg: fmt.Sprintf(format, args...), Line: line}
}

// RuntimeError returns where an evaluation failed. Its text is that of the error it wraps.
type RuntimeError struct {
	Err  error
	Name string // of the template; "" for a string of a playbook
	Line int
}

func (e *RuntimeError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *RuntimeError) Unwrap() error { return e.Err }

// NotFoundError is a template that could not be loaded.
type NotFoundError struct {
	Name string // or, of several, which were tried
	// Several says that none of a list was found.
	Several bool
}

func (e *NotFoundError) Error() string { return e.Name }

// LimitError is an evaluation that used more than it may.
type LimitError struct{ Msg string }

func (e *LimitError) Error() string { return e.Msg }

// at adds the place to an error that has none.
func at(err error, name string, line int) error {
	if err == nil {
		return nil
	}
	var placed *RuntimeError
	if errors.As(err, &placed) {
		return err
	}
	return &RuntimeError{Err: err, Name: name, Line: line}
}

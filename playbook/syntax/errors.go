package syntax

import (
	"errors"
	"slices"
	"strings"
)

// Error is an error in a file, in Ansible's words.
type Error struct {
	Msg   string
	Place Place // zero when Ansible shows none
	// Detail is what Ansible says of the place: the text of Explain, "" if there is none.
	Detail string
	// General marks errors that end ansible-playbook with the exit code of any error, 1, and not with a parser's, 4.
	General bool
}

// Error returns the message as ansible-playbook prints it after "ERROR! ".
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Msg
	}
	return e.Msg + "\n\n" + e.Detail
}

// Errors are all errors in the files of a project, in the order of the text. The first is the one that
// ansible-playbook, which stops there, would print.
type Errors []error

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the errors for errors.Is and errors.As.
func (e Errors) Unwrap() []error { return e }

// List returns the errors in err: those of an Errors, or err only; nil for nil.
func List(err error) []error {
	if err == nil {
		return nil
	}
	var many Errors
	if errors.As(err, &many) {
		return many
	}
	return []error{err}
}

// Join makes one error of several, flat; nil if there is none. It drops errors with the same text.
func Join(errs ...error) error {
	var all Errors
	for _, err := range errs {
		for _, one := range List(err) {
			if !slices.ContainsFunc(all, func(other error) bool { return other.Error() == one.Error() }) {
				all = append(all, one)
			}
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

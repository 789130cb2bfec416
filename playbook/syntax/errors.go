package syntax

import (
	"errors"
	"slices"
	"strings"
)

// Error is something wrong in a file, in Ansible's words.
type Error struct {
	Msg   string
	Place Place // zero when Ansible tells none
	// Detail is what Ansible says of the place: Explain's text, "" if there is none.
	Detail string
	// General marks errors that end ansible-playbook with the exit code of any error, 1, and not with that of a
	// parser's, 4.
	General bool
}

// Error is the message as ansible-playbook prints it after "ERROR! ".
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Msg
	}
	return e.Msg + "\n\n" + e.Detail
}

// Errors are all that is wrong in the files of a project, in the order of the text. Its first element is what
// ansible-playbook, which stops at the first, would print.
type Errors []error

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap gives the errors to errors.Is and errors.As.
func (e Errors) Unwrap() []error { return e }

// List is the errors that err is made of: those of an Errors, or err alone; nil for nil.
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

// Join makes one error of several, flat; nil if there is none. What is said twice in the same words is said once.
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

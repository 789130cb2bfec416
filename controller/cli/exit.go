package cli

import (
	"context"
	"errors"

	"hark/controller/config"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/play"
	"hark/playbook/syntax"
)

// The exit codes. They are Ansible's, and nothing else in the project knows them.
const (
	exitOK          = 0
	exitError       = 1   // the command could not do its work
	exitFailed      = 2   // hosts failed
	exitUsage       = 2   // the command line makes no sense
	exitUnreachable = 4   // hosts could not be reached
	exitDrift       = 3   // of hark duties and hark keeper: all is read, and something is not as it should be
	exitSyntax      = 4   // a playbook or a vars file could not be read
	exitOptions     = 5   // an option or a setting has an impossible value
	exitInterrupted = 99  // the user ended it
	exitInternal    = 250 // a mistake of ours
)

// Detached is the exit code of a program that did not end after two interrupts.
const Detached = exitInterrupted

// quietError ends a command with a code when everything was said already.
type quietError struct{ code int }

func (e *quietError) Error() string { return "" }

// codedError ends a command with a code and a message.
type codedError struct {
	code int
	error
}

func (e *codedError) Unwrap() error { return e.error }

// exitCode returns the code of an error.
func exitCode(err error) int {
	var (
		usage   *argparse.UsageError
		options argparse.OptionsError
		quiet   *quietError
		coded   *codedError
		setting *config.Error
		many    syntax.Errors
		syn     *syntax.Error
		form    *syntaxProblem
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &quiet):
		return quiet.code
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &options), errors.As(err, &setting):
		return exitOptions
	case errors.Is(err, context.Canceled), errors.Is(err, play.ErrAborted), errors.Is(err, play.ErrDetached),
		errors.Is(err, play.ErrQuit):
		return exitInterrupted
	case errors.As(err, &many):
		return exitCode(many[0])
	case errors.As(err, &syn) && !syn.General, errors.As(err, &form):
		return exitSyntax
	}
	return exitError
}

// statusCode returns the code of a run.
func statusCode(s play.Status) int {
	switch s {
	case play.OK:
		return exitOK
	case play.Failed:
		return exitFailed
	case play.Unreachable:
		return exitUnreachable
	case play.Cancelled:
		return exitInterrupted
	}
	return exitError
}

package modules

import (
	"context"
	"errors"
	"time"

	"hark/modules/py/value"
)

// Asks are what a module may ask of the session that runs it, and through it of the controller and of the user.
// Modules that run in a session (Module.Session) have all of them, those that ask for jobs (AsksForJobs) have Job;
// what is nil may not be asked.
type Asks struct {
	// Pause shows the user a text and gives what he types.
	Pause func(ctx context.Context, p Pause) (input string, err error)
	// AddHost adds a host to the inventory, GroupBy puts the task's host into a group. They tell whether that changed
	// anything.
	AddHost func(ctx context.Context, h NewHost) (changed bool, err error)
	GroupBy func(ctx context.Context, g Grouping) (changed bool, err error)
	// VarsFile reads a file of variables of the controller.
	VarsFile func(ctx context.Context, q VarsQuery) (VarsFile, error)
	// Job describes how a job stands, with Ansible's keys.
	Job func(ctx context.Context, q JobQuery) (*value.Dict, error)
	// Local reports whether the task's connection is local.
	Local func(ctx context.Context) (bool, error)
	// Host runs another module on the host of the task, as its user, and gives the module's result: unreachable is
	// true there if the host did not answer. Local and Host are an error where the session itself runs on that host
	// and would go with it.
	Host func(ctx context.Context, module string, args *value.Dict) (*value.Dict, error)
	// Reached reports whether the task's host can be used now, and why not; a why of nil is not known.
	Reached func(ctx context.Context) (ok bool, why value.Value, err error)
}

// Pause is a text that is shown to the user, and a question that is shown where there is somebody to answer. Limit is
// how long it waits, 0 for as long as he takes; Echo shows what he types.
type Pause struct {
	Text  string
	Ask   string
	Limit time.Duration
	Echo  bool
}

// ErrUnattended says that a Pause with a question and without a limit did not wait, since there is nobody to answer.
var ErrUnattended = errors.New("nobody is there to answer")

// NewHost is a host of add_host: its name without a port, its groups, its variables.
type NewHost struct {
	Name   string
	Groups []string
	Vars   *value.Dict
}

// Grouping is a group of group_by with the groups above it.
type Grouping struct {
	Group   string
	Parents []string
}

// VarsQuery names a file of variables. They are laid over those of Into, which may be nil; with Merge mappings are
// merged into the variables of that name that the host has.
type VarsQuery struct {
	Name  string
	Into  *value.Dict
	Merge bool
}

// VarsFile is what was read: the file's path, "" if it is not known, all variables, nil if the file holds no mapping,
// and whether it was encrypted.
type VarsFile struct {
	Path   string
	Vars   *value.Dict
	Secret bool
}

// JobQuery is what async_status asks about a job: Mode is status or cleanup, Dir is ansible_async_dir if that was
// set, else "". A job is found only with the Dir that it was started with.
type JobQuery struct{ ID, Mode, Dir string }

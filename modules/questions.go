package modules

import (
	"context"
	"errors"
	"time"

	"hark/modules/py/value"
)

// Asks are the questions that a module may ask the session that runs it, and through it the controller and the user.
// Modules that run in a session (Module.Session) have all of them, those that ask for jobs (AsksForJobs) have Job; what
// is nil may not be asked.
type Asks struct {
	// Pause shows the user a text and returns the input.
	Pause func(ctx context.Context, p Pause) (input string, err error)
	// AddHost adds a host to the inventory, GroupBy adds the task's host to a group: when the task has ended and has not
	// failed. The result then says whether that changed anything.
	AddHost func(h NewHost)
	GroupBy func(g Grouping)
	// VarsFile reads a file of variables of the controller.
	VarsFile func(ctx context.Context, q VarsQuery) (VarsFile, error)
	// Job returns the state of a job, with Ansible's keys.
	Job func(ctx context.Context, q JobQuery) (*value.Dict, error)
	// Local reports whether the task's connection is local.
	Local func(ctx context.Context) (bool, error)
	// Host runs another module on the host of the task, as its user, and returns the module's result: unreachable is true
	// there if the host did not answer. Local and Host return an error if the session itself runs on that host and would
	// go with it.
	Host func(ctx context.Context, module string, args *value.Dict) (*value.Dict, error)
	// Reached reports whether the task's host can be used now, and why not; a nil why is unknown.
	Reached func(ctx context.Context) (ok bool, why value.Value, err error)
}

// Pause is a text for the user, and a question that is shown if a user can answer. Limit is how long it waits, 0 for as
// long as the user takes; Echo shows the input.
type Pause struct {
	Text  string
	Ask   string
	Limit time.Duration
	Echo  bool
}

// ErrUnattended says that a Pause with a question and without a limit did not wait, since no user can answer.
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

// VarsQuery names a file of variables. They go over those of Into, which may be nil; with Merge mappings are merged
// with the host's variables of that name.
type VarsQuery struct {
	Name  string
	Into  *value.Dict
	Merge bool
}

// VarsFile is the content of a file of variables: the file's path, "" if it is not known, all variables, nil if the
// file holds no mapping, and whether it was encrypted.
type VarsFile struct {
	Path   string
	Vars   *value.Dict
	Secret bool
}

// JobQuery is the question of async_status about a job: Mode is status or cleanup, Dir is ansible_async_dir if that was
// set, else "". A job is found only with the Dir that it was started with.
type JobQuery struct{ ID, Mode, Dir string }

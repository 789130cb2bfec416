package record

import (
	"context"
	"time"
)

// Store is where records are: files of this machine, or the fleet's stream. Any goroutine may call its methods.
type Store interface {
	// List returns the runs that match the filter, newest first. It leaves out runs whose record cannot be read, and names
	// them in the answer's warnings. An error means that the store cannot be reached.
	List(ctx context.Context, f Filter) (Listing, error)
	// Find returns one run by its whole id. The error is a *MissingError if there is none.
	Find(ctx context.Context, run string) (Entry, error)
	// Open reads the record of a run by its whole id. The error is a *MissingError if there is none, and a *NewerError if
	// a later hark wrote it.
	Open(ctx context.Context, run string, o Opening) (Lines, error)
	// Parts reads the finished parts of a run, for callers that copy them elsewhere.
	Parts(ctx context.Context, run string) (Parts, error)
}

// Listing is the answer of List.
type Listing struct {
	Entries  []Entry
	Warnings []string
}

// Entry is one run of a list.
type Entry struct {
	Head  Head  `json:"head"`
	State State `json:"state"`
	// Foot is set for runs that ended. In a list it may lack Tasks and Parts, and Hosts if they are many (Counts is always
	// set).
	Foot *Foot `json:"foot,omitempty"`
	// Counts are the numbers of hosts by their state.
	Counts map[HostState]int `json:"counts,omitempty"`
	// Last is the time of the last line. At is the present task of a run, or the task at which it was lost. Stage is the
	// stage, without its hosts, of a staged run.
	Last  time.Time `json:"last,omitzero"`
	At    string    `json:"at,omitempty"`
	Stage *Stage    `json:"stage,omitempty"`
	// Body says that the lines are there: of old runs only head and foot are kept. Pinned runs are kept for ever.
	Body   bool `json:"body"`
	Pinned bool `json:"pinned,omitempty"`
	// Bytes is the size of the record where it is stored.
	Bytes int64 `json:"bytes"`
	// Origin names the store: "local", "fleet".
	Origin string `json:"origin"`
}

// Failed reports whether a run ended badly.
func (e *Entry) Failed() bool {
	return e.State == Lost || e.State == Stopped || e.Foot != nil && e.Foot.Status != OK
}

// RolloutStage returns the stage at which a staged run stands or ended; "" for a run without stages, and for one that
// had all of them.
func (e *Entry) RolloutStage() string {
	if e.Foot == nil {
		if e.Stage == nil {
			return ""
		}
		return e.Stage.String()
	}
	n := len(e.Foot.Stages)
	if n == 0 || e.Foot.Stages[n-1].N == e.Foot.Stages[n-1].Of {
		return ""
	}
	last := Stage{N: e.Foot.Stages[n-1].N, Of: e.Foot.Stages[n-1].Of}
	return last.String()
}

// Took returns how long a run took, or has taken so far.
func (e *Entry) Took(now time.Time) time.Duration {
	if e.State == Running {
		return now.Sub(e.Head.At)
	}
	return e.Last.Sub(e.Head.At)
}

// Word returns the state in one word: the status, for a run that has ended.
func (e *Entry) Word() string {
	if e.Idle() {
		return "no hosts"
	}
	if e.Foot != nil && e.State == Ended {
		return string(e.Foot.Status)
	}
	return string(e.State)
}

// Met returns how many hosts the plays of a run met; of one that goes on, or was cut off, how many its inventory has.
func (e *Entry) Met() int {
	if e.Foot == nil {
		return e.Head.Hosts
	}
	n := 0
	for _, hosts := range e.Counts {
		n += hosts
	}
	return n
}

// Idle reports whether a run ended well and did nothing on any host.
func (e *Entry) Idle() bool {
	return e.State == Ended && e.Foot != nil && e.Foot.Status == OK && e.Met() == 0
}

// Filter chooses runs; the zero value matches all. A run must meet every condition that is set.
type Filter struct {
	// Host and Task are patterns with * and ?: a run matches if one of its hosts, or one of its tasks, does.
	Host, Task string
	// States are alternatives. Failed matches the runs that ended badly.
	States []State
	Failed bool
	// Since and Until limit the beginning of the run.
	Since, Until time.Time
	// By is a person: the login, login@machine, or the beginning of the operator's key. Duty is a duty's name.
	By, Duty string
	// Persons leaves out the runs of keepers.
	Persons bool
	// Limit is how many runs to return at most; 0 is all.
	Limit int
}

// Opening says how to read a record.
type Opening struct {
	// From is the first line wanted. Earlier lines that define tasks and hosts (plays, steps, task starts, hosts) are
	// returned too, with their own N, and so is the head.
	From int64
	// Follow waits for lines of a running run, until its foot or until it is lost.
	Follow bool
	// Bad leaves out results that are neither failed nor unreachable, and parts without any according to the foot, except
	// lines that define numbers. Some of these results may be returned all the same.
	Bad bool
}

// Lines are the lines of a record in order. They belong to one goroutine.
type Lines interface {
	// Next returns the next line. The error is io.EOF at the end of the record. For a record that breaks off it is a
	// *LostError, which has what is known, once the writer is gone; without Follow it is io.EOF while the run goes on. The
	// line is valid until the next call.
	Next(ctx context.Context) (Line, error)
	Close() error
}

// Parts are the finished parts of a record in order. They belong to one goroutine.
type Parts interface {
	// Head returns the head with its frame as stored.
	Head() (Head, []byte)
	// Next returns the next part, waiting for it while the run goes on. After the last the error is io.EOF; Foot then has
	// the foot, or nil if the run was lost.
	Next(ctx context.Context) (Part, error)
	Foot() (*Foot, []byte)
	Close() error
}

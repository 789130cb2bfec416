package record

import (
	"context"
	"time"
)

// Store is where records are: files of this machine, or the fleet's stream. Its methods may be called from any
// goroutine.
type Store interface {
	// List gives the runs that the filter holds for, newest first. Runs whose record cannot be read are left out and
	// named in the warnings of the answer; the error is that of a store that cannot be reached.
	List(ctx context.Context, f Filter) (Listing, error)
	// Find gives one run by its whole id; the error is a *MissingError if there is none.
	Find(ctx context.Context, run string) (Entry, error)
	// Open reads the record of a run by its whole id. The error is a *MissingError or a *NewerError where that is why.
	Open(ctx context.Context, run string, o Opening) (Lines, error)
	// Parts reads the finished parts of a run, for whoever carries them elsewhere.
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
	// Foot is there for runs that ended. In a list it may be without Tasks and Parts, and without Hosts where those
	// are many (Counts are always there).
	Foot *Foot `json:"foot,omitempty"`
	// Counts are the hosts by their fate.
	Counts map[Fate]int `json:"counts,omitempty"`
	// Last is when the last line was told; At is the task that a run is at, or was when it was lost, and Stage the
	// stage, without its hosts, of a run that has stages.
	Last  time.Time `json:"last,omitzero"`
	At    string    `json:"at,omitempty"`
	Stage *Stage    `json:"stage,omitempty"`
	// Body reports whether the lines are there: of old runs only head and foot are kept. Pinned runs are kept for ever.
	Body   bool `json:"body"`
	Pinned bool `json:"pinned,omitempty"`
	// Bytes is what the record takes where it is stored.
	Bytes int64 `json:"bytes"`
	// Origin names the store: "local", "fleet".
	Origin string `json:"origin"`
}

// Failed reports whether a run came out other than well.
func (e *Entry) Failed() bool {
	return e.State == Lost || e.State == Stopped || e.Foot != nil && e.Foot.Status != OK
}

// StageText says at which stage a run with stages stands or ended; "" for one without stages, and for one that had
// all of them.
func (e *Entry) StageText() string {
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

// Took is how long a run took, or has taken so far.
func (e *Entry) Took(now time.Time) time.Duration {
	if e.State == Running {
		return now.Sub(e.Head.At)
	}
	return e.Last.Sub(e.Head.At)
}

// Word is the state in one word: that of the end, for a run that has one.
func (e *Entry) Word() string {
	if e.Idle() {
		return "no hosts"
	}
	if e.Foot != nil && e.State == Ended {
		return string(e.Foot.Status)
	}
	return string(e.State)
}

// Met is how many hosts the plays of a run met; of one that goes on, or was cut off, how many its inventory has.
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

// Filter chooses runs; the zero value takes all. A run must meet every condition that is set.
type Filter struct {
	// Host and Task are patterns with * and ?: a run matches if one of its hosts, one of its tasks does.
	Host, Task string
	// States are alternatives; Failed takes the runs that came out other than well.
	States []State
	Failed bool
	// Since and Until limit the beginning of the run.
	Since, Until time.Time
	// By is a person: the login, the machine as login@machine, or the beginning of the operator's key. Duty is a
	// duty's name.
	By, Duty string
	// Persons leaves out the turns of keepers.
	Persons bool
	// Limit is how many runs are wanted at most; 0 is all.
	Limit int
}

// Opening is how a record is read.
type Opening struct {
	// From is the first line wanted. Lines before it that give numbers to tasks and hosts (plays, steps, task starts,
	// hosts) come all the same, with their own N, and so does the head.
	From int64
	// Follow waits for lines of a run that is under way, until its foot or until it is lost.
	Follow bool
	// Bad leaves out results that are neither failed nor unreachable, and parts that the foot says have none of
	// these, but for the lines that give numbers. Some of what is left out may come all the same.
	Bad bool
}

// Lines are the lines of a record in order. They belong to one goroutine.
type Lines interface {
	// Next gives the next line. At the end of the record it is io.EOF; of a record that breaks off it is a
	// *LostError, which has what is known, once the writer is gone, and without Follow io.EOF while the run goes on.
	// The line is valid until the next call.
	Next(ctx context.Context) (Line, error)
	Close() error
}

// Parts are the finished parts of a record in order. They belong to one goroutine.
type Parts interface {
	// Head is the head with its frame as it is stored.
	Head() (Head, []byte)
	// Next gives the next part, waiting for it while the run goes on. After the last it gives io.EOF; Foot has the
	// foot then, or is nil if the run was lost.
	Next(ctx context.Context) (Part, error)
	Foot() (*Foot, []byte)
	Close() error
}

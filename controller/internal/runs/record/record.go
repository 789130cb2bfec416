// Package record keeps a run's output: every call of its View and its Messages as one line of JSON, in order,
// compressed. Replayed to a view, the lines give the screen again; lists, live views, comparisons and retries read the
// same lines.
//
// A record is a head, parts and a foot. The head is the first line and says who ran what; the foot is the last and says
// how it ended. The lines between them are cut into parts, each a zstd frame of whole lines that never changes once it
// is finished. A Writer makes them, a Sink keeps them (package files on this machine, ledger at the broker), a Store
// finds them and reads them.
//
// A record never contains: effects on variables, variables, facts that modules gathered, arguments that the screen did
// not show, passwords, values of -e, the environment, and of a no_log result more than any view would show of it.
package record

import (
	"fmt"
	"time"

	"hark/controller/internal/ui/view"
)

// Version is the version of the records that are written. A record with a higher one is refused with a *NewerError. New
// optional fields do not make a new version, and readers skip kinds of lines that they do not know.
const Version = 1

// Head says who ran what, from where and on what. It is the first line of a record and does not change.
type Head struct {
	V int `json:"v"`
	// Run is the run's id: one token of lower case letters and digits.
	Run string `json:"run"`
	// At is when the run began, by the controller's clock.
	At time.Time `json:"at"`
	// Who is the public key of the operator, "" for a run that needed none. Name is the person's login and From its
	// machine.
	Who  string `json:"who,omitempty"`
	Name string `json:"name,omitempty"`
	From string `json:"from,omitempty"`
	// Dir is the working directory, Line the command line in which values of -e read (hidden).
	Dir  string   `json:"dir,omitempty"`
	Line []string `json:"line"`
	// Commit is that of the project's git; "" outside of one. The foot says whether files differ from it.
	Commit string `json:"commit,omitempty"`
	// Inventory are the sources, each as name@sha256:digest if it is a file.
	Inventory []string `json:"inventory,omitempty"`
	// Hosts is how many hosts the run may touch, after its limit.
	Hosts int `json:"hosts,omitempty"`
	// Groups are the groups of those hosts, folded; nil if they are too many to be kept.
	Groups map[string][]string `json:"groups,omitempty"`
	Check  bool                `json:"check,omitempty"`
	Hark   string              `json:"hark,omitempty"` // version of the program
	// Level is the language level of the playbooks.
	Level string `json:"level,omitempty"`
	// Duty is the duty that the run carries out, RetryOf the run that it tries again.
	Duty    string `json:"duty,omitempty"`
	RetryOf string `json:"retry_of,omitempty"`
	Screen  Screen `json:"screen"`
}

// Person returns the login of who ran it. Of an operator who is not known here, whose name is his key, it is the
// beginning of that.
func (h *Head) Person() string {
	const most = 8
	if h.Who == "" || h.Name != "" && h.Name != h.Who {
		return h.Name
	}
	return h.Who[:min(len(h.Who), most)] + "…"
}

// Screen is how the run was shown, so that it can be shown so again.
type Screen struct {
	// View is the name of the view, "" for a broadcast's; Beside are the other enabled views.
	View       string   `json:"view,omitempty"`
	OtherViews []string `json:"other_views,omitempty"`
	Verbosity  int      `json:"verbosity,omitempty"`
	// Options are the settings of the views; values of -e in its flags read (hidden).
	Options view.Options `json:"options,omitzero"`
	// NoDeprecations, VerboseToStderr and Tagged are those of the display.
	NoDeprecations  bool `json:"no_deprecations,omitempty"`
	VerboseToStderr bool `json:"verbose_to_stderr,omitempty"`
	Tagged          bool `json:"tagged,omitempty"`
	// Foreign says that a callback in Python had the screen, and View is the closest native one.
	Foreign bool `json:"foreign,omitempty"`
	// Tally is what a broadcast expected.
	Tally *Tally `json:"tally,omitempty"`
}

// Tally is what the view of a broadcast knew at its beginning: see view.TallyOptions.
type Tally struct {
	Expected []string `json:"expected"` // folded
	Enough   int      `json:"enough,omitempty"`
	Left     string   `json:"left,omitempty"`
}

// State is the state of a run, as far as its record says.
type State string

// The states. A run is lost when its record has no foot and no process writes it any more.
const (
	Running State = "running"
	Ended   State = "ended"
	Stopped State = "stopped" // by its user
	Lost    State = "lost"
)

// Status is how a run ended; it implies the exit code.
type Status string

// The statuses. Detached means that the driver left its hosts to themselves.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	Unreachable Status = "unreachable"
	Broken      Status = "broken"
	Cancelled   Status = "cancelled"
	Detached    Status = "detached"
)

// HostState is the state of a host after a run: the worst that happened to it and was not rescued or ignored.
type HostState string

// The states. A host without any result has none.
const (
	StateOK          HostState = "ok"
	StateChanged     HostState = "changed"
	StateFailed      HostState = "failed"
	StateUnreachable HostState = "unreachable"
)

// Foot says how a run ended. It is the last line of a record.
type Foot struct {
	At     time.Time `json:"at"`
	Status Status    `json:"status"`
	Exit   int       `json:"exit"`
	// Dirty says that files of the project differed from the commit; nil is not known.
	Dirty *bool `json:"dirty,omitempty"`
	// Error is what ended the run early, in one line.
	Error string `json:"error,omitempty"`
	// Lines is how many lines the record has, head and foot included. Results is how many of them are ends of a step on a
	// host.
	Lines   int64 `json:"lines"`
	Results int64 `json:"results"`
	// Hosts are the hosts by their state, folded. Tasks are the steps in the order in which they began.
	Hosts map[HostState][]string `json:"hosts,omitempty"`
	Tasks []TaskSum              `json:"tasks,omitempty"`
	// Stages are those of a staged run, in order.
	Stages []StageSum `json:"stages,omitempty"`
	Parts  []PartSum  `json:"parts,omitempty"`
	// Incomplete says why lines are missing, "" if none are.
	Incomplete string `json:"incomplete,omitempty"`
}

// Count returns how many hosts have a state.
func (f *Foot) Count(state HostState) int { return len(f.Names(state)) }

// Names returns the hosts with a state one by one.
func (f *Foot) Names(state HostState) []string { return Unfold(f.Hosts[state]) }

// StageSum is the states of the hosts of one stage: of those that had their first result in it.
type StageSum struct {
	N      int               `json:"n"`
	Of     int               `json:"of"`
	Name   string            `json:"name"`
	Counts map[HostState]int `json:"counts,omitempty"`
}

// TaskSum counts the results of one step by kind.
type TaskSum struct {
	Task        int    `json:"t"`
	Name        string `json:"name"` // as its banner has it
	OK          int    `json:"ok,omitempty"`
	Changed     int    `json:"changed,omitempty"`
	Failed      int    `json:"failed,omitempty"`
	Unreachable int    `json:"unreachable,omitempty"`
	Skipped     int    `json:"skipped,omitempty"`
}

// PartSum describes a part, so that readers can skip parts.
type PartSum struct {
	N     int   `json:"n"`
	First int64 `json:"first"`         // number of its first line
	At    int64 `json:"at"`            // microseconds from the beginning of the run to the line before that one
	Bad   int   `json:"bad,omitempty"` // results that failed or were unreachable
	// Defines says that the part has lines of plays, tasks or hosts, so readers of later parts need it.
	Defines bool `json:"defines,omitempty"`
}

// NewerError says that a later hark wrote a record.
type NewerError struct {
	Run     string
	Version int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the record of run %s has version %d, this hark reads up to %d", e.Run, e.Version, Version)
}

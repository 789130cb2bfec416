// Package dutystate is how hosts stand under duties, as the broker keeps it: the last word of a keeper on each host
// and duty, signed by the keeper and sealed for its readers. It has the lock too that lets one keeper at a time
// speak. What the words come from is package keeper's business.
package dutystate

import (
	"time"

	"hark/controller/internal/duties/duty"
)

// Kind is how a host stands under a duty.
type Kind string

// The kinds.
const (
	Kept    Kind = "kept"    // as it should be
	Drifted Kind = "drifted" // it would be changed, though nobody changed the duty
	Mended  Kind = "mended"  // it was changed
	Failed  Kind = "failed"  // a task failed, or the result of the run is not known
	Absent  Kind = "absent"  // its agent was not there when its turn came
	Held    Kind = "held"    // somebody asked to leave it alone
	Never   Kind = "never"   // it had no turn yet
)

// Kinds returns all of them, in the order of lists.
func Kinds() []Kind {
	return []Kind{Kept, Drifted, Mended, Failed, Absent, Held, Never}
}

// Version is that of states and definitions as they are kept.
const Version = 1

// State is a host under a duty, as the keeper keeps it: the last one only.
type State struct {
	V     int    `json:"v"`
	Duty  string `json:"duty"`
	Host  string `json:"host"`
	Agent string `json:"agent"` // its id
	Kind  Kind   `json:"state"`
	// Since is when it came to stand so, At when its last turn was.
	Since time.Time `json:"since,omitzero"`
	At    time.Time `json:"at,omitzero"`
	// Slot is that of the last turn by the clock which was done or given up.
	Slot int64 `json:"slot,omitempty"`
	// Begun is when a turn was begun whose end is not known yet, BegunSlot its slot.
	Begun     time.Time `json:"begun,omitzero"`
	BegunSlot int64     `json:"begun_slot,omitempty"`
	// Missed is how many turns went by before the last one without anything being done, as while the host was away.
	Missed int       `json:"missed,omitempty"`
	Mode   duty.Mode `json:"mode,omitempty"`
	Commit string    `json:"commit,omitempty"`
	Run    string    `json:"run,omitempty"` // of the last turn, "" if it was clean: then nothing is recorded
	// Why says what a person should know of it; Until is when a hold ends.
	Why   string    `json:"why,omitempty"`
	Until time.Time `json:"until,omitzero"`
	// Tasks is how many tasks the last turn had, Blind are those at which it could not look.
	Tasks int      `json:"tasks,omitempty"`
	Blind []string `json:"blind,omitempty"`
	// Drift are the tasks that would change the host, or have changed it.
	Drift []Change `json:"drift,omitempty"`
	// Noise are the tasks that change the host each time, by the commit for which that was found; no drift.
	Noise       []string `json:"noise,omitempty"`
	NoiseCommit string   `json:"noise_commit,omitempty"`
	// Changed are the tasks that the last enforcing turn has changed, noise too: what the next changes again, and no
	// check can see, is noise.
	Changed []string `json:"changed,omitempty"`
	// NotifiedState is the state that somebody was notified of and that still holds: failed, drifted or absent.
	Notified string `json:"notified,omitempty"`
	// Gone says that the host is no longer one of the duty.
	Gone bool `json:"gone,omitempty"`
	// Past are its turns, the latest first. Turns that came out alike, one after the other, are one entry.
	Past []Past `json:"past,omitempty"`
}

// Past are turns that came out alike.
type Past struct {
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Times int       `json:"times"`
	Kind  Kind      `json:"state"`
	Run   string    `json:"run,omitempty"`   // of the last
	Tasks []string  `json:"tasks,omitempty"` // that drifted, were mended or failed
}

// MostPast is how many entries a state remembers.
const MostPast = 50

// Change is a task that changes a host.
type Change struct {
	Task string `json:"task"`
	// Diff is what would change or was changed, as far as the task reports and does not hide it.
	Diff  string    `json:"diff,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// Definition is what a keeper says of a duty.
type Definition struct {
	V      int       `json:"v"`
	Name   string    `json:"name"`
	Keeper string    `json:"keeper,omitempty"` // its public key; set by who reads it
	XKey   string    `json:"xkey,omitempty"`   // its public curve key, for what is asked of it
	Mode   duty.Mode `json:"mode"`
	Play   string    `json:"play"`
	Hosts  string    `json:"hosts"`
	Level  string    `json:"level,omitempty"` // the language in which the play is read
	// Every is the time from turn to turn, At the daily time, as written.
	Every string `json:"every,omitempty"`
	// Once is when a duty is done that is done once.
	Once time.Time `json:"once,omitzero"`
	// Period is how long a state is fresh: the time from turn to turn and the splay.
	Period time.Duration `json:"period"`
	Count  int           `json:"count"` // of hosts
	Commit string        `json:"commit"`
	// Before is the commit of the hosts whose stage has not come; Stage is the stage.
	Before  string    `json:"before,omitempty"`
	Stage   int       `json:"stage,omitempty"`
	StageAt time.Time `json:"stage_at,omitzero"`
	// Broken is the commit with which the duty stopped itself last.
	Broken string `json:"broken,omitempty"`
	// Stale says why a newer commit is not in force.
	Stale  string `json:"stale,omitempty"`
	Paused *Pause `json:"paused,omitempty"`
	// PauseNotified is true if somebody was notified of the pause.
	PauseNotified bool      `json:"pause_notified,omitempty"`
	Next          time.Time `json:"next,omitzero"` // turn of any host
	At            time.Time `json:"at"`            // when it was said
	Gone          bool      `json:"gone,omitempty"`
	// Sweeps are its turns slot by slot, the latest first, at most MostPast.
	Sweeps []Sweep `json:"sweeps,omitempty"`
	// Later is set for a play that was put off for hosts that were away.
	Later *Later `json:"later,omitempty"`
}

// Later is a play that was put off: each of its hosts gets it once, when it is there, until a time.
type Later struct {
	Until time.Time `json:"until"`
	By    string    `json:"by"` // the key of who asked for it
	Hosts []Host    `json:"hosts"`
	// Flags are the flags of the call that are passed on: tags.
	Flags []string `json:"flags,omitempty"`
	// Ended is when the last host had it, or the time was over. Expired are the hosts that were not there until then.
	Ended   time.Time `json:"ended,omitzero"`
	Expired []string  `json:"expired,omitempty"`
}

// Sweep is the result of the turns of a slot.
type Sweep struct {
	Slot  time.Time    `json:"slot"` // its beginning
	Hosts map[Kind]int `json:"hosts"`
}

// Host is a host and its agent.
type Host struct {
	Name  string `json:"name"`
	Agent string `json:"agent"` // its id
	// Key is the public key of the agent, "" for one that never said hello, and for a host that is this machine.
	Key string `json:"key,omitempty"`
}

// Report is what a keeper says of itself.
type Report struct {
	V       int    `json:"v"`
	Keeper  string `json:"keeper,omitempty"` // its public key; set by who reads it
	XKey    string `json:"xkey,omitempty"`   // as in Definition
	Project string `json:"project"`          // as it was given
	Commit  string `json:"commit,omitempty"` // in force, "" while there is none
	// Stale says why a newer commit is not in force.
	Stale string    `json:"stale,omitempty"`
	At    time.Time `json:"at"`
	// NotifiedState is what somebody was told beside how hosts stand, and is still so.
	Notified []NotifiedState `json:"notified,omitempty"`
}

// NotifiedState is something that somebody was told.
type NotifiedState struct {
	Key  string    `json:"key"`
	What string    `json:"what"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
	Once bool      `json:"once,omitempty"` // it has no end
}

// Pause is why a duty does nothing.
type Pause struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
	// Commit is for which commit it holds; "" is for all. A duty that stopped itself goes on with the next commit.
	Commit string `json:"commit,omitempty"`
}

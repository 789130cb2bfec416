package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/deprecation"
	"hark/playbook/plan"
)

// Kind is the kind of a line: the call of View or Messages that it records.
type Kind string

// The kinds. Host and Step only define numbers; TaskStart numbers a step the first time, and starts it.
const (
	KindHead       Kind = "begin"
	KindHost       Kind = "host"
	KindStep       Kind = "step"
	KindStage      Kind = "stage"
	KindPlaybook   Kind = "playbook"
	KindPlay       Kind = "play"
	KindNoMatch    Kind = "no_hosts_matched"
	KindNoneLeft   Kind = "no_hosts_remaining"
	KindTaskStart  Kind = "task"
	KindHostStart  Kind = "start"
	KindItem       Kind = "item"
	KindRetry      Kind = "retry"
	KindDone       Kind = "done"
	KindIncluded   Kind = "included"
	KindNotified   Kind = "notified"
	KindProgress   Kind = "progress"
	KindAsync      Kind = "async"
	KindStats      Kind = "stats"
	KindWarn       Kind = "warn"
	KindWarnBlock  Kind = "warn_block"
	KindDeprecate  Kind = "deprecate"
	KindError      Kind = "error"
	KindErrorWrap  Kind = "error_wrapped"
	KindVerbose    Kind = "verbose"
	KindSaid       Kind = "said"
	KindSaidErr    Kind = "said_err"
	KindBanner     Kind = "banner"
	KindRaw        Kind = "raw"
	KindFoot       Kind = "end"
	KindIncomplete Kind = "incomplete" // lines are missing here; Text says why
)

// Line is one line of a record. Its kind decides which fields are set. Tasks and hosts are numbers from 1 that earlier
// lines of the kinds Step, TaskStart and Host defined.
type Line struct {
	// N is the line's number; the head is 0. It is not written.
	N int64 `json:"-"`
	// At is the time of the line, by the controller's clock: the sum of After. It is not written.
	At time.Time `json:"-"`

	Kind Kind `json:"k"`
	// After is how many microseconds passed since the line before.
	After int64 `json:"a,omitempty"`
	Task  int   `json:"t,omitempty"`
	Host  int   `json:"h,omitempty"`
	// Status, Took (microseconds, by the agent's clock), Outcome and Result are those of results: item, retry, done,
	// progress, async.
	Status  wire.Status     `json:"s,omitempty"`
	Took    int64           `json:"d,omitempty"`
	Outcome *Outcome        `json:"o,omitempty"`
	Result  json.RawMessage `json:"r,omitempty"` // as shown: censored, without facts
	// Name is that of a host, of a playbook, of a handler, or of a task as the host renders it.
	Name string `json:"name,omitempty"`
	// Text, Color and Level are those of messages.
	Text  string     `json:"text,omitempty"`
	Color view.Color `json:"color,omitempty"`
	Level int        `json:"level,omitempty"`

	// Origins are the places that a result names, in runs whose display was tagged.
	Origins []Origin `json:"origins,omitempty"`

	Head   *Head               `json:"head,omitempty"`
	Stage  *Stage              `json:"stage,omitempty"`
	Play   *Play               `json:"play,omitempty"`
	Step   *Step               `json:"step,omitempty"`
	Files  *Include            `json:"file,omitempty"`
	Stats  *Stats              `json:"stats,omitempty"`
	Notice *deprecation.Notice `json:"notice,omitempty"`
	Foot   *Foot               `json:"foot,omitempty"`
}

// Outcome is what a result says beside its status and what the module returned; nil says nothing.
type Outcome struct {
	NoLog     bool   `json:"no_log,omitempty"`
	Ignored   bool   `json:"ignored,omitempty"`
	Rescued   bool   `json:"rescued,omitempty"`
	Cancelled bool   `json:"cancelled,omitempty"`
	Delegated string `json:"delegated,omitempty"`
	Label     string `json:"label,omitempty"`
	Attempts  int    `json:"attempts,omitempty"`
	Retries   int    `json:"retries,omitempty"`
	Loop      bool   `json:"loop,omitempty"`
	Meta      string `json:"meta,omitempty"`
}

// Origin is the place that a failure is about, with its lines of the playbook as they were when the run read them.
type Origin struct {
	At   view.Spot `json:"at,omitzero"`
	Text string    `json:"text"`
}

// originsOf returns the origins of a result in a fixed order.
func originsOf(by map[view.Spot]string) []Origin {
	var out []Origin
	for at, text := range by {
		out = append(out, Origin{At: at, Text: text})
	}
	slices.SortFunc(out, func(a, b Origin) int {
		return cmp.Or(strings.Compare(a.At.Key, b.At.Key), strings.Compare(a.At.Text, b.At.Text),
			strings.Compare(a.At.File, b.At.File))
	})
	return out
}

// Stage is a stage of a staged run, as it begins.
type Stage struct {
	// N of Of, from 1. Name is the stage as written.
	N     int      `json:"n"`
	Of    int      `json:"of"`
	Name  string   `json:"name"`
	Hosts []string `json:"hosts,omitempty"` // folded, as far as known when it begins
}

// String returns the stage for people.
func (s *Stage) String() string { return fmt.Sprintf("stage %d of %d", s.N, s.Of) }

// Play is a play, or a batch of one, as it starts.
type Play struct {
	Name     string   `json:"name"`
	Pattern  string   `json:"pattern,omitempty"`
	ID       string   `json:"id,omitempty"`
	Path     string   `json:"path,omitempty"`
	Hosts    []string `json:"hosts,omitempty"` // folded
	Check    bool     `json:"check,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Strategy string   `json:"strategy,omitempty"`
}

// Step is a task as shown. Args are set only if the run's own views showed them.
type Step struct {
	ID      plan.ID         `json:"id"`
	Name    string          `json:"name,omitempty"`
	Action  string          `json:"action,omitempty"`
	Role    string          `json:"role,omitempty"`
	Place   string          `json:"place,omitempty"`
	Handler bool            `json:"handler,omitempty"`
	NoLog   bool            `json:"no_log,omitempty"`
	Check   bool            `json:"check,omitempty"`
	Diff    bool            `json:"diff,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Kind    plan.Kind       `json:"kind,omitempty"`
	Meta    string          `json:"meta,omitempty"`
}

// Include is one file of a dynamic include, with the numbers of the hosts that included it.
type Include struct {
	Path  string `json:"path"`
	Label string `json:"label,omitempty"`
	Hosts []int  `json:"hosts"`
}

// Stats are the recap's counts, a row for each host: its number, then ok, changed, unreachable, failed, skipped,
// rescued and ignored.
type Stats struct {
	Rows   [][8]int                   `json:"rows"`
	Custom map[string]json.RawMessage `json:"custom,omitempty"`
}

// Place is a reader's position in a record. A reader that skips parts sets N and Last for the next.
type Place struct {
	// N is the number of the next line, Last the time of the line before it.
	N     int64
	Last  time.Time
	Names Names
}

// Line reads the next line, and sets its number and its time.
func (p *Place) Line(text []byte) (Line, error) {
	l, err := DecodeLine(text)
	if err != nil {
		return l, err
	}
	if l.Kind == KindHead && l.Head != nil {
		p.Last = l.Head.At
	}
	p.Names.Learn(&l)
	l.N, l.At = p.pass(l.After)
	return l, nil
}

// pass skips a line, and returns its number and its time.
func (p *Place) pass(after int64) (n int64, at time.Time) {
	n, p.Last = p.N, p.Last.Add(time.Duration(after)*time.Microsecond)
	p.N++
	return n, p.Last
}

// AppendLine appends one line with its end.
func AppendLine(to []byte, l *Line) ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return to, err
	}
	return append(append(to, text...), '\n'), nil
}

// Gives reports whether readers of later lines need a line: it defines numbers, or says where the run stands.
func (l *Line) Gives() bool {
	switch l.Kind {
	case KindHead, KindFoot, KindHost, KindStage, KindPlay, KindPlaybook:
		return true
	}
	return l.Step != nil
}

// bad reports whether a line is a result that failed or was unreachable.
func bad(l *Line) bool { return l.Status == wire.StatusFailed || l.Status == wire.StatusUnreachable }

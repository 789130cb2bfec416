package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"hark/controller/internal/ui/view"
	"hark/modules/result"
)

// Summary is the summary of a run.
type Summary struct {
	Entry  Entry      `json:"entry"`
	Stages []StageSum `json:"stages,omitempty"`
	Tasks  []TaskSum  `json:"tasks,omitempty"`
	// Failures are the failures, equal ones once.
	Failures []Failure `json:"failures,omitempty"`
}

// Failure is a failure that hosts share in one task.
type Failure struct {
	Task  string    `json:"task"`
	State HostState `json:"state"`
	Msg   string    `json:"msg,omitempty"`
	Host  []string  `json:"hosts"` // folded
}

// Summarize returns the summary of a run.
func Summarize(ctx context.Context, s Store, e *Entry) (*Summary, error) {
	lines, err := s.Open(ctx, e.Head.Run, Opening{Bad: true})
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	sum := &Summary{Entry: *e}
	var names Names
	at := map[[3]string]int{}
	for {
		l, err := lines.Next(ctx)
		var lost *LostError
		if errors.Is(err, io.EOF) || errors.As(err, &lost) {
			break
		}
		if err != nil {
			return nil, err
		}
		names.Learn(&l)
		if l.Foot != nil {
			sum.Entry.Foot, sum.Tasks, sum.Stages = l.Foot, l.Foot.Tasks, l.Foot.Stages
		}
		if l.Kind == KindDone && bad(&l) {
			sum.failed(&l, &names, at)
		}
	}
	if sum.Tasks == nil {
		sum.Tasks = names.Foot().Tasks
	}
	for i := range sum.Failures {
		hosts := sum.Failures[i].Host
		view.SortHosts(hosts)
		sum.Failures[i].Host = Fold(slices.Compact(hosts))
	}
	sum.Entry.Foot = sum.Entry.Foot.short()
	return sum, nil
}

// short returns a foot without what other fields of a summary have.
func (f *Foot) short() *Foot {
	if f == nil {
		return nil
	}
	out := *f
	out.Tasks, out.Stages, out.Parts = nil, nil, nil
	return &out
}

// Message returns the msg of a line's result, "" if there is none.
func (l *Line) Message() string { return result.Decode(l.Result).Message() }

// failed adds a failure.
func (s *Summary) failed(l *Line, names *Names, at map[[3]string]int) {
	state := StateFailed
	if l.Status == "unreachable" {
		state = StateUnreachable
	}
	f := Failure{Task: names.TaskOf(l.Task).Title(), State: state, Msg: l.Message()}
	key := [3]string{f.Task, string(state), f.Msg}
	i, ok := at[key]
	if !ok {
		i = len(s.Failures)
		at[key], s.Failures = i, append(s.Failures, f)
	}
	s.Failures[i].Host = append(s.Failures[i].Host, names.Host(l.Host))
}

// Text returns the summary for people.
func (s *Summary) Text() string {
	var b strings.Builder
	h := &s.Entry.Head
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, view.OneLine(value))
		}
	}
	row("run", h.Run)
	row("state", s.Entry.Word())
	if len(s.Stages) == 0 {
		row("stage", s.Entry.RolloutStage())
	}
	row("stood at", s.Entry.At)
	row("began", h.At.Local().Format(time.DateTime))
	if !s.Entry.Last.IsZero() && s.Entry.State != Running {
		row("ended", s.Entry.Last.Local().Format(time.DateTime))
	}
	row("by", h.From)
	row("operator", h.Who)
	row("directory", h.Dir)
	row("command", strings.Join(h.Line, " "))
	row("commit", h.Commit+dirtyText(h.Commit, s.Entry.Foot))
	row("inventory", strings.Join(h.Inventory, " "))
	row("level", h.Level)
	row("duty", h.Duty)
	row("again of", h.RetryOf)
	if f := s.Entry.Foot; f != nil {
		row("exit code", fmt.Sprint(f.Exit))
		if !severalLines(f.Error) { // else it is below, as the screen had it
			row("error", f.Error)
		}
		row("incomplete", f.Incomplete)
		for _, state := range hostStates() {
			if n := f.Count(state); n > 0 {
				row(string(state), fmt.Sprintf("%d: %s", n, strings.Join(f.Hosts[state], " ")))
			}
		}
	}
	_ = w.Flush() // into memory
	s.tables(&b)
	return b.String()
}

func dirtyText(commit string, f *Foot) string {
	switch {
	case commit == "" || f == nil || f.Dirty == nil:
		return ""
	case *f.Dirty:
		return ", and changes that were not committed"
	}
	return ", clean"
}

// tables writes the stages, the tasks and the failures.
func (s *Summary) tables(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	if len(s.Stages) > 0 {
		fmt.Fprintln(w, "\nSTAGE\tUP TO\tOK\tCHANGED\tFAILED\tGONE")
	}
	for _, t := range s.Stages {
		fmt.Fprintf(w, "%d of %d\t%s\t%d\t%d\t%d\t%d\n", t.N, t.Of, t.Name, t.Counts[StateOK], t.Counts[StateChanged],
			t.Counts[StateFailed], t.Counts[StateUnreachable])
	}
	_ = w.Flush() // into memory
	if len(s.Tasks) > 0 {
		fmt.Fprintln(w, "\nTASK\tOK\tCHANGED\tFAILED\tGONE\tSKIPPED")
	}
	for _, t := range s.Tasks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", view.OneLine(t.Name), t.OK, t.Changed, t.Failed, t.Unreachable, t.Skipped)
	}
	_ = w.Flush() // into memory
	for _, f := range s.Failures {
		fmt.Fprintf(b, "\n%s: %s: %s\n", view.OneLine(f.Task), f.State, strings.Join(f.Host, " "))
		for line := range strings.Lines(f.Msg) {
			fmt.Fprintf(b, "    %s\n", strings.TrimRight(line, "\r\n"))
		}
	}
	if f := s.Entry.Foot; f != nil && severalLines(f.Error) {
		fmt.Fprintf(b, "\nerror: %s\n", strings.TrimSpace(f.Error))
	}
}

// severalLines reports whether a text has a line below its first one, as errors with the place in a playbook have.
func severalLines(text string) bool { return strings.Contains(strings.TrimSpace(text), "\n") }

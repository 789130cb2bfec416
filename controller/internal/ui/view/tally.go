package view

import (
	"fmt"
	"slices"
	"strings"

	"hark/agent/wire"
)

// TallyOptions say what a Tally expects.
type TallyOptions struct {
	// Expected are the hosts of the broadcast.
	Expected []string
	// Prelude tells steps that come before the one that counts: only hosts that fail there are counted by them.
	Prelude func(Task) bool
	// Enough, if over 0, is how many hosts are to answer, see OnEnough.
	Enough int
	// Left says what became of expected hosts that told nothing; "" is not reached.
	Left string
}

// Tally is the view of a broadcast: it shows equal results once with the hosts that gave them, and in the end the
// sum: every expected host is in it in one state.
type Tally struct {
	Silent
	o      TallyOptions
	d      *Display
	dump   dumper
	answer map[string]answer // by host
	enough func()
}

// answer is how a host ended.
type answer struct {
	state state
	text  string
}

// state is one of those in which a host of a broadcast ends, in the order in which the sum names them.
type state int

const (
	changed state = iota
	unchanged
	skippedState
	failedState
	unreachable
	left
)

func (s state) String() string {
	return [...]string{"changed", "ok", "skipped", "failed", "unreachable", "left"}[s]
}

func (s state) color() Color {
	return [...]Color{ColorChanged, ColorOK, ColorSkip, ColorError, ColorUnreachable, ColorWarn}[s]
}

// NewTally makes the view.
func NewTally(o Options, t TallyOptions) *Tally {
	return &Tally{o: t, d: o.Display, dump: o.dumper(), answer: map[string]answer{}}
}

// OnEnough names what is called, once, when enough hosts have answered. It is called before the run.
func (v *Tally) OnEnough(f func()) { v.enough = f }

// Done takes a host's result. What comes after enough hosts have answered is the end of those that were given up.
func (v *Tally) Done(r Result) {
	if v.Enough() {
		return
	}
	s := prepare(r)
	a := answer{state: stateOf(s)}
	if v.o.Prelude != nil && v.o.Prelude(r.Task) && a.state != failedState && a.state != unreachable {
		return
	}
	a.text = v.text(s, a.state)
	_, again := v.answer[r.Host]
	v.answer[r.Host] = a
	if !again && len(v.answer) == v.o.Enough && v.enough != nil {
		v.enough()
	}
}

func stateOf(s shown) state {
	switch s.Outcome.Status {
	case wire.StatusFailed:
		return failedState
	case wire.StatusUnreachable:
		return unreachable
	case wire.Skipped:
		return skippedState
	}
	if s.res.True("changed") {
		return changed
	}
	return unchanged
}

// text returns a result without the name of its host.
func (v *Tally) text(s shown, in state) string {
	caption := strings.ToUpper(in.String())
	switch {
	case in == unreachable:
		return caption + " => " + textOf(s.res, "msg")
	case in == skippedState:
		return caption
	case noJSON(s.Task.Action) && in != skippedState:
		_, text, _ := strings.Cut(commandOutput(s, caption), " | ")
		return strings.TrimRight(text, "\n")
	}
	s.cleanDebug(false)
	return caption + " => " + v.dump.dump(s, 4)
}

// Enough reports whether as many hosts as were wanted have answered.
func (v *Tally) Enough() bool { return v.o.Enough > 0 && len(v.answer) >= v.o.Enough }

// Failed and Unreachable count hosts.
func (v *Tally) Failed() int      { return v.count()[failedState] }
func (v *Tally) Unreachable() int { return v.count()[unreachable] }

// Close shows the groups and the sum.
func (v *Tally) Close() error {
	for _, h := range v.o.Expected {
		if _, ok := v.answer[h]; !ok {
			v.answer[h] = answer{state: left, text: strings.ToUpper(v.word(left))}
		}
	}
	for _, g := range v.groups() {
		v.d.Print(g.state.color(), fmt.Sprintf("%s | %s", plural(len(g.hosts)), g.text))
		v.d.Print(NoColor, "    "+strings.Join(Fold(g.hosts), " "))
		v.d.Print(NoColor, "")
	}
	v.d.Print(NoColor, v.sum())
	return nil
}

func (v *Tally) word(s state) string {
	if s != left {
		return s.String()
	}
	if v.o.Left == "" {
		return "not reached"
	}
	return v.o.Left
}

func plural(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", n)
}

// grouped are hosts with one answer.
type grouped struct {
	answer
	hosts []string
}

// groups returns the answers by state, those of most hosts first.
func (v *Tally) groups() []grouped {
	at := map[answer]int{}
	var all []grouped
	for _, h := range v.o.Expected {
		a := v.answer[h]
		i, ok := at[a]
		if !ok {
			i = len(all)
			at[a], all = i, append(all, grouped{answer: a})
		}
		all[i].hosts = append(all[i].hosts, h)
	}
	slices.SortStableFunc(all, func(x, y grouped) int {
		if x.state != y.state {
			return int(x.state) - int(y.state)
		}
		return len(y.hosts) - len(x.hosts)
	})
	return all
}

func (v *Tally) count() map[state]int {
	n := map[state]int{}
	for _, a := range v.answer {
		n[a.state]++
	}
	return n
}

// sum returns the account: what was expected, and the states that make it up.
func (v *Tally) sum() string {
	n := v.count()
	var parts []string
	total := 0
	for s := changed; s <= left; s++ {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], v.word(s)))
			total += n[s]
		}
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	return fmt.Sprintf("%s expected: %s = %d", plural(len(v.o.Expected)), strings.Join(parts, " + "), total)
}

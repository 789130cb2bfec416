package fleet

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
)

// Agent is an agent as it said of itself, and as it stands in the registrar's book.
type Agent struct {
	roster.Agent
	// State is that of the book, "" if there is none or the agent is not in it.
	State enrol.State `json:"state,omitempty"`
	// Expires is until when its credentials are good, if the book tells.
	Expires time.Time `json:"expires,omitzero"`
	// DutyState is why it cannot connect, and what to do; "" if it can.
	CannotConnect string `json:"cannot_connect,omitempty"`
}

// Agents reads the roster and the book. An agent that was let in and never spoke is listed too.
func (b *Connection) Agents(ctx context.Context) ([]Agent, error) {
	heard, err := b.Roster.All(ctx)
	if err != nil {
		return nil, err
	}
	book, err := b.Enrolled(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Agent, len(heard))
	for i, x := range heard {
		all[i] = Agent{Agent: x}
	}
	for _, e := range book {
		at := slices.IndexFunc(all, func(x Agent) bool { return x.Key == e.Key })
		if at < 0 {
			at = len(all)
			all = append(all, Agent{Agent: roster.Agent{Key: e.Key, Hello: wire.Hello{
				ID: wire.IDOf(e.Key), Name: e.Name, Version: e.Version, OS: e.OS, Arch: e.Arch, XKey: e.XKey}}})
		}
		all[at].State, all[at].Expires = e.State, e.Expires
		if !all[at].Present || e.State != enrol.Approved {
			all[at].CannotConnect = DutyState(e, time.Now())
		}
	}
	all = slices.DeleteFunc(all, func(x Agent) bool { return x.State == "" && replaced(x, book) })
	slices.SortFunc(all, func(x, y Agent) int { return strings.Compare(x.Name, y.Name) })
	return all, nil
}

// replaced reports whether another agent was let in under the name of one that the book does not have.
func replaced(x Agent, book []enrol.Agent) bool {
	return slices.ContainsFunc(book, func(e enrol.Agent) bool { return e.Name == x.Name && e.State == enrol.Approved })
}

// everyAgent is the pattern of all agents, as Ansible writes it. No agent can have that name.
const everyAgent = "all"

// matchesAny reports whether an agent's name matches one of the patterns. Without any it does.
func matchesAny(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil || p == everyAgent
	})
}

// Present returns the agents that are there and whose names match one of the patterns, or all without any. None is an
// error.
func (b *Connection) Present(ctx context.Context, patterns []string) ([]roster.Agent, error) {
	all, err := b.Roster.All(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(x roster.Agent) bool {
		return !x.Present || !matchesAny(patterns, x.Name)
	})
	if len(all) == 0 {
		return nil, fmt.Errorf("no agent that is present matches %s",
			strings.Join(append(patterns, "*")[:max(len(patterns), 1)], ", "))
	}
	return all, nil
}

// Enrolled returns what the registrar knows of agents that never spoke, for lists; without a registrar nothing.
func (b *Connection) Enrolled(ctx context.Context) ([]enrol.Agent, error) {
	if b.Access.Token == "" || b.Access.ReadOnly {
		return nil, nil
	}
	agents, _, err := b.Registrar().List(ctx)
	if errors.Is(err, enrol.ErrNoRegistrar) {
		return nil, nil
	}
	slices.SortFunc(agents, func(x, y enrol.Agent) int { return strings.Compare(x.Name, y.Name) })
	return agents, err
}

// DutyState says of an agent that is not connected, by the registrar's book, why it cannot be, and what to do about
// it; "" if it may connect.
func DutyState(x enrol.Agent, now time.Time) string {
	switch {
	case x.State == enrol.Pending:
		return fmt.Sprintf("waits for approval since %s: `hark agents approve %s`", x.At.Local().Format(time.DateTime),
			x.Name)
	case x.State == enrol.Revoked:
		return fmt.Sprintf("was revoked on %s by %s: `hark agents approve %s` lets it in again",
			x.At.Local().Format(time.DateTime), x.By, x.Name)
	case x.Expired(now):
		return fmt.Sprintf(
			"was away until its credentials expired on %s: enrol it again, with `hark bootstrap` or `hark-agent join`",
			x.Expires.Local().Format(time.DateTime))
	}
	return ""
}

// WhyAbsent asks the registrar once how it stands with agents that are not connected.
func (b *Connection) WhyAbsent() func(ctx context.Context, name, key string) string {
	var once sync.Once
	var book []enrol.Agent
	return func(ctx context.Context, name, key string) string {
		once.Do(func() { book, _ = b.Enrolled(ctx) }) // without the book there is nothing to say
		i := slices.IndexFunc(book,
			func(x enrol.Agent) bool { return key != "" && x.Key == key || key == "" && x.Name == name })
		if i < 0 {
			return ""
		}
		return DutyState(book[i], time.Now())
	}
}

// Ago returns how long a time has passed, as people say it.
func Ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	switch d := time.Since(t); {
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Local().Format(time.DateOnly)
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/duty"
	"hark/controller/internal/keeper"
	"hark/controller/internal/roster"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/syntax"
)

// planAge is after how long the inventory is read again though the project has not changed: it may be a program that asks elsewhere.
const planAge = 10 * time.Minute

// current is the project as it is in force. It is read anew when it has changed, when agents came, or after a while.
func (k *keeping) current(ctx context.Context) (keeper.Plan, error) {
	commit, dir, err := k.source.Now(ctx)
	if err != nil {
		return keeper.Plan{}, err
	}
	agents, err := k.b.Roster.All(ctx)
	if err != nil {
		return keeper.Plan{}, err
	}
	if commit == k.plan.Commit && len(agents) == k.known && time.Since(k.read) < planAge {
		return k.plan, nil
	}
	p, err := k.compile(ctx, commit, dir)
	if err != nil {
		return keeper.Plan{}, err
	}
	k.plan, k.read, k.known = p, time.Now(), len(agents)
	return p, nil
}

// compile reads the duties of a directory, their playbooks, and which hosts they are for.
func (k *keeping) compile(ctx context.Context, commit, dir string) (keeper.Plan, error) {
	duties, err := duty.Read(&syntax.Loader{}, filepath.Join(dir, duty.FileName))
	if err != nil {
		return keeper.Plan{}, err
	}
	plan := keeper.Plan{Commit: commit}
	var errs []error
	for _, d := range duties {
		p, err := k.duty(ctx, dir, d)
		errs = append(errs, err)
		plan.Duties = append(plan.Duties, p)
	}
	return plan, syntax.Join(errs...)
}

// duty compiles the play of a duty.
func (k *keeping) duty(ctx context.Context, dir string, d duty.Duty) (keeper.Planned, error) {
	planned := keeper.Planned{Duty: d, Lacks: func(commit string) bool { _, ok := k.source.Dir(commit); return !ok }}
	world := k.world
	world.Dir = dir
	a, err := newApp(System{Args: []string{"hark"}, In: strings.NewReader(""), Out: k.term.Err, Err: k.term.Err, NoTTY: true, World: world})
	if err != nil {
		return planned, err
	}
	o := k.given
	o.Inventory.Limit, o.Mode.Check, o.Connect.Kind, o.Forks.Number = d.Hosts, d.Mode == duty.Check, "smart", 1
	ownAgents(a, &o)
	o.BaseDir = filepath.Dir(absolute(a, d.Play))
	at := func(err error) error { return fmt.Errorf("%s: the duty %s: %w", d.Place, d.Name, err) }
	if err := readable(a, d.Play); err != nil {
		return planned, at(err)
	}
	p, err := a.open(ctx, &o, o.BaseDir)
	if err != nil {
		return planned, at(err)
	}
	defer p.Plugins.Close()
	defer p.Actions.Close()
	if _, err := p.Limit("all"); err != nil {
		return planned, at(err)
	}
	books, err := p.Playbooks([]string{absolute(a, d.Play)})
	if err != nil {
		return planned, err
	}
	hosts := map[string]*inventory.Host{}
	compiled := func(play *compile.Play, s *compile.Settings) (*compile.Unit, error) {
		found, err := p.Inventory.Match(s.Hosts...)
		if err != nil {
			return nil, err
		}
		names := make([]string, 0, len(found))
		for _, h := range found {
			hosts[h.Name] = h
			names = append(names, h.Name)
		}
		return p.Compiler.Compile(ctx, play, compile.Batch{
			ID: "0", AllHosts: names, Hosts: names, Batch: names, Settings: s, GatherFacts: true,
			Inventory: func(name string) []value.Value { return listing{run: p}.values(found, name) },
		})
	}
	if err := keeper.Suits(ctx, p.Compiler, books, d, compiled); err != nil {
		return planned, err
	}
	for _, h := range hosts {
		one, err := k.host(ctx, p, h)
		if err != nil {
			return planned, err
		}
		planned.Hosts = append(planned.Hosts, one)
	}
	slices.SortFunc(planned.Hosts, func(x, y keeper.Host) int { return strings.Compare(x.Name, y.Name) })
	return planned, nil
}

// host finds the agent of a host.
func (k *keeping) host(ctx context.Context, p *run, h *inventory.Host) (keeper.Host, error) {
	vars, err := p.Inventory.Vars(h)
	if err != nil {
		return keeper.Host{}, err
	}
	text := func(name string) string {
		v, _ := vars.Get(name)
		text, _ := value.Text(value.OrNone(v))
		return text
	}
	out := keeper.Host{Name: h.Name, Agent: wire.IDOf("without an agent: " + h.Name)}
	if text("ansible_connection") == "local" {
		return out, nil
	}
	name := h.Name
	if other := text("hark_agent"); other != "" {
		name = other
	}
	agent, err := k.b.Roster.Find(ctx, name)
	var unknown *roster.UnknownError
	switch {
	case errors.As(err, &unknown): // its turns say so
		return out, nil
	case err != nil:
		return out, err
	}
	out.Agent, out.Key = agent.ID, agent.Key
	return out, nil
}

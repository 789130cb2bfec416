package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/keeper"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/play/link"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/syntax"
)

// planAge is after how long the inventory is read again though the project has not changed: it may be a program that
// asks elsewhere.
const planAge = 10 * time.Minute

// current returns the project as it is in force. It is read again when it has changed, when agents came, went or got
// another name, or after a while.
func (k *keeping) current(ctx context.Context) (keeper.Plan, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shareAnew(ctx)
	commit, dir, err := k.source.Now(ctx)
	if err != nil {
		return keeper.Plan{}, err
	}
	agents, err := k.b.Roster.All(ctx)
	if err != nil {
		return keeper.Plan{}, err
	}
	known := agentNames(agents)
	if commit == k.plan.Commit && known == k.known && time.Since(k.read) < planAge {
		return k.plan, nil
	}
	if err := k.require(ctx, dir); err != nil {
		return keeper.Plan{}, err
	}
	p, err := k.compile(ctx, commit, dir)
	if err != nil {
		return keeper.Plan{}, k.unfetched(dir, err)
	}
	k.plan, k.read, k.known = p, time.Now(), known
	return p, nil
}

// agentNames returns a digest of which name is which agent's: one that gets another name, or takes that of another,
// may be a host of a duty from now on.
func agentNames(agents []roster.Agent) string {
	names := make([]string, len(agents))
	for i, x := range agents {
		names[i] = x.Name + " " + x.ID + "\n"
	}
	slices.Sort(names)
	sum := sha256.Sum256([]byte(strings.Join(names, "")))
	return string(sum[:])
}

// shareAnew has those read who were named readers since the last look. What fails is tried again at the next.
func (k *keeping) shareAnew(ctx context.Context) {
	readers, err := k.b.Readers(k.fleet.Home)
	if err == nil && (k.store.SetReaders(readers) || k.unshared) {
		err = k.store.ShareAll(ctx)
		k.unshared = err != nil
	}
	if err != nil {
		k.log.Warn().AnErr("cause", err).Msg("readers who were named lately may not read how hosts stand")
	}
}

// before returns the project as it was at a commit that is still there.
func (k *keeping) before(ctx context.Context, commit string) (keeper.Plan, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	dir, ok := k.source.Dir(commit)
	if !ok {
		return keeper.Plan{}, fmt.Errorf("the project is no longer there as it was at %s", commit)
	}
	p, err := k.compile(ctx, commit, dir)
	if err == nil { // what is newer is looked at again
		k.plan, k.read = p, time.Time{}
	}
	return p, err
}

// later makes a duty of a play that somebody puts off. It must be one of the project as it is in force.
func (k *keeping) later(ctx context.Context, a keeper.Requested) (p keeper.Planned, commit string, unfit []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.plan.Commit == "" {
		return p, "", nil, errors.New("the keeper has not read its project yet: try again, or see `hark keeper status`")
	}
	i := slices.IndexFunc(a.Later.From,
		func(o keeper.Origin) bool { return o.Commit == k.plan.Commit || k.offered[o.Commit] })
	if i < 0 {
		return p, "", nil, fmt.Errorf("the keeper's project is at %s, and not what lies here: commit and push what is to be played, and wait until the keeper has it (`hark keeper status`)", k.plan.Commit)
	}
	commit = a.Later.From[i].Commit
	dir, ok := k.source.Dir(commit)
	if !ok {
		return p, "", nil, fmt.Errorf("the keeper's project is no longer there as it was at %s: try again", commit)
	}
	name := "later-" + link.NewID()[:6]
	put := keeper.NewDeferredPlay(name, a.Later.From[i].Play, a.By, a.Later)
	put.Duty.Hosts = "all"
	if len(a.Hosts) > 0 {
		put.Duty.Hosts = strings.Join(a.Hosts, ",")
	}
	found, err := k.duty(ctx, dir, put.Duty)
	if err != nil {
		return p, "", nil, err
	}
	for _, name := range a.Hosts {
		i := slices.IndexFunc(found.Hosts, func(h keeper.Host) bool { return h.Name == name })
		switch {
		case i < 0:
			unfit = append(unfit, name+": the keeper's project has no such host for this play")
		case found.Hosts[i].Key == "":
			unfit = append(unfit, name+": it has no agent that could come back")
		default:
			put.Hosts = append(put.Hosts, found.Hosts[i])
		}
	}
	k.offered[commit] = true
	return put, commit, unfit, nil
}

// keep has the source keep what plays that were put off need.
func (k *keeping) keep(commits []string) {
	if err := k.source.Keep(commits); err != nil {
		k.log.Warn().AnErr("cause", err).Msg("plays that were put off may not be done")
	}
}

// compile reads the duties of a directory, their playbooks, and which hosts they are for.
func (k *keeping) compile(ctx context.Context, commit, dir string) (keeper.Plan, error) {
	file, err := duty.Read(&syntax.Loader{}, filepath.Join(dir, duty.FileName))
	if err != nil {
		return keeper.Plan{}, err
	}
	plan := keeper.Plan{Commit: commit, Notify: file.Notify}
	if plan.Notify == nil {
		if plan.Notify, err = k.notifies(dir); err != nil {
			return keeper.Plan{}, err
		}
	}
	var errs []error
	for _, d := range file.Duties {
		p, err := k.duty(ctx, dir, d)
		errs = append(errs, err)
		plan.Duties = append(plan.Duties, p)
	}
	return plan, syntax.Join(errs...)
}

// in is this program as it is called in a directory.
func (k *keeping) in(dir string) (*app, error) {
	world := k.world
	world.Dir = dir
	world.Getenv = withEnviron(world.Getenv, k.environ(dir))
	a, err := newApp(System{Args: []string{"hark"}, In: strings.NewReader(""), Out: k.term.Err, Err: k.term.Err,
		NoTTY: true, World: world})
	if err == nil {
		a.chosen = k.chosen
	}
	return a, err
}

// levelIn returns the language of the project. What nobody has said is not guessed: those who change the project may
// read it in another.
func (k *keeping) levelIn(a *app) (string, error) {
	is, origin := levelFrom(a)
	if origin == levelDefault {
		return "", fmt.Errorf("nothing says in which language the project is read: `ansible = %s` in the section [hark] of its ansible.cfg does, or --level %[1]s of the keeper", is)
	}
	return is.String(), nil
}

// notifies is who is notified for a project whose duties do not say it, nil for nobody.
func (k *keeping) notifies(dir string) (*duty.Notify, error) {
	a, err := k.in(dir)
	if err != nil {
		return nil, err
	}
	to, err := notifyTargets(a)
	if err != nil || len(to) == 0 {
		return nil, err
	}
	return duty.NotifyAll(to), nil
}

// dutyAt returns a duty as it is in a commit, false if that is gone or does not have it.
func (k *keeping) dutyAt(name, commit string) (duty.Duty, bool) {
	dir, ok := k.source.Dir(commit)
	if !ok {
		return duty.Duty{}, false
	}
	file, err := duty.Read(&syntax.Loader{}, filepath.Join(dir, duty.FileName))
	if err != nil {
		return duty.Duty{}, false
	}
	i := slices.IndexFunc(file.Duties, func(d duty.Duty) bool { return d.Name == name })
	if i < 0 {
		return duty.Duty{}, false
	}
	return file.Duties[i], true
}

// duty compiles the play of a duty.
func (k *keeping) duty(ctx context.Context, dir string, d duty.Duty) (keeper.Planned, error) {
	planned := keeper.Planned{Duty: d, At: func(commit string) (duty.Duty, bool) { return k.dutyAt(d.Name, commit) }}
	a, err := k.in(dir)
	if err != nil {
		return planned, err
	}
	if planned.Level, err = k.levelIn(a); err != nil {
		return planned, err
	}
	o := k.given
	o.Extra = slices.Concat(o.Extra, d.Extra)
	o.Tags.Only, o.Tags.Skip = d.Tags, d.SkipTags
	o.Inventory.Limit, o.Mode.Check, o.Connect.Kind, o.Forks.Number = d.Hosts, d.Mode == duty.Check, "smart", 1
	ownAgents(a, &o)
	o.BaseDir = filepath.Dir(absolute(a, d.Play))
	at := func(err error) error {
		if d.Place.File == "" { // a play that is put off
			return err
		}
		return fmt.Errorf("%s: the duty %s: %w", d.Place, d.Name, err)
	}
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
	if err := keeper.CheckPlaybooks(ctx, p.Compiler, books, d, compiled); err != nil {
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

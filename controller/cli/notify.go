package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/duties/keeper"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/notify"
	"hark/controller/internal/runs/record"
)

// notifyTargets returns those of the setting HARK_NOTIFY.
func notifyTargets(a *app) ([]string, error) {
	all := a.cfg.List("HARK_NOTIFY")
	for _, text := range all {
		if _, err := notify.Parse(text); err != nil {
			return nil, fmt.Errorf("the setting HARK_NOTIFY: %w", err)
		}
	}
	return all, nil
}

// notifySender signs with the operator's key, and with the secret of HARK_NOTIFY_SECRET if there is one.
func notifySender(a *app, own *wire.Identity) *notify.Sender {
	s := &notify.Sender{Dir: a.world.Dir}
	if secret, ok := a.cfg.Getenv("HARK_NOTIFY_SECRET"); ok {
		s.Secret = []byte(secret)
	}
	if own != nil {
		s.Sign, s.Key = own.Sign, own.Key
	}
	return s
}

// publishEvent puts an event to the broker, in clear and for everybody who may listen.
func publishEvent(b *fleet.Connection) func(*notify.Event) error {
	return func(e *notify.Event) error {
		text, err := e.JSON()
		if err != nil {
			return err
		}
		kind, _, _ := strings.Cut(strings.TrimPrefix(e.Type, "hark."), ".")
		return b.Publish(wire.EventSubject(b.Operator.ID(), kind, string(e.Data.What)), text)
	}
}

// consoleLink returns the address of a page of the console, "" if nobody has said where that is.
func consoleLink(a *app, page string) string {
	base := strings.TrimRight(a.cfg.Text("HARK_CONSOLE"), "/")
	if base == "" {
		return ""
	}
	return base + page
}

// tell sends a notice of the keeper to targets.
func (k *keeping) tell(ctx context.Context, kind, subject string, n keeper.Notice) {
	s := notifySender(k.app, k.b.Operator)
	s.Publish = publishEvent(k.b)
	k.mu.Lock()
	commit := k.plan.Commit
	k.mu.Unlock()
	a := k.app
	if dir, ok := k.source.Dir(commit); ok {
		s.Dir = dir
		if in, err := k.in(dir); err == nil {
			a = in // the project may say where the console is
		}
	}
	switch {
	case n.Duty != "":
		n.Link = consoleLink(a, "/duties/"+n.Duty)
	case kind == "keeper":
		n.Link = consoleLink(a, "/duties")
	}
	e := notify.New(kind, "hark/keeper/"+k.b.Operator.ID(), subject, time.Now(), n.Data)
	var work sync.WaitGroup
	for _, text := range n.To {
		work.Go(func() {
			to, err := notify.Parse(text)
			if err == nil {
				err = s.Send(ctx, to, e)
			}
			if err != nil {
				k.log.Warn().AnErr("cause", err).Str("event", e.ID).Msg("somebody was not told")
			}
		})
	}
	work.Wait()
}

// How long before its end a credential or certificate is reported, and how often what is the matter outside of duties
// is looked for.
const (
	endsSoon    = 30 * 24 * time.Hour
	agentEnds   = 7 * 24 * time.Hour
	affairsTime = 5 * time.Minute
)

// affairs returns what is the matter outside of duties. What takes the broker long is looked for now and then.
func (k *keeping) affairs(ctx context.Context) []keeper.Problem {
	if time.Since(k.looked) < affairsTime {
		return k.matters
	}
	now := time.Now()
	all := slices.Concat(k.ends(now), k.agentsEnd(ctx, now), k.silent(ctx, now), k.lostRuns(ctx, now))
	k.looked, k.matters = now, all
	return all
}

// ends returns the access of the keeper and the certificate of the broker, if they end soon.
func (k *keeping) ends(now time.Time) []keeper.Problem {
	var all []keeper.Problem
	soon := func(key, what string, at time.Time) {
		if at.IsZero() || at.Sub(now) > endsSoon {
			return
		}
		all = append(all, keeper.Problem{Key: key, What: notify.Expiring,
			Text: fmt.Sprintf("%s ends on %s", what, at.UTC().Format(time.DateTime+" MST"))})
	}
	soon("keeper/access", "the access of the keeper to the broker", fleet.Ends(k.b.Token()))
	if state, err := k.b.Conn().TLSConnectionState(); err == nil && len(state.PeerCertificates) > 0 {
		soon("broker/certificate", "the certificate of the broker", state.PeerCertificates[0].NotAfter)
	}
	return all
}

// agentsEnd are agents whose credentials end soon. One that is there renews them by itself, so it is away.
func (k *keeping) agentsEnd(ctx context.Context, now time.Time) []keeper.Problem {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	agents, err := k.b.Agents(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, x := range agents {
		if !x.Present && !x.Expires.IsZero() && x.Expires.After(now) && x.Expires.Sub(now) < agentEnds {
			names = append(names, x.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []keeper.Problem{{Key: "agents/credentials", What: notify.Expiring,
		Text: fmt.Sprintf("the credentials of agents that are away end within %d days: %s", int(agentEnds.Hours()/24),
			notify.Hosts(names))}}
}

// silent are other keepers that have said nothing for too long. That this one is silent somebody else must see.
func (k *keeping) silent(ctx context.Context, now time.Time) []keeper.Problem {
	store, err := dutystate.Open(k.b.Conn(), k.b.Operator, nil, k.b.Believes)
	if err != nil {
		return nil
	}
	all, _, err := store.Read(ctx)
	if err != nil {
		return nil
	}
	var out []keeper.Problem
	for _, x := range keepers(ctx, k.b, all) {
		words := all[slices.IndexFunc(all, func(w dutystate.Words) bool { return w.Keeper == x.Keeper })]
		late := slices.ContainsFunc(words.Definitions, func(d dutystate.Definition) bool { return d.Late(now) })
		if x.Keeper == k.b.Operator.Key || x.Work != nil || !late {
			continue
		}
		out = append(out, keeper.Problem{Key: "keeper/" + wire.IDOf(x.Keeper) + "/silent", What: notify.Silent,
			Text: fmt.Sprintf("the keeper %s has said nothing since %s", x.Keeper, x.Said.UTC().Format(time.DateTime+" MST"))})
	}
	return out
}

// lostRuns are runs of the last day that nobody writes any more, and that did not end.
func (k *keeping) lostRuns(ctx context.Context, now time.Time) []keeper.Problem {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	l, err := k.b.Ledger(k.fleet.Home)
	if err != nil {
		return nil
	}
	list, err := l.Store().List(ctx, record.Filter{States: []record.State{record.Lost}, Since: now.Add(-24 * time.Hour),
		Limit: 100})
	if err != nil {
		return nil
	}
	var out []keeper.Problem
	for _, e := range list.Entries {
		text := fmt.Sprintf("the run %s of %s was lost: %s", e.Head.Run, e.Head.Person(), strings.Join(e.Head.Line, " "))
		out = append(out, keeper.Problem{Key: "run/" + e.Head.Run, What: notify.Lost, Text: text, Once: true})
	}
	return out
}

// tellEnd tells whom HARK_NOTIFY names how a run ended, if the run before it with the same command line ended
// otherwise.
func tellEnd(p *run, err error) {
	targets := p.cfg.List("HARK_NOTIFY")
	status := recordedStatus(err)
	if p.drive != nil || len(targets) == 0 || status == record.Cancelled || status == record.Detached {
		return
	}
	end := runEnd{p}
	was, known := end.before()
	failed := status != record.OK
	if failed == (was != record.OK && was != "") && known || !failed && !known {
		return
	}
	own, _ := trust.Load(p.cfg.Text("HARK_OPERATOR_KEY")) // without one it is not signed
	source := "hark/run"
	if own != nil {
		source += "/" + own.ID()
	}
	s := notifySender(p.app, own)
	s.Pauses = notify.Brief()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var once sync.Once
	s.Publish = func(e *notify.Event) (failed error) {
		once.Do(func() {
			var b *fleet.Connection
			if b, failed = p.fleet.Dial(ctx, p.o.Broker); failed == nil {
				failed = errors.Join(publishEvent(b)(e), b.Flush(ctx), b.Close())
			}
		})
		return failed
	}
	e := notify.New("run", source, p.id, time.Now(), end.notification(status, err))
	for _, text := range targets {
		to, err := notify.Parse(text)
		if err == nil {
			err = s.Send(ctx, to, e)
		}
		if err != nil {
			p.display.Warn(fmt.Sprintf("somebody was not told of the run: %v", err))
		}
	}
}

// runEnd is the end of a run that somebody is notified of.
type runEnd struct{ *run }

// before returns how the run before this one with the same command line ended.
func (p runEnd) before() (record.Status, bool) {
	if p.recording == nil {
		return "", false
	}
	head := p.recording.head
	list, err := p.recording.store.List(context.Background(), record.Filter{})
	if err != nil {
		return "", false
	}
	for _, e := range list.Entries {
		if e.Head.Run != head.Run && e.Head.Dir == head.Dir && slices.Equal(e.Head.Line, head.Line) && e.Foot != nil && e.Foot.Status != record.Cancelled && e.Foot.Status != record.Detached {
			return e.Foot.Status, true
		}
	}
	return "", false
}

// notification returns the notification about it.
func (p runEnd) notification(status record.Status, err error) notify.Data {
	d := notify.Data{What: notify.Failed, Run: p.id, Link: consoleLink(p.app, "/runs/"+p.id)}
	line := p.name
	if p.recording != nil {
		head := p.recording.head
		line, d.Commit, d.Of, d.By = strings.Join(head.Line, " "), head.Commit, head.Hosts, head.From
		d.Key = "run/" + head.Dir + "/" + line
		if e, err := p.recording.store.Find(context.Background(), p.id); err == nil && e.Foot != nil {
			d.Hosts = slices.Concat(e.Foot.Names(record.StateFailed), e.Foot.Names(record.StateUnreachable))
		}
	}
	switch {
	case status == record.OK:
		d.What, d.Hosts, d.Text = notify.Fixed, nil, line+": it went well, after the run before had not"
	case len(d.Hosts) > 0:
		d.Text = fmt.Sprintf("%s: %d hosts failed or were not reached: %s", line, len(d.Hosts), notify.Hosts(d.Hosts))
	case status == record.Broken:
		d.Text = line + ": it could not be carried on: " + strings.Join(strings.Fields(err.Error()), " ")
	default:
		d.Text = line + ": it failed"
	}
	return d
}

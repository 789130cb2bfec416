package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/play/admit"
	"hark/controller/internal/play/answer"
	"hark/controller/internal/play/display"
	"hark/controller/internal/play/link"
	"hark/controller/internal/play/steps"
	"hark/controller/internal/play/strategy"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// runner is one run: what its plays share. It belongs to the goroutine of Run.
type runner struct {
	in       Input
	view     view.View
	messages view.Messages
	link     link.Link
	answers  *answer.Answerer
	mirror   *answer.Mirror
	recap    *display.Recap
	facts    *factKeeper
	locals   *locals
	// present is the presence of the batch under way.
	present atomic.Pointer[presence]

	// strangers are the hosts without agents. It is written by the goroutine of Run only.
	strangers map[string]bool
	hidden    *hider
	admission *admit.Admission

	// states are the hosts that take no part any more, in this batch or in later plays.
	states *strategy.HostStates
	points *checkpoints
	seq    uint64
	// started says that --start-at-task was found; stepping that --step still asks.
	started, stepping bool
	// staging is nil for a run without stages; plays is how many plays were begun.
	staging *staging
	plays   int
	// last: it is known that no play comes after the current one.
	last bool

	syncs   chan chan struct{}
	stopped chan struct{}
	work    sync.WaitGroup
	ctx     context.Context // of the run; its end is a cancellation
}

// Run carries out a run. The error is for the user, and says why the run could not be carried on; hosts that failed
// are no error but a Status. Ending ctx cancels the run: always sections still run on the agents, and the recap is
// shown.
func Run(ctx context.Context, in Input) (Result, error) {
	r := newRunner(ctx, in)
	status, err := r.run(ctx)
	close(r.stopped)
	r.work.Wait()
	res := Result{Status: status, Stats: r.recap.Stats()}
	if err == nil && (status == Failed || status == Unreachable) {
		res.Checkpoint = checkpointOf(r)
	}
	return res, err
}

func newRunner(ctx context.Context, in Input) *runner {
	r := &runner{
		in: in, view: in.View, messages: in.Messages, recap: display.NewRecap(), ctx: ctx,
		strangers: map[string]bool{}, hidden: newHider(in.Hidden), states: strategy.NewHostStates(),
		started: in.StartAt == "", stepping: in.Step, staging: newStaging(in.Stages),
		syncs: make(chan chan struct{}), stopped: make(chan struct{}), points: newCheckpoints(&in),
	}
	r.mirror = answer.NewMirror(hosts{in.Inventory}, in.HashMerge)
	r.mirror.Templates = in.Templates
	r.admission = admit.New(admit.Config{
		Modules: in.Modules, Options: in.Reach, Warn: in.Messages.Warn, Secrets: r.hidden.addSecrets,
		Documented: func() map[string]bool { return compile.OptionVariables(in.Project) },
	})
	r.facts = newFactKeeper(in.Facts, r.mirror, r.admission, in.Inventory.Hosts)
	r.locals = &locals{r: r}
	r.answers = answer.New(answer.Config{
		Mirror: r.mirror, Sync: r.sync, Secrets: in.Secrets, Collection: in.Project.Collection, Templates: in.Templates,
		Plugin: in.Plugin, Hash: in.Hash, Setting: in.Setting, PluginSetting: in.PluginSetting,
		Match: r.match, Change: r.changeInventory, Exec: r.exec, Said: r.admission.Result,
		Reset: func(host string) { r.link.Reset(host) }, Pause: in.Prompt.Pause, Where: in.Where, Private: in.Private,
		Pack: in.Project.Pack, Vars: in.Project.VarsFile, Data: in.Project.Data, Warn: in.Messages.Warn,
		Actions: answer.Actions{
			Run: in.Action, Dirs: in.Project.Places, Books: in.Project.Books, Module: in.Project.Module, Modules: in.Modules,
			Tell: r.tell,
		},
	})
	return r
}

// run plays all playbooks. The link is closed when it returns.
func (r *runner) run(ctx context.Context) (status Status, err error) {
	if r.link, err = r.in.Connect(ctx, Serve{Asks: r.answers, Local: r.locals.is, AgentName: r.locals.agent}); err != nil {
		return Broken, err
	}
	defer func() {
		r.warnNotices()
		endCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if !errors.Is(err, ErrDetached) {
			_ = r.link.End(endCtx)
		}
		if cerr := r.link.Close(); err == nil && cerr != nil {
			err = cerr
		}
	}()
	if err := resume(r); err != nil {
		return Broken, err
	}
	if r.in.FlushCache {
		hosts, err := r.in.Inventory.Match("all") // those of --limit
		if err != nil {
			return status, err
		}
		r.facts.flush(hosts, r.messages.Warn)
	}
	status, err = r.books(ctx)
	if err != nil {
		return status, err
	}
	if !r.started {
		r.messages.ErrorWrapped(fmt.Sprintf(
			"No matching task \"%s\" found. Note: --start-at-task can only follow static includes.", r.in.StartAt))
	}
	return status, nil
}

// books plays the playbooks one after the other, until hosts fail in one.
func (r *runner) books(ctx context.Context) (status Status, err error) {
	if r.staging != nil {
		return r.staged(ctx)
	}
	for i, pb := range r.in.Playbooks {
		_, err = r.book(ctx, i, &status)
		if err != nil && ctx.Err() == nil {
			return Broken, err
		}
		r.writeRetry(pb.Path)
		r.view.Stats(r.recap.Stats())
		if err != nil {
			return Cancelled, err
		}
		if status != OK {
			break
		}
	}
	return status, nil
}

// warnNotices shows what agents say that is no part of the plays.
func (r *runner) warnNotices() {
	for _, text := range r.link.Notices() {
		r.messages.Warn(text)
	}
}

// endTimeout is how long the end of a run waits for agents to hear of it.
const endTimeout = 5 * time.Second

// book runs the plays of one playbook until one breaks it, and reports whether one did.
func (r *runner) book(ctx context.Context, i int, status *Status) (broke bool, err error) {
	pb := r.in.Playbooks[i]
	r.view.PlaybookStart(r.in.named(i))
	r.messages.Verbose(2, "", fmt.Sprintf("%d plays in %s", len(pb.Plays), r.in.named(i)))
	for n, p := range pb.Plays {
		id := strconv.Itoa(r.plays)
		r.plays++
		r.last = r.staging == nil && i == len(r.in.Playbooks)-1 && n == len(pb.Plays)-1
		if broke, err = r.play(ctx, id, p, status); err != nil || broke {
			return broke, err
		}
	}
	return false, nil
}

// play runs one play, batch by batch. It reports whether the playbook ends with it.
func (r *runner) play(ctx context.Context, id string, p *compile.Play, status *Status) (broke bool, err error) {
	r.stepping = r.in.Step // an answer of c holds for the rest of a play
	world := compile.World{Lazy: r.mirror.Lazy, Named: inventory.Named(r.in.Inventory)}
	if world.Prompted, err = r.askVariables(ctx, p, world); err != nil {
		return true, err
	}
	s, err := r.in.Project.Settings(ctx, p, world)
	if err != nil {
		return true, err
	}
	all, ordered, elsewhere, err := r.playHosts(s)
	if err != nil {
		return true, err
	}
	batches, err := strategy.NewBatches(ordered, s.Serial, r.states)
	if err != nil {
		return true, err
	}
	if batches.None() {
		if elsewhere {
			return false, nil
		}
		(&playBatch{r: r, play: p, settings: s, world: world, id: id}).start(nil)
		r.view.NoHostsMatched()
		return false, nil
	}
	n := 0
	for batch, more := batches.Next(); more; batch, more = batches.Next() {
		if n > 0 && r.staging == nil { // with hosts that the batch before has added
			if all, _, _, err = r.playHosts(s); err != nil {
				return true, err
			}
		}
		b := &playBatch{r: r, play: p, settings: s, world: world, id: id + "." + strconv.Itoa(n), all: all, hosts: batch}
		st, err := b.run(ctx)
		if err != nil {
			return true, err
		}
		*status = st.status
		batches.Done(st.Balance, r.tooManyLost())
		n++
	}
	return batches.Broke(), nil
}

// playHosts returns the hosts of a play, as the variables name them, and in the order in which it takes them;
// elsewhere says that it has hosts, or had them looked for, in other stages.
func (r *runner) playHosts(s *compile.Settings) (all, ordered []string, elsewhere bool, err error) {
	found, err := r.in.Inventory.Match(s.Hosts...)
	if err != nil {
		return nil, nil, false, err
	}
	if r.staging != nil {
		elsewhere = len(found) > 0 || r.staging.now > 0
		r.staging.meet(namesOf(found))
		found = slices.DeleteFunc(found, func(h *inventory.Host) bool { return !r.staging.turn(h.Name) })
	}
	all = namesOf(found)
	if found, err = inventory.Order(found, s.Order); err != nil {
		return nil, nil, false, err
	}
	return all, namesOf(found), elsewhere, nil
}

func namesOf(hosts []*inventory.Host) []string {
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// shown returns a play as the view has it.
func (r *runner) shown(p *compile.Play, s *compile.Settings, id string, hosts []string) view.Play {
	return view.Play{Name: s.Name, Pattern: strings.Join(s.Hosts, ","), ID: id, Path: steps.Place(p.Place()),
		Hosts: hosts, Check: s.CheckMode, Tags: s.Tags, Strategy: s.Strategy}
}

// askVariables asks for the variables of vars_prompt that -e does not give.
func (r *runner) askVariables(ctx context.Context, p *compile.Play, w compile.World) (*value.Dict, error) {
	if r.staging != nil && r.staging.prompted[p] != nil {
		return r.staging.prompted[p], nil
	}
	prompts, err := r.in.Project.Prompts(ctx, p, w)
	if err != nil || len(prompts) == 0 {
		return nil, err
	}
	r.points.cannot("its plays ask for values (vars_prompt), which are not kept")
	answers := value.NewDict()
	if r.staging != nil {
		r.staging.prompted[p] = answers
	}
	for _, q := range prompts {
		if _, given := r.in.Extra.Get(q.Name); given {
			continue
		}
		text, err := r.in.Prompt.Variable(ctx, q)
		if err != nil {
			return nil, err
		}
		if q.Encrypt != "" {
			if text, err = r.in.Hash(text, q.Encrypt, q.Salt, ""); err != nil {
				return nil, err
			}
		}
		if q.Unsafe {
			answers.Set(q.Name, value.UnsafeStr(text))
		} else {
			answers.Set(q.Name, value.SourceText(text))
		}
	}
	return answers, nil
}

// cancel asks the agents to end the run and gives the time that they have for it: always sections have the grace.
func (r *runner) cancel() time.Duration {
	_ = r.link.Cancel(wire.Cancel{Run: r.in.Run, Grace: cancelGrace})
	return cancelGrace + 10*time.Second
}

// cause is why the run was cancelled, nil if it was not.
func (r *runner) cause() error { return context.Cause(r.ctx) }

// sync waits until the events that have arrived are handled. Answers call it from their own goroutines.
func (r *runner) sync(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case r.syncs <- done:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.stopped:
		return errors.New("the run is over")
	}
}

// render renders a value with a host's variables.
func (r *runner) render(ctx context.Context, host string, v value.Value) (value.Value, error) {
	if !templar.IsTemplate(v) {
		return v, nil
	}
	shared := &vars.Shared{Extra: r.in.Extra, HashMerge: r.in.HashMerge, InjectFacts: r.in.InjectFacts}
	return templar.New(r.mirror.Scope(host, shared), r.in.Templates).Template(ctx, v)
}

// takeStep asks whether to do a step, under --step. Meta steps are not asked about. The error says that nobody answers.
func (r *runner) takeStep(t *steps.Set, s *plan.Step) (bool, error) {
	if !r.stepping || s.Kind == plan.Meta {
		return true, nil
	}
	said, err := r.in.Prompt.Step(r.ctx, "Perform task: TASK: "+t.Label(s)+" (N)o/(y)es/(c)ontinue: ")
	r.stepping = err != nil || said != "c"
	return said != "n", err
}

// match returns the names of the hosts of a pattern.
func (r *runner) match(pattern string) ([]string, error) {
	found, err := r.in.Inventory.MatchAll(pattern)
	if err != nil {
		return nil, err
	}
	return namesOf(found), nil
}

// Package answer serves the questions that come up while the controller evaluates steps: other hosts' variables,
// lookups, files, dynamic includes, delegated calls, prompts. They come from sessions in the controller's own process
// and are trusted as it is. Agents ask for nothing but their steps and own variables, which the driver of the play
// answers, bodies of plans, blobs that were named to them and uploads into places that were offered to them: package
// link lets no other question of theirs come here. The package holds the mirror of all hosts' variables. It decides
// nothing about the course of a play.
package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"hark/agent/wire"
	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/ui/debugger"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/search"
	"hark/playbook/vars"
	"hark/playbook/vault"
)

// Config is what answers are made of. Mirror is needed; an ask whose func is nil is refused.
type Config struct {
	Mirror *Mirror
	// Sync waits until every event that has arrived is applied to the mirror, so that an answer is as new as its ask.
	Sync func(ctx context.Context) error
	// Secrets open vaults.
	Secrets *vault.Secrets
	// Templates renders the variables of hosts: its Engine and Native.
	Templates templar.Options
	// Hash encrypts a password as the filter password_hash does.
	Hash func(plain, scheme, salt, ident string) (string, error)
	// Setting is a setting of ansible.cfg, and where it comes from, for the lookup config.
	Setting func(name string) (v value.Value, origin string, ok bool)
	// PluginSetting is one of a plug-in ("connection/ssh"), likewise.
	PluginSetting func(plugin, name string) (PluginSetting, bool)
	// Match are the hosts of a pattern, for the lookup inventory_hostnames.
	Match func(pattern string) ([]string, error)
	// Change applies add_host or group_by for a host and reports whether that changed the inventory.
	Change func(host, action string, args *value.Dict) (bool, error)
	// Said takes in what an action plug-in in Python returns for a call, as admit.Admission does the result of one; nil
	// takes it as it is.
	Said func(e *wire.Exec, result json.RawMessage) (json.RawMessage, error)
	// Exec runs a delegated call.
	Exec func(ctx context.Context, e wire.Exec) ([]byte, error)
	// Reset forgets how a host was reached; nil where that makes no difference.
	Reset func(host string)
	// Pause asks the user.
	Pause func(ctx context.Context, p wire.Prompt) (string, error)
	// Plugin runs a plug-in in Python; nil runs none.
	Plugin func(ctx context.Context, c plugins.Call) (json.RawMessage, error)
	// Collection finds the directory of a collection, wherever modules of collections are looked for; nil looks in
	// the settings' directories only.
	Collection func(name string) (dir string, ok bool)
	// Actions runs action plug-ins in Python.
	Actions Actions
	// Pack is what a host needs of a step's module that is not native.
	Pack func(s *plan.Step) ([]byte, error)
	// Private are hark's own files, which no agent gets.
	Private Private
	// Where is the paragraph on the place of a step.
	Where func(place, keyword string) string
	// Vars reads an entry of vars_files, Data any file of data.
	Vars func(path string) (*value.Dict, error)
	Data func(path string) (value.Value, error)
	Warn func(text string)
}

// Batch is a plan that was handed out.
type Batch struct {
	Plan *plan.Plan
	// Whole is the plan as the sessions of this process get it, with its digest.
	Whole func() (digest string, body []byte, err error)
	Hosts []string
	Dir   search.Dir // of the playbook
	Index *plan.Index
	// Include compiles a dynamic include under a step, as the fragment of the given index. It is called
	// once for equal includes, from several goroutines.
	Include func(ctx context.Context, host string, step plan.ID, call wire.IncludeCall, index int) (*plan.Fragment, error)
	// Fragments, if set, are those of an earlier run, and take the new ones.
	Fragments *Fragments
	// Handed is called with each new fragment before an agent gets it.
	Handed func(f *plan.Fragment)
	// Magic answers the magic variables that change while a play runs (ansible_play_hosts, ...).
	Magic func(name string) (value.Value, bool)
	// DoStep evaluates a step that a host has handed over, and does it; OwnVars are a host's own variables as they
	// are now. PlanOf is the plan that a host was given, if that is not Whole.
	DoStep, OwnVars func(ctx context.Context, ask wire.Ask) (*wire.Did, error)
	PlanOf          func(host, digest string) ([]byte, bool)
	// Debug shows how a step has come out on a host and lets the user look into it; calls come one at a time.
	Debug func(ctx context.Context, step plan.ID, o *wire.Outcome, c *debugger.Case) (debugger.Verdict, error)
}

// Answerer answers the asks of one run. It is safe for concurrent use.
type Answerer struct {
	Config
	lookups map[string]lookup
	files   *sharedFiles
	uploads *uploads

	execs     atomic.Uint64
	passwords sync.Mutex // one lookup password at a time
	prompts   sync.Mutex // one prompt at a time

	mu      sync.Mutex
	batches map[string]*batch // by Play.ID; guarded by mu
}

// New makes an Answerer that knows no plan yet.
func New(c Config) *Answerer {
	a := &Answerer{
		Config: c, lookups: lookups(), batches: map[string]*batch{},
		uploads: &uploads{private: c.Private, places: map[string]*place{}},
	}
	a.files = &sharedFiles{cfg: &c, blobs: map[string]*blob{}}
	return a
}

// batch is a Batch with what was answered about it.
type batch struct {
	Batch
	hosts  map[string]bool
	shared *vars.Shared

	mu        sync.Mutex
	fragments map[string]*fragment // by step and call; guarded by mu
	queues    map[plan.ID]*queue   // at steps whose asks come in the order of hosts; guarded by mu
	// guests are hosts outside the batch that run delegated calls now, with the hosts whose steps those
	// are; guarded by mu.
	guests map[string][]string
}

// Begin makes the asks of a batch answerable; it must come before the plan is sent.
func (a *Answerer) Begin(b Batch) {
	in := &batch{
		Batch: b, hosts: map[string]bool{}, shared: vars.SharedOf(&b.Plan.Play),
		fragments: map[string]*fragment{}, queues: map[plan.ID]*queue{},
		guests: map[string][]string{},
	}
	for _, h := range b.Hosts {
		in.hosts[h] = true
	}
	a.handFiles(&plan.Fragment{Blocks: b.Plan.Blocks, Handlers: b.Plan.Handlers}, in)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.batches[b.Plan.Play.ID] = in
}

// End forgets a batch: its asks are refused from then on.
func (a *Answerer) End(play string) {
	a.mu.Lock()
	delete(a.batches, play)
	a.mu.Unlock()
	a.uploads.forget(play)
}

// refusal is an ask that the plan does not lead to.
type refusal struct{ text string }

func (r *refusal) Error() string { return "refused: " + r.text }

// Answer answers one ask. What breaks on the way fails the asking task and nothing else.
func (a *Answerer) Answer(ctx context.Context, ask wire.Ask) (out wire.Answer) {
	defer func() {
		if p := recover(); p != nil {
			out = wire.Answer{Err: fmt.Sprintf("internal error: the answer to a question of kind %q broke: %v", ask.Kind, p)}
		}
	}()
	out, err := a.answer(ctx, ask)
	if err == nil {
		return out
	}
	failed := wire.Answer{Err: err.Error()}
	var undefined *value.UndefinedError
	var missing *missingError
	var lookup *lookupError
	switch {
	case errors.As(err, &undefined):
		failed.ErrKind = "undefined"
	case errors.As(err, &missing):
		failed.ErrKind = "not_found"
	case errors.As(err, &lookup):
		failed.ErrKind = lookup.class
	}
	return failed
}

func (a *Answerer) answer(ctx context.Context, ask wire.Ask) (wire.Answer, error) {
	b, step, err := a.place(ask)
	if err != nil {
		return wire.Answer{}, err
	}
	if ask.Kind == wire.AskInventory {
		defer b.turn(ctx, ask)()
	}
	switch ask.Kind {
	case wire.AskStep, wire.AskOwn, wire.AskVars, wire.AskMagic, wire.AskInventory, wire.AskInclude, wire.AskPrompt,
		wire.AskDebug, wire.AskAction:
		if a.Sync != nil {
			if err := a.Sync(ctx); err != nil {
				return wire.Answer{}, err
			}
		}
	}
	switch ask.Kind {
	case wire.AskVars:
		return a.vars(ctx, b, ask)
	case wire.AskMagic:
		return a.magic(ctx, b, ask)
	case wire.AskLookup:
		return a.lookup(ctx, b, step, ask)
	case wire.AskPlugin:
		return a.plugin(ctx, b, step, ask)
	case wire.AskFile:
		return a.file(b, step, ask)
	case wire.AskTree:
		return a.tree(b, step, ask)
	case wire.AskBlob:
		if len(ask.Digests) > 0 {
			return a.files.contents(ask)
		}
		return a.files.chunk(ask)
	case wire.AskPlan:
		return a.plan(b, ask)
	case wire.AskInclude:
		return a.include(ctx, b, step, ask)
	case wire.AskDelegate:
		return a.delegate(ctx, b, ask)
	case wire.AskAction:
		return a.action(ctx, b, step, ask)
	case wire.AskStep:
		return didAnswer(b.DoStep(ctx, ask))
	case wire.AskOwn:
		return didAnswer(b.OwnVars(ctx, ask))
	case wire.AskReset:
		if a.Reset != nil {
			a.Reset(ask.Host)
		}
		return wire.Answer{}, nil
	case wire.AskPrompt:
		return a.prompt(ctx, ask)
	case wire.AskDebug:
		return a.debug(ctx, b, step, ask)
	case wire.AskUpload:
		return a.uploads.take(ask)
	case wire.AskPlace:
		return a.uploads.offer(b, ask)
	case wire.AskVarsFile:
		return a.varsFile(b, step, ask)
	case wire.AskWhere:
		return wire.Answer{Value: plan.Lit(value.Str(a.Where(step.Place, ask.Name)))}, nil
	case wire.AskInventory:
		return a.change(ask)
	}
	return wire.Answer{}, fmt.Errorf("cannot answer a question of kind %q: this controller is older than the agent",
		ask.Kind)
}

// place finds the batch of an ask, and the step that it is about. Blobs, uploads, plans and the variables files of
// the play are not asked for by a step.
func (a *Answerer) place(ask wire.Ask) (*batch, *plan.Step, error) {
	a.mu.Lock()
	b := a.batches[ask.Play]
	a.mu.Unlock()
	if b == nil {
		return nil, nil, &refusal{fmt.Sprintf("play %q is not under way", ask.Play)}
	}
	if !b.hosts[ask.Host] && len(b.origins(ask.Host)) == 0 {
		return nil, nil, &refusal{fmt.Sprintf("host %q has no part in play %q", ask.Host, ask.Play)}
	}
	if step := b.Index.Step(ask.Step); step != nil {
		return b, step, nil
	}
	switch {
	case ask.Kind == wire.AskBlob, ask.Kind == wire.AskPlan, ask.Kind == wire.AskOwn, ask.Kind == wire.AskUpload:
		return b, nil, nil
	case ask.Step == "" &&
		(ask.Kind == wire.AskVarsFile || ask.Kind == wire.AskVars || ask.Kind == wire.AskMagic ||
			ask.Kind == wire.AskLookup || ask.Kind == wire.AskPlugin):
		// vars_files are read before the first step
		return b, &plan.Step{Search: []string{string(b.Dir)}}, nil
	}
	return nil, nil, &refusal{fmt.Sprintf("the plan has no step %q", ask.Step)}
}

func (a *Answerer) warn(text string) {
	if a.Warn != nil {
		a.Warn(text)
	}
}

// vars are other hosts' variables. A host that the inventory does not have is left out.
func (a *Answerer) vars(ctx context.Context, b *batch, ask wire.Ask) (wire.Answer, error) {
	by := ViewOptions{Shared: vars.HostvarsShared(b.shared), Hostvars: ask.Delegated}
	out := make(map[string]plan.Dict, len(ask.Hosts))
	for _, h := range ask.Hosts {
		if !a.Mirror.Known(h) {
			continue
		}
		var d *value.Dict
		var err error
		switch {
		case len(ask.Names) == 0:
			d = a.Mirror.All(ctx, h, by)
		case ask.Entry != "" && len(ask.Names) == 1:
			d, err = a.Mirror.Entry(ctx, h, ask.Names[0], ask.Entry, by)
		default:
			d, err = a.Mirror.Rendered(ctx, h, ask.Names, by)
		}
		if err != nil {
			return wire.Answer{}, err
		}
		out[h] = plan.Dict{Dict: d}
	}
	return wire.Answer{Vars: out}, nil
}

// magic are variables that were left out of the plan because they are large or change.
func (a *Answerer) magic(ctx context.Context, b *batch, ask wire.Ask) (wire.Answer, error) {
	switch {
	case ask.Name == "groups":
		return wire.Answer{Value: plan.Lit(a.Mirror.Groups())}, nil
	case ask.Name == "template_vars" && len(ask.Names) == 3:
		return a.templateVars(ask.Names[1], ask.Names[2])
	}
	if b.Magic != nil {
		if v, ok := b.Magic(ask.Name); ok {
			return wire.Answer{Value: plan.Lit(v)}, nil
		}
	}
	return wire.Answer{}, nil
}

func orEmpty(d *value.Dict) *value.Dict {
	if d == nil {
		return value.NewDict()
	}
	return d
}

// plan returns the body of the plan.
func (a *Answerer) plan(b *batch, ask wire.Ask) (wire.Answer, error) {
	if b.PlanOf != nil {
		if body, ok := b.PlanOf(ask.Host, ask.Digest); ok {
			return wire.Answer{Data: body, EOF: true}, nil
		}
	}
	digest, body, err := b.Whole()
	if err == nil && ask.Digest != digest {
		err = &refusal{"the plan is another one"}
	}
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Answer{Data: body, EOF: true}, nil
}

// prompt pauses for the user. Several hosts that ask at once ask one after the other.
func (a *Answerer) prompt(ctx context.Context, ask wire.Ask) (wire.Answer, error) {
	if ask.Prompt == nil || a.Pause == nil {
		return wire.Answer{}, &refusal{"a prompt without a question"}
	}
	a.prompts.Lock()
	defer a.prompts.Unlock()
	text, err := a.Pause(ctx, *ask.Prompt)
	if errors.Is(err, modules.ErrUnattended) {
		return wire.Answer{Value: plan.Lit(value.None{})}, nil
	}
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Answer{Value: plan.Lit(value.Str(text))}, nil
}

// change is add_host or group_by.
func (a *Answerer) change(ask wire.Ask) (wire.Answer, error) {
	if a.Change == nil {
		return wire.Answer{}, &refusal{"the inventory is not changed here"}
	}
	args := orEmpty(ask.Kw.Dict)
	if !a.Templates.Has(dialect.TrustedTemplates) {
		args, _ = value.Unsafe(args).(*value.Dict) // no text of results is a template
	}
	changed, err := a.Change(ask.Host, ask.Name, args)
	if err != nil {
		return wire.Answer{}, err
	}
	a.Mirror.Refresh()
	return wire.Answer{Value: plan.Lit(value.Bool(changed))}, nil
}

// didAnswer returns the answer about a step that was done, or about variables.
func didAnswer(did *wire.Did, err error) (wire.Answer, error) { return wire.Answer{Did: did}, err }

package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/view"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/jinja"
)

// factsPattern begins a pattern that is an expression over facts.
const factsPattern = "facts:"

// broadcast is what hark run can do beyond the ad-hoc command that it stands in for: one task on very many hosts, with
// an account of every one of them.
type broadcast struct {
	summary bool
	until   string
	batch   string
	splay   int

	expr string // of a facts: pattern
}

func (b *broadcast) flags(fs flags) {
	fs.Toggle(&b.summary, "summary", "", false,
		"show equal results once with their hosts, and the sum over all expected hosts (the options below do that too)")
	fs.Text(&b.until, "until", "", "", "PERCENT",
		"end when so many of the hosts have answered (95%), and give up on the others")
	fs.Text(&b.batch, "batch", "", "", "BATCH",
		"so many hosts at a time (50 or 10%); ends when all hosts of a batch have failed")
	fs.Number(&b.splay, "splay", "", 0, "SECONDS",
		"let each host wait a while of its own, up to so many seconds, before it begins")
}

// counts reports whether an account was asked for.
func (b *broadcast) counts() bool {
	return b.summary || b.until != "" || b.batch != "" || b.splay > 0 || b.expr != ""
}

// share returns the part of hosts that --until waits for; 0 is all.
func (b *broadcast) share() (float64, error) {
	if b.until == "" {
		return 0, nil
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(b.until, "%"), 64)
	if err != nil || percent <= 0 || percent > 100 {
		return 0, argparse.OptionsError(fmt.Sprintf("--until wants a percentage such as 95%%, not %q", b.until))
	}
	return percent / 100, nil
}

// check refuses what makes no sense before anything is done.
func (b *broadcast) check() error {
	if _, err := b.share(); err != nil {
		return err
	}
	if n, err := strconv.Atoi(strings.TrimSuffix(b.batch, "%")); b.batch != "" && (err != nil || n <= 0) {
		return argparse.OptionsError(fmt.Sprintf("--batch wants a number of hosts or a percentage, not %q", b.batch))
	}
	if b.splay < 0 {
		return argparse.OptionsError("--splay wants a number of seconds")
	}
	return nil
}

// splayTask is the name of the task that waits.
const splayTask = "splay"

// prelude reports whether a step comes before the one that was asked for.
func prelude(t view.Task) bool {
	return t.Name == splayTask || t.Action == "gather_facts" || strings.HasSuffix(t.Action, ".gather_facts")
}

// shape makes of the play of one task the play of a broadcast.
func (b *broadcast) shape(play, task *value.Dict, hosts []*inventory.Host) {
	if b.expr != "" {
		names := value.NewList()
		for _, h := range hosts {
			names.Items = append(names.Items, value.Str(h.Name))
		}
		play.Set("hosts", names)
		play.Set("gather_facts", value.Bool(true))
		task.Set("when", value.SourceText(b.expr))
	}
	if b.batch != "" {
		play.Set("serial", value.Str(b.batch))
	}
	if b.splay > 0 {
		wait := value.NewDict()
		wait.Set("timeout", value.SourceText(fmt.Sprintf("{{ %d | random(seed=inventory_hostname) }}", b.splay+1)))
		first := value.NewDict()
		first.Set("name", value.Str(splayTask))
		first.Set(modules.WaitFor, wait)
		play.Set("tasks", value.NewList(first, task))
	}
	if b.splay > 0 || b.expr != "" {
		play.Set("strategy", value.Str("free")) // no host waits for another one between the steps
	}
}

// aim takes a facts: pattern.
func (j *runJob) aim() error {
	expr, ok := strings.CutPrefix(j.pattern, factsPattern)
	if ok && strings.TrimSpace(expr) == "" {
		return ansibleerror.Errorf(`%s wants a condition, as in '%sansible_system == "Linux"'`, factsPattern, factsPattern)
	}
	if ok {
		j.cast.expr = expr
	}
	return nil
}

// hosts returns those of the pattern.
func (j *runJob) hosts(ctx context.Context, p *run) ([]*inventory.Host, error) {
	if j.cast.expr == "" {
		return p.Limit(j.pattern)
	}
	return j.where(ctx, p)
}

// expected returns what the view of a broadcast expects.
func (j *runJob) expected(hosts []*inventory.Host) view.TallyOptions {
	var o view.TallyOptions
	o.Prelude = prelude
	for _, h := range hosts {
		o.Expected = append(o.Expected, h.Name)
	}
	if share, _ := j.cast.share(); share > 0 { // checked with the flags
		o.Enough = max(1, int(math.Ceil(float64(len(hosts))*share-1e-9)))
		o.Left = "given up"
	}
	return o
}

// where finds the hosts of a facts: pattern. Those whose facts are not known look themselves.
func (j *runJob) where(ctx context.Context, p *run) ([]*inventory.Host, error) {
	if j.o.Inventory.Limit != "" {
		if err := p.Inventory.Limit(j.o.Inventory.Limit); err != nil {
			return nil, err
		}
	}
	within, err := p.Inventory.Match("all")
	if err != nil {
		return nil, err
	}
	p.fleetFacts(ctx)
	sure, unsure, err := p.Inventory.Where(ctx, j.cast.expr, p.recentFacts)
	var broken *jinja.SyntaxError
	switch {
	case errors.As(err, &broken):
		return nil, ansibleerror.Errorf("cannot read the condition %q, line %d: %s", j.pattern, max(broken.Line, 1),
			broken.Msg)
	case err != nil:
		return nil, err
	}
	all := len(within)
	hosts := slices.DeleteFunc(within,
		func(h *inventory.Host) bool { return !slices.Contains(sure, h) && !slices.Contains(unsure, h) })
	known := len(slices.DeleteFunc(slices.Clone(hosts),
		func(h *inventory.Host) bool { return slices.Contains(unsure, h) }))
	j.display.PrintErr(view.NoColor,
		fmt.Sprintf(
			"facts: %d of %d hosts are asked: %d that fit by the facts on record, %d whose facts are missing or too old; %d "+
				"are left out by theirs",
			len(hosts), all, known, len(hosts)-known, all-len(hosts)))
	if len(hosts) == 0 {
		return nil, project.ErrNoHosts
	}
	return hosts, nil
}

// count runs the task until enough hosts have answered.
func (j *runJob) count(ctx context.Context, p *run, books []*compile.Playbook, v *view.Tally) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v.OnEnough(cancel)
	p.settle = func(err error) error { return settled(v, err) }
	return p.play(ctx, books, v, nil)
}

// settled is how a broadcast came out: one that had enough answers goes by those.
func settled(v *view.Tally, err error) error {
	var quiet *quietError
	if !v.Enough() || err != nil && !errors.Is(err, context.Canceled) && !errors.As(err, &quiet) {
		return err
	}
	switch {
	case v.Unreachable() > 0:
		return &quietError{exitUnreachable}
	case v.Failed() > 0:
		return &quietError{exitFailed}
	}
	return nil
}

package keeper

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/controller/internal/duties/duty"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/plan"
	"hark/playbook/syntax"
)

// CheckPlaybooks explains why plays cannot be done for a duty, each with its place: those that ask a person, who is not
// there, and, where the file does not say whether hosts are played together, those that mean something else host by
// host. What includes bring while a play runs is not seen. compiled compiles a play for the hosts of the duty.
func CheckPlaybooks(ctx context.Context, p *compile.Project, books []*compile.Playbook, d duty.Duty,
	compiled func(*compile.Play, *compile.Settings) (*compile.Unit, error)) error {
	s := playbookCheck{d: d}
	for _, b := range books {
		for _, play := range b.Plays {
			settings, err := p.Settings(ctx, play, compile.World{})
			if err != nil {
				return err
			}
			prompts, err := p.Prompts(ctx, play, compile.World{})
			if err != nil {
				return err
			}
			s.play(play, settings, prompts)
			unit, err := compiled(play, settings)
			if err != nil {
				return err
			}
			plan.Walk(unit.Plan.Blocks, s.step)
			for _, h := range unit.Plan.Handlers {
				s.step(h.Step)
			}
		}
	}
	return syntax.Join(s.errs...)
}

// playbookCheck collects errors.
type playbookCheck struct {
	d    duty.Duty
	errs []error
}

func (s *playbookCheck) fail(place, format string, a ...any) {
	what := fmt.Sprintf("be the play of the duty %s (%s)", s.d.Name, s.d.Place)
	if s.d.Place.File == "" {
		what = "be put off"
	}
	s.errs = append(s.errs,
		&syntax.Error{Msg: fmt.Sprintf("%s: %s, so %s cannot %s", place, fmt.Sprintf(format, a...), s.d.Play, what)})
}

// unsaid is fail for what depends on together.
func (s *playbookCheck) unsaid(place, what string) {
	if !s.d.TogetherSaid {
		s.fail(place, "%s; the duty must say `together: true` (all hosts in one run) or `together: false` (each by "+
			"itself, as with --limit)", what)
	}
}

func (s *playbookCheck) play(p *compile.Play, settings *compile.Settings, prompts []compile.Prompt) {
	place := p.Place()
	for _, q := range prompts {
		if q.Default == nil {
			s.fail(place, "vars_prompt asks a person for %s, which has no default", q.Name)
		}
	}
	if len(settings.Serial) > 0 {
		s.unsaid(place, "the play has serial")
	}
	if settings.MaxFail != nil {
		s.unsaid(place, "the play has max_fail_percentage")
	}
}

// hostvars finds the name in what a step says.
var hostvars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bhostvars\b`) })

func (s *playbookCheck) step(st *plan.Step) {
	if modules.ShortName(st.Action) == "pause" && !has(st, "seconds") && !has(st, "minutes") {
		s.fail(st.Place, "the task waits for a person")
	}
	if !st.RunOnce.IsZero() && st.RunOnce.V != value.Bool(false) {
		s.unsaid(st.Place, "the task has run_once")
	}
	text, err := json.Marshal(st)
	if err == nil && hostvars().Match(text) || strings.HasPrefix(st.Why, "hostvars") {
		s.unsaid(st.Place, "the task reads other hosts' variables (hostvars)")
	}
}

func has(st *plan.Step, arg string) bool {
	_, ok := st.Args.Get(arg)
	return ok
}

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// script is a trial whose results are what it says: "ok", "no" (not content), "final", "error".
type script struct {
	results []string
	said    []string
	// over ends a pause early, and then the pause waits for it.
	over func(context.Context) bool
}

func (s *script) call(_ context.Context, n int64) (*result.Result, error) {
	s.said = append(s.said, fmt.Sprint("call ", n))
	res := result.New()
	res.Set("is", value.Str(s.results[n-1]))
	switch s.results[n-1] {
	case "final":
		return final(res), nil
	case "error":
		return nil, errors.New("broken")
	}
	return res, nil
}

func (s *script) content(_ context.Context, res *result.Result) (bool, error) {
	return res.Text("is") == "ok", nil
}

func (s *script) again(_ *result.Result, n, most int64) {
	s.said = append(s.said, fmt.Sprintf("again %d of %d", n, most))
}

func (s *script) exhausted(res *result.Result) { res.Set("failed", value.Bool(true)) }

func (s *script) sleep(ctx context.Context, d time.Duration) error {
	if s.over != nil {
		<-ctx.Done()
		return ctx.Err()
	}
	s.said = append(s.said, fmt.Sprint("sleep ", d))
	return nil
}

func (s *script) jobEnd(*result.Result, time.Duration) func(context.Context) bool { return s.over }

func TestAttemptsEndWhenTheResultIsContent(t *testing.T) {
	for name, c := range map[string]struct {
		most   int64
		script []string
		said   []string
		failed bool
	}{
		"the first":        {3, []string{"ok"}, []string{"call 1"}, false},
		"only one":         {1, []string{"no"}, []string{"call 1"}, false},
		"the second":       {3, []string{"no", "ok"}, []string{"call 1", "again 1 of 3", "sleep 5s", "call 2"}, false},
		"none":             {2, []string{"no", "no"}, []string{"call 1", "again 1 of 2", "sleep 5s", "call 2"}, true},
		"never came about": {3, []string{"no", "final"}, []string{"call 1", "again 1 of 3", "sleep 5s", "call 2"}, false},
	} {
		s := &script{results: c.script}
		res, err := attempts{c.most, 5, s}.run(context.Background())
		if err != nil || !slices.Equal(s.said, c.said) || res.Failed() != c.failed {
			t.Errorf("%s: %v, failed %t, %v", name, s.said, res.Failed(), err)
		}
	}
	s := &script{results: []string{"no", "error"}}
	if _, err := (attempts{3, -1, s}).run(context.Background()); err == nil || !slices.Contains(s.said, "sleep 1s") {
		t.Errorf("an error ends them: %v, %v", err, s.said)
	}
}

func TestTheEndOfAJobEndsThePause(t *testing.T) {
	s := &script{results: []string{"no", "ok"}, over: func(context.Context) bool { return true }}
	if res, err := (attempts{2, 5, s}).run(context.Background()); err != nil || res.Text("is") != "ok" {
		t.Errorf("%v, %v", s.said, err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	s = &script{results: []string{"no", "ok"}, over: func(ctx context.Context) bool { <-ctx.Done(); return false }}
	if _, err := (attempts{2, 5, s}).run(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a pause whose time is over gives %v", err)
	}
}

func made(t *testing.T, text string) *result.Result {
	t.Helper()
	v, err := value.Decode([]byte(text), value.KindUnsafe)
	if err != nil {
		t.Fatal(err)
	}
	return result.Of(v.(*value.Dict))
}

func TestALoopIsTheSumOfItsItems(t *testing.T) {
	for _, c := range []struct {
		items   []string
		written bool
		want    string
		ignored bool
	}{
		{[]string{`{"a":1}`}, false, `{"results":[{"a":1}],"skipped":false,"msg":"All items completed"}`, false},
		{[]string{`{"changed":true}`, `{"skipped":true}`}, false,
			`{"results":[{"changed":true},{"skipped":true}],"skipped":false,"changed":true,"msg":"All items completed"}`, false},
		{[]string{`{"skipped":true}`}, true, `{"results":[{"skipped":true}],"skipped":true,"msg":"All items skipped"}`, true},
		{[]string{`{"failed":true,"_ansible_ignore_errors":true}`}, false,
			`{"results":[{"failed":true}],"skipped":false,"failed":true,"msg":"One or more items failed"}`, true},
		{[]string{`{"failed":true,"_ansible_ignore_errors":true}`, `{"failed":true,"_ansible_ignore_errors":false}`}, true,
			`{"results":[{"failed":true},{"failed":true}],"skipped":false,"failed":true,"msg":"One or more items failed"}`,
			false},
		{[]string{`{"warnings":["a"]}`, `{"warnings":["b"]}`}, false,
			`{"results":[{},{}],"warnings":["a","b"],"skipped":false,"msg":"All items completed"}`, false},
	} {
		var items []*result.Result
		for _, text := range c.items {
			items = append(items, made(t, text))
		}
		res, ignored := sumUp(items, c.written)
		if got := string(value.PlainJSON(res.Whole())); got != c.want || ignored != c.ignored {
			t.Errorf("%v: %s, ignored %t", c.items, got, ignored)
		}
	}
}

func TestItemsRunTogetherUnlessOneMayLookAtAnother(t *testing.T) {
	text := func(s string) plan.Expr { return plan.Lit(value.SourceText(s)) }
	base := func(change func(s *plan.Step, c *control)) (*plan.Step, *control) {
		s, c := &plan.Step{Async: text("10"), Register: "out", Loop: &plan.Loop{}}, &control{}
		change(s, c)
		return s, c
	}
	for name, c := range map[string]struct {
		change func(s *plan.Step, c *control)
		want   bool
	}{
		"jobs":           {func(*plan.Step, *control) {}, true},
		"no jobs":        {func(s *plan.Step, _ *control) { s.Async = plan.Expr{} }, false},
		"until":          {func(s *plan.Step, _ *control) { s.Until = []plan.Expr{text("true")} }, false},
		"break_when":     {func(s *plan.Step, _ *control) { s.Loop.BreakWhen = []plan.Expr{text("true")} }, false},
		"a pause":        {func(_ *plan.Step, c *control) { c.pause = time.Second }, false},
		"a throttle":     {func(s *plan.Step, _ *control) { s.Throttle = text("1") }, false},
		"the one before": {func(s *plan.Step, _ *control) { s.When = []plan.Expr{text("out is defined")} }, false},
		"a condition": {func(s *plan.Step, _ *control) { s.When = []plan.Expr{text("other is defined")} },
			true},
		"a name that nobody knows": {func(s *plan.Step, _ *control) { s.When = []plan.Expr{text("vars[x]")} }, false},
		"nothing that is looked at": {func(s *plan.Step, _ *control) {
			s.Register, s.When = "",
				[]plan.Expr{text("out is defined")}
		}, true},
	} {
		s, ctl := base(c.change)
		if got := ctl.together(s); got != c.want {
			t.Errorf("%s: together %t", name, got)
		}
	}
}

func TestSightIsWhatResultsHaveMade(t *testing.T) {
	host := &vars.Host{Name: "h", Facts: value.DictOf("os", "linux")}
	facts := value.DictOf("ansible_kernel", "6", "ansible_host", "elsewhere")
	on := func(inject bool) *playState { return &playState{vars: host, shared: &vars.Shared{InjectFacts: inject}} }
	for name, c := range map[string]struct {
		traits modules.Trait
		inject bool
		want   string
	}{
		"facts":          {0, false, `{"ansible_facts":{"os":"linux","kernel":"6"}}`},
		"injected facts": {0, true, `{"ansible_facts":{"os":"linux","kernel":"6"},"ansible_kernel":"6"}`},
		"set_fact":       {modules.SetsVariables, false, `{"ansible_kernel":"6","ansible_host":"elsewhere"}`},
		"include_vars":   {modules.LoadsVariables, true, `{"ansible_kernel":"6","ansible_host":"elsewhere"}`},
		"debug":          {modules.ShowsOnly, true, `{}`},
	} {
		s := newHostView()
		s.see(facts, c.traits, on(c.inject))
		if got := string(value.PlainJSON(s.vars)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	s := newHostView()
	if s.known(host).Has("ansible_kernel") {
		t.Error("facts are known before they are seen")
	}
	s.see(facts, 0, on(false))
	if !s.known(host).Has("ansible_kernel") || !s.known(host).Has("os") {
		t.Error("facts that were seen are not known")
	}
	s.register(&plan.Step{}, result.New())
	s.register(&plan.Step{Register: "out"}, result.New())
	if s.vars.Has("") || !s.vars.Has("out") {
		t.Errorf("registered are %s", value.Printed(s.vars))
	}
}

func TestJobsOfCheckModeAreFoundAgain(t *testing.T) {
	var jobs checkedJobs
	first, second := made(t, `{"rc":1}`), made(t, `{"rc":2}`)
	jobs.note(first)
	jobs.note(second)
	if got := jobs.status(second.Job()); got == nil || !got.Has("finished") ||
		value.Printed(got.Dict) != value.Printed(second.Dict) {
		t.Errorf("the second is %v", got)
	}
	if jobs.status("j123.4") != nil {
		t.Error("a job that was started is taken for one that was not")
	}
	if got := jobs.status(checkedID + "9"); got == nil || !got.True("skipped") {
		t.Errorf("one of an earlier play is %v", got)
	}
}

func TestAPositionKnowsWhatARescueTakes(t *testing.T) {
	rescue := &plan.Block{Rescue: []plan.Node{{}}}
	var p position
	if p.rescuing() || p.failing() || p.failure() != failed {
		t.Error("outside of blocks something is rescued, or failing")
	}
	p.enter(rescue)
	inner := p.enter(&plan.Block{})
	if !p.rescuing() || !p.caught(failed) || p.caught(handlerFailed) {
		t.Error("a rescue around the block does not take its failure")
	}
	p.frames[0].section = plan.InRescue
	if p.rescuing() {
		t.Error("a rescue takes what fails in it")
	}
	p.frames[0].section, p.flushing = plan.InBody, "20"
	if p.rescuing() || p.failure() != handlerFailed {
		t.Error("while handlers run, the outermost block is in its body")
	}
	p.leave()
	if inner != 1 || !p.caught(handlerFailed) {
		t.Error("the outermost block does not take the failure of a handler")
	}
	p.frames[0].failed = true
	if !p.failing() || p.mended(0, onward) != failed {
		t.Error("a failure is lost")
	}
	p.forget()
	if p.failing() || p.mended(0, onward) != onward || p.mended(0, abandoned) != abandoned {
		t.Error("a failure is not forgotten")
	}
}

func TestRolesRunOnceAndEnd(t *testing.T) {
	p := passedRoles{ran: map[string]bool{}, completed: map[string]bool{}}
	role, again := &plan.Role{Identity: "r"}, &plan.Role{Identity: "r", AllowDuplicates: true}
	task, handler := &plan.Step{}, &plan.Step{Handler: true}
	p.end(role)
	if p.over(task, role) {
		t.Error("a role of which nothing ran is completed")
	}
	p.ran["r"] = true
	p.end(role)
	if !p.over(task, role) || p.over(task, again) || p.over(handler, role) || p.over(task, nil) {
		t.Error("a completed role is not passed over, or something else is")
	}
	p.ending = "r"
	if !p.over(task, nil) {
		t.Error("a role that ends goes on")
	}
	p.end(nil)
	p.end(role)
	if p.ending != "" {
		t.Error("a role that has ended ends still")
	}
}

func TestWarningsAreTexts(t *testing.T) {
	res := result.New()
	res.Set("warnings", value.FromGo([]any{"a", []any{"b", int64(1)}, map[string]any{"c": nil}}, value.KindUnsafe))
	textWarnings(res)
	got, _ := res.Get("warnings")
	if text := modules.PyJSON(got); text != `["a", "['b', 1]", "{'c': None}"]` {
		t.Errorf("%s", text)
	}
	for _, v := range []value.Value{value.Str("no list"), value.NewList(value.Str("x"))} {
		res.Set("warnings", v)
		textWarnings(res)
		if got, _ := res.Get("warnings"); got != v {
			t.Errorf("%v became %v", v, got)
		}
	}
}

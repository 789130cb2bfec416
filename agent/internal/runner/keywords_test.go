package runner

import (
	"slices"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/plan/keywordtest"
)

// rendered are the words of tasks that a session renders before it calls the module.
func rendered(t *testing.T) []keywordtest.Word {
	notRendered := []string{"action", "changed_when", "collections", "failed_when", "loop", "loop_control", "loop_with",
		"module_defaults", "register",
		"tags", "until", "vars", "when", "async"} // async is async_val in messages
	return slices.DeleteFunc(keywordtest.Words(t), func(w keywordtest.Word) bool {
		return !w.Stands("task") || slices.Contains(notRendered, w.Name)
	})
}

// A task whose keyword cannot be rendered fails, whichever keyword it is.
func TestEveryKeywordOfATaskIsRendered(t *testing.T) {
	engine := templar.NewEngine()
	for _, w := range rendered(t) {
		if w.Name == "args" || w.Name == "name" || w.Name == "environment" {
			continue // of these the case tells in testdata
		}
		k, _ := plan.KeywordNamed(w.Name)
		c := &testCase{play: "tasks:\n  - probe: {x: 1}\n    " + k.Name + ": \"{{ nothing_there }}\"\n"}
		said := "'nothing_there' is undefined"
		if w.Name == "no_log" {
			said = "censored" // nothing is told of a task of which it is not known whether it may be
		}
		if got := c.run(t, engine); !strings.Contains(got, said) || !strings.Contains(got, " failed ") {
			t.Errorf("%s: %s", w.Name, got)
		}
	}
}

// What was rendered is known by its name, for action plug-ins.
func TestEveryRenderedKeywordIsKnownByItsName(t *testing.T) {
	session := New(Config{Modules: testModules(), Engine: templar.NewEngine()})
	w := newWalk(session.cfg, &plan.Plan{}, wire.Start{Host: "h1"})
	for _, word := range rendered(t) {
		k, _ := plan.KeywordNamed(word.Name)
		s := &plan.Step{ID: "1", Action: "ansible.builtin.probe"}
		if k.One != nil {
			v := map[string]value.Value{"bool": value.Bool(true), "int": value.Int(7), "list": value.SourceText("x")}[word.Is]
			if v == nil {
				v = value.SourceText("never")
			}
			*k.One(s) = plan.Lit(v)
		}
		f, e := &fields{}, w.newEval(s, "1", nil)
		for _, stage := range []plan.Stage{plan.AtWay, plan.AtGuard, plan.AtCall} {
			rd := &reader{ctx: t.Context(), e: e}
			rd.stage(stage, f)
			if rd.err != nil {
				t.Errorf("%s: %v", word.Name, rd.err)
			}
		}
		got := f.value(k.Name)
		zero := got == value.Bool(false) || got == value.Int(0) || got == value.Str("")
		if k.Name != "name" && (got == nil || zero) {
			t.Errorf("%s was rendered as %v", word.Name, got)
		}
	}
}

// ansible_failed_task has every keyword of the task that steps keep.
func TestFailedTasksAreDescribedByAllTheirKeywords(t *testing.T) {
	d := description{s: &plan.Step{Register: "r"}, f: &fields{}}.dict()
	for _, w := range keywordtest.Words(t) {
		if !w.Stands("task") || slices.Contains([]string{"collections", "loop_control", "module_defaults"}, w.Name) {
			continue
		}
		if _, ok := d.Get(w.Name); !ok {
			t.Errorf("%s is missing", w.Name)
		}
	}
}

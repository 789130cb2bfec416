package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan/keywordtest"
)

// ours are the keywords that ansible-core 2.14 does not have.
var ours = []string{"break_when", "validate_argspec"}

// The table says of each keyword what Ansible's classes say, and has no other.
func TestTableSaysWhatAnsibleSays(t *testing.T) {
	places := map[string]Where{
		"play": OnPlay, "role": OnRole, "block": OnBlock, "task": OnTask, "import": OnImport, "loop": OnLoopControl,
		"meta": OnMeta, "include": OnInclude,
	}
	inherits := map[string]Inheritance{"own": Own, "nearest": Nearest, "inner": Inner, "outer": Outer}
	known := map[string]bool{}
	for _, w := range keywordtest.Words(t) {
		k, ok := KeywordNamed(w.Name)
		if !ok {
			t.Errorf("no row for %s", w.Name)
			continue
		}
		known[k.Name] = true
		if is := strings.Replace(w.Is, "any", "", 1); string(k.Is) != is {
			t.Errorf("%s is %q, Ansible: %q", w.Name, k.Is, is)
		}
		if k.Inherit != inherits[w.Inherit] {
			t.Errorf("%s inherits as %d, Ansible: %s", w.Name, k.Inherit, w.Inherit)
		}
		if got := value.Printed(value.OrNone(k.Default)); got != w.Default {
			t.Errorf("%s is %s otherwise, Ansible: %s", w.Name, got, w.Default)
		}
		for place, on := range places {
			if k.On.Has(on) != w.Stands(place) {
				t.Errorf("%s stands on %s: %v, Ansible: %v", w.Name, place, k.On.Has(on), w.Stands(place))
			}
		}
	}
	for _, k := range Keywords() {
		if !known[k.Name] && !slices.Contains(ours, k.Name) {
			t.Errorf("Ansible has no %s", k.Name)
		}
	}
}

// Every text of a step that may hold a template is a keyword's: what goes over the table meets them all.
func TestEveryTextOfAStepIsAKeywords(t *testing.T) {
	s := &Step{Loop: &Loop{}}
	rows := map[any]string{}
	for _, k := range Keywords() {
		var field any
		switch {
		case k.One != nil:
			field = k.One(s)
		case k.Many != nil:
			field = k.Many(s)
		default:
			continue
		}
		if other, twice := rows[field]; twice {
			t.Errorf("%s and %s are one field", k.Name, other)
		}
		rows[field] = k.Name
	}
	for _, of := range []reflect.Value{reflect.ValueOf(s).Elem(), reflect.ValueOf(s.Loop).Elem()} {
		for i := range of.NumField() {
			switch field := of.Field(i).Addr().Interface().(type) {
			case *Expr, *[]Expr:
				if _, ok := rows[field]; !ok && of.Type().Field(i).Name != "Over" {
					t.Errorf("the field %s is no keyword's", of.Type().Field(i).Name)
				}
			}
		}
	}
}

// filled is a step with a text in every keyword.
func filled() *Step {
	s := &Step{ID: "1", Kind: Task, Action: "a", Written: "a", Register: "register_",
		Loop: &Loop{Over: Lit(value.SourceText("loop_"))}}
	for _, k := range Keywords() {
		text := Lit(value.SourceText(k.Name + "_"))
		switch {
		case k.One != nil:
			*k.One(s) = text
		case k.Many != nil:
			*k.Many(s) = []Expr{text}
		}
	}
	return s
}

func TestDumpShowsEveryKeyword(t *testing.T) {
	p := &Plan{Blocks: []Block{{ID: "0", Body: []Node{{Step: filled()}}}}}
	got := p.Dump()
	for _, w := range keywordtest.Words(t) {
		k, _ := KeywordNamed(w.Name)
		if k.One == nil && k.Many == nil && k.Name != "register" && k.Name != "loop" {
			continue
		}
		if !strings.Contains(got, k.Name+"_") {
			t.Errorf("%s is missing in\n%s", k.Name, got)
		}
	}
}

// The host that judges a guard gets what that needs, and of other keywords nothing.
func TestAGuardKeepsWhatCountsWithTheConditions(t *testing.T) {
	s := filled()
	s.Evaluator, s.Guard = Controller, true
	p := (&Plan{Blocks: []Block{{ID: "0", Body: []Node{{Step: s}}}}}).Cut(func(string) bool { return true })
	cut := p.Blocks[0].Body[0].Step
	for _, k := range Keywords() {
		if k.One == nil && k.Many == nil {
			continue
		}
		if kept := k.Given(cut) != nil; kept != (k.Name == "when" || k.Name == "no_log") {
			t.Errorf("%s: %v", k.Name, k.Given(cut))
		}
	}
}

// What wins over a keyword says how tasks are done, and no host is without it.
func TestVariablesOfKeywordsSteer(t *testing.T) {
	for _, k := range Keywords() {
		for _, m := range dialect.Methods() {
			for _, name := range k.Variables(m.FullName()) {
				if !Steers(name) || strings.Contains(name, "{") {
					t.Errorf("%s of %s is no variable that steers", name, k.Name)
				}
			}
		}
	}
	for _, name := range dialect.AllBecomeVariables() {
		if !Steers(name) {
			t.Errorf("%s is no variable that steers", name)
		}
	}
}

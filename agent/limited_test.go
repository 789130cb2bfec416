package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/all"
	"hark/modules/modtest"
)

// Every module is tried, so that one that comes later is too: nothing passes that is not in check mode but what
// gathers facts, and nothing at all whose code comes with the call or that has no check mode.
func TestAKeyThatMayLookChangesNothingByAnyModule(t *testing.T) {
	o := NewOperators(nil, &Enrolment{Operators: []string{newIdentity(t).Key}}, t.TempDir())
	thief := newIdentity(t).Key
	if err := o.Change(wire.Trust{Limited: []wire.Limited{{Key: thief, Check: true}}}); err != nil {
		t.Fatal(err)
	}
	registry := modules.NewRegistry(all.Modules()...)
	for what, policy := range map[string]*Policy{
		"without a file":                   (*Policy)(nil).within(o),
		"with a file that allows anything": (&Policy{Operators: map[string]*Rule{"*": {}}}).within(o),
		"with a file that allows modules":  (&Policy{Operators: map[string]*Rule{thief: {Modules: []string{"*.*.*", "ansible.builtin.shell"}}}}).within(o),
		"as the file says":                 {Operators: map[string]*Rule{thief: {Check: true}}},
	} {
		seen := 0
		for _, m := range all.Modules() {
			module, ok := registry.Get(m.Name)
			if !ok {
				t.Fatalf("there is no module %s", m.Name)
			}
			seen++
			plain := policy.call(thief, runner.Invocation{Module: module, Call: wire.Call{}})
			if plain == nil && !module.Facts && m.Name != modules.AsyncStatus {
				t.Errorf("%s: %s may change the host", what, m.Name)
			}
			check := policy.call(thief, runner.Invocation{Module: module, Call: wire.Call{Check: true}})
			if check == nil && (module.Foreign || module.NoCheck || !module.Has(modules.ReadsInCheck)) && m.Name != modules.AsyncStatus {
				t.Errorf("%s: %s may do what it likes in check mode", what, m.Name)
			}
			bounds, err := policy.bounds(thief, runner.Invocation{Module: module, Call: wire.Call{Check: true}})
			if check == nil && (err != nil || bounds.NoPrograms == "" && !module.Facts && m.Name != modules.AsyncStatus) {
				t.Errorf("%s: %s may start programs in check mode: %v", what, m.Name, err)
			}
			for _, name := range module.Programs {
				given := runner.Invocation{Module: module, Args: modtest.Args(map[string]any{name: "/tmp/evil"}), Call: wire.Call{Check: true}}
				if policy.call(thief, given) == nil {
					t.Errorf("%s: %s may run a program by %s", what, m.Name, name)
				}
			}
		}
		if seen < 50 {
			t.Fatalf("only %d modules were tried", seen)
		}
		for _, f := range []func(*Rule) *bool{func(r *Rule) *bool { return r.Upgrade }, func(r *Rule) *bool { return r.Trust }, func(*Rule) *bool { return nil }} {
			if policy.may(thief, f, "change the agent") == nil {
				t.Errorf("%s: who may look may change the agent", what)
			}
		}
	}
	if p := (*Policy)(nil).within(o); p.call(o.List()[0], runner.Invocation{Module: &modules.Module{Name: "a.b.c"}}) != nil && p.call(o.List()[1], runner.Invocation{Module: &modules.Module{Name: "a.b.c"}}) != nil {
		t.Error("the others may do nothing either")
	}
}

func TestLimitsEndAndAreTakenAway(t *testing.T) {
	dir := t.TempDir()
	owner, keeper := newIdentity(t).Key, newIdentity(t).Key
	o := NewOperators(nil, &Enrolment{Operators: []string{owner}}, dir)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	o.now = func() time.Time { return now }
	change := func(c wire.Trust) {
		t.Helper()
		if err := o.Change(c); err != nil {
			t.Fatal(err)
		}
	}
	change(wire.Trust{Limited: []wire.Limited{{Key: keeper, Check: true, Until: now.Add(time.Hour)}}})
	if !o.Obeys(keeper) || !o.Looks(keeper) || o.Looks(owner) {
		t.Error("the limit is not in force")
	}
	e, err := ReadEnrolment(dir)
	if err != nil || len(e.Limited) != 1 || slices.Contains(e.Operators, keeper) { // an older agent would take those for unlimited
		t.Errorf("on disk is %+v, %v", e, err)
	}
	now = now.Add(2 * time.Hour)
	if o.Obeys(keeper) {
		t.Error("it is obeyed after its time")
	}
	change(wire.Trust{Add: []string{keeper}})
	if !o.Obeys(keeper) || o.Looks(keeper) {
		t.Error("who is trusted anew is limited still")
	}
	change(wire.Trust{Limited: []wire.Limited{{Key: keeper, Check: true}}})
	if !o.Looks(keeper) {
		t.Error("who was trusted cannot be limited")
	}
	change(wire.Trust{Remove: []string{keeper}})
	if o.Obeys(keeper) {
		t.Error("who is distrusted is obeyed")
	}
	for want, l := range map[string]wire.Limited{"is past": {Key: keeper, Until: now.Add(-time.Hour)}, "is not an operator's public key": {Key: "anna"}} {
		if err := o.Change(wire.Trust{Limited: []wire.Limited{l}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	fixed := NewOperators([]string{keeper}, e, dir)
	if err := fixed.Change(wire.Trust{Limited: []wire.Limited{{Key: keeper, Check: true}}}); err == nil || !strings.Contains(err.Error(), "policy.yml") {
		t.Errorf("a key of the configuration is limited by a message: %v", err)
	}
}

func TestAHoldEndsByItselfAndHasAReason(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for want, h := range map[string]*wire.Hold{
		"needs a reason":         {Until: now.Add(time.Hour)},
		"within 90 days":         {Until: now.Add(91 * 24 * time.Hour), Why: "x"},
		"have ended already":     {Until: now.Add(-time.Hour), Why: "x"},
		"one line of text":       {Until: now.Add(time.Hour), Why: "a\x1b[2J"},
		"has at most 300 bytes":  {Until: now.Add(time.Hour), Why: strings.Repeat("x", 301)},
		"cannot be its operator": {Until: now.Add(time.Hour), Why: "x", By: "a b"},
	} {
		if err := WriteHold(dir, h, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", h, err, want)
		}
	}
	if err := WriteHold(dir, &wire.Hold{Until: now.Add(time.Hour), Why: "disk swap"}, now); err != nil {
		t.Fatal(err)
	}
	if h, err := ReadHold(dir, now); err != nil || h == nil || h.Why != "disk swap" {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err := ReadHold(dir, now.Add(2*time.Hour)); err != nil || h != nil {
		t.Errorf("after its time: %+v, %v", h, err)
	}
	for range 2 {
		if err := WriteHold(dir, nil, now); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := ReadHold(dir, now); err != nil || h != nil {
		t.Errorf("released: %+v, %v", h, err)
	}
}

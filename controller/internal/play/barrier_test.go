package play

import (
	"slices"
	"testing"

	"hark/playbook/plan"
)

func standing(at map[string]plan.ID, hosts ...string) *barrier {
	b := newBarrier(hosts)
	for _, h := range hosts {
		b.enter(h)
		if at[h] != "" {
			b.stand(h, at[h])
		}
	}
	return b
}

func TestBarrierWaitsForSlowestHost(t *testing.T) {
	b := standing(map[string]plan.ID{"a": "2", "b": "2"}, "a", "b", "slow")
	if b.still() {
		t.Fatal("the barrier opened while a host was under way")
	}
	b.stand("slow", "2")
	if !b.still() {
		t.Fatal("the barrier stayed shut with all hosts at it")
	}
}

func TestBarrierDoesNotWaitForHostsThatLeft(t *testing.T) {
	b := standing(map[string]plan.ID{"a": "2"}, "a", "b")
	b.leave("b")
	b.leave("b")
	if !b.still() || b.empty() {
		t.Fatal("the barrier waits for a host that left")
	}
}

func TestBarrierPicksTheEarliestStepAndOnlyItsHosts(t *testing.T) {
	b := standing(map[string]plan.ID{"a": "10", "b": "4.0.2", "c": "4.0.2", "d": "9"}, "a", "b", "c", "d")
	step, hosts := b.next()
	if step != "4.0.2" || !slices.Equal(hosts, []string{"b", "c"}) {
		t.Fatalf("next is %s for %v", step, hosts)
	}
	released, all := b.open(step, hosts, rule{})
	if !all || !slices.Equal(released, hosts) {
		t.Fatalf("released %v, all %v", released, all)
	}
	if b.still() {
		t.Fatal("hosts that were let go count as standing")
	}
}

func TestBarrierLetsAtMostTheLimitGo(t *testing.T) {
	b := standing(map[string]plan.ID{"a": "1", "b": "1", "c": "1"}, "a", "b", "c")
	released, all := b.open("1", []string{"a", "b", "c"}, rule{limit: 2})
	if all || !slices.Equal(released, []string{"a", "b"}) {
		t.Fatalf("released %v, all %v", released, all)
	}
	if more := b.release(); len(more) != 0 {
		t.Fatalf("released %v beyond the limit", more)
	}
	b.did("b")
	if more := b.release(); !slices.Equal(more, []string{"c"}) {
		t.Fatalf("released %v after a host was done", more)
	}
}

func TestBarrierGivesATokenBackWhenItsHostIsLost(t *testing.T) {
	b := standing(map[string]plan.ID{"a": "1", "b": "1"}, "a", "b")
	b.open("1", []string{"a", "b"}, rule{limit: 1})
	b.leave("a")
	if more := b.release(); !slices.Equal(more, []string{"b"}) {
		t.Fatalf("released %v after the holder of the token was lost", more)
	}
}

func TestBarrierLetsOneHostGoForAll(t *testing.T) {
	b := standing(map[string]plan.ID{"a": "1", "b": "1", "c": "3"}, "a", "b", "c")
	released, all := b.open("1", []string{"a", "b"}, rule{once: true})
	if all || !slices.Equal(released, []string{"a"}) || b.onceDone() {
		t.Fatalf("released %v, all %v", released, all)
	}
	b.did("a")
	if !b.onceDone() || !slices.Equal(b.round.adopters, []string{"b"}) {
		t.Fatalf("adopters are %v", b.round.adopters)
	}
}

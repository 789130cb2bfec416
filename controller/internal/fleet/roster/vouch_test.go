package roster

import (
	"context"
	"errors"
	"strings"
	"testing"

	"hark/agent/wire"
)

// A stolen agent that says it is another host is not believed by a controller that never saw that host.
func TestNamesAreThoseThatWereLetIn(t *testing.T) {
	f := newFleet(t)
	f.ensure()
	own, thief := newAgent(t), newAgent(t)
	f.say(own, own, wire.KindHello, wire.Hello{Name: "db1"})
	f.say(thief, thief, wire.KindHello, wire.Hello{Name: "db1"})   // heard of later
	f.say(thief, thief, wire.KindHello, wire.Hello{Name: "cache"}) // the last word counts
	f.say(thief, thief, wire.KindHello, wire.Hello{Name: "db1"})
	absent := newAgent(t)
	f.say(absent, absent, wire.KindHello, wire.Hello{Name: "web1"})
	dir := t.TempDir()
	r := f.roster(dir)
	r.Vouch = func(_ context.Context, name string) (string, error) {
		return map[string]string{"db1": own.Key, "web1": newAgent(t).Key}[name], nil
	}
	if a, err := r.Find(t.Context(), "db1"); err != nil || a.Key != own.Key {
		t.Errorf("db1 is %s (%v), want %s", a.Key, err, own.Key)
	}
	if a, err := r.Find(t.Context(), "web1"); err == nil ||
		!strings.Contains(err.Error(), "another key than the one that was enrolled") {
		t.Errorf("web1 is %s, %v", a.Key, err)
	}
	// What is on record needs nobody's word.
	again := f.roster(dir)
	again.Vouch = func(context.Context, string) (string, error) { return "", errors.New("nobody is there") }
	if a, err := again.Find(t.Context(), "db1"); err != nil || a.Key != own.Key {
		t.Errorf("db1 is %s (%v), want %s", a.Key, err, own.Key)
	}
	if _, err := again.Find(t.Context(), "web1"); err == nil {
		t.Error("a name that nobody can vouch for is taken")
	}
}

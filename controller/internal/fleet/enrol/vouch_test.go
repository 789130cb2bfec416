package enrol_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/controller/internal/fleet/enrol"
)

// find is the book's entry of a name.
func (o *office) find(name string) *enrol.Agent {
	o.t.Helper()
	a, err := o.client.Find(o.t.Context(), name)
	if err != nil || a == nil {
		o.t.Fatalf("%s: %v, %v", name, a, err)
	}
	return a
}

// Whichever way an agent comes in, the book holds an operator's word for it, which whoever keeps the book cannot make.
func TestOperatorsVouchForWhomTheyLetIn(t *testing.T) {
	o := open(t)
	self := o.client.Operator.Key
	overSSH, byToken, byHand := identity(t), identity(t), identity(t)
	if err := o.client.Enrol(t.Context(), enrol.Agent{Name: "ssh1", Key: overSSH.Key}); err != nil {
		t.Fatal(err)
	}
	if out := o.mustJoin(o.token(enrol.Token{Approve: true}), byToken, "token1"); out.JWT == "" {
		t.Fatalf("%+v", out)
	}
	if out := o.mustJoin(o.token(enrol.Token{}), byHand, "hand1"); !out.Pending {
		t.Fatalf("%+v", out)
	}
	if _, err := o.client.Approve(t.Context(), "hand1"); err != nil {
		t.Fatal(err)
	}
	o.registrar.Close()
	o.serve() // the book keeps it
	for name, key := range map[string]string{"ssh1": overSSH.Key, "token1": byToken.Key, "hand1": byHand.Key} {
		if got, err := o.find(name).Vouched([]string{self}); err != nil || got != key {
			t.Errorf("%s is %s, %v", name, got, err)
		}
		if got, err := o.find(name).Vouched([]string{identity(t).Key}); err == nil || !strings.Contains(err.Error(), "hark key believe "+self) {
			t.Errorf("a stranger believes that %s is %s, %v", name, got, err)
		}
	}
}

// What the broker makes of the book nobody believes: another key for a name, another name for a key, a word of
// somebody else.
func TestWordsForOneAgentAreNoneForAnother(t *testing.T) {
	o := open(t)
	self, thief := o.client.Operator.Key, identity(t)
	if err := o.client.Enrol(t.Context(), enrol.Agent{Name: "db1", Key: identity(t).Key}); err != nil {
		t.Fatal(err)
	}
	o.mustJoin(o.token(enrol.Token{Approve: true, Name: "web1"}), identity(t), "web1")
	o.mustJoin(o.token(enrol.Token{Approve: true}), thief, "cache")
	forged := map[string]func(a *enrol.Agent){
		"another key":           func(a *enrol.Agent) { a.Key = thief.Key },
		"another name":          func(a *enrol.Agent) { a.Name = "other" },
		"the thief's own words": func(a *enrol.Agent) { a.Key, a.Vouches = thief.Key, o.find("cache").Vouches },
		"somebody else's":       func(a *enrol.Agent) { a.Vouches[0].By = thief.Key },
		"none":                  func(a *enrol.Agent) { a.Vouches = nil },
		"a token of another":    func(a *enrol.Agent) { a.Key, a.Vouches[0].Token = thief.Key, o.find("cache").Vouches[0].Token },
		"without its signature": func(a *enrol.Agent) { a.Vouches[0].Sig = nil },
		"a proof without token": func(a *enrol.Agent) { a.Key, a.Vouches[0].Token = thief.Key, nil },
		"at another time":       func(a *enrol.Agent) { a.Vouches[0].At, a.Vouches[0].Token = a.Vouches[0].At.Add(1e9), nil },
	}
	for what, forge := range forged {
		for _, name := range []string{"db1", "web1"} {
			a := o.find(name)
			forge(a)
			if key, err := a.Vouched([]string{self}); err == nil {
				t.Errorf("%s, %s: believed as %s", name, what, key)
			}
		}
	}
	// The registrar takes no operator's word from another.
	second := o.operator(o.authority)
	stolen := o.find("db1")
	stolen.Name = "web1"
	if err := second.Enrol(t.Context(), *stolen); err == nil {
		if _, err := o.find("web1").Vouched([]string{self}); err == nil {
			t.Error("one operator's word came from another")
		}
	}
}

// An operator who approves what is in already vouches for it; that of a book from before there were words.
func TestApprovalVouchesForWhatIsIn(t *testing.T) {
	o := open(t)
	agent := identity(t)
	if err := o.client.Enrol(t.Context(), enrol.Agent{Name: "web1", Key: agent.Key}); err != nil {
		t.Fatal(err)
	}
	o.registrar.Close()
	path := filepath.Join(o.dir, "enrolled.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var book map[string]any
	if err := json.Unmarshal(text, &book); err != nil {
		t.Fatal(err)
	}
	delete(book["agents"].([]any)[0].(map[string]any), "vouches")
	if text, err = json.Marshal(book); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.serve()
	self := []string{o.client.Operator.Key}
	if _, err := o.find("web1").Vouched(self); err == nil || !strings.Contains(err.Error(), "hark agents approve web1") {
		t.Errorf("nobody's word: %v", err)
	}
	done, err := o.client.Approve(t.Context(), "web1")
	if err != nil || len(done) != 1 {
		t.Fatalf("%v, %v", done, err)
	}
	if key, err := o.find("web1").Vouched(self); err != nil || key != agent.Key {
		t.Errorf("%s, %v", key, err)
	}
}

// A token is good for as many names as it has uses, whoever comes with it.
func TestTokensThatAreUsedUpGiveNoMoreNames(t *testing.T) {
	o := open(t)
	token, agent := o.token(enrol.Token{Approve: true, Uses: 2}), identity(t)
	for _, tt := range []struct{ name, want string }{{"t1", ""}, {"t1", ""}, {"t2", ""}, {"t3", "as often as it may be"}, {"t1", "as often as it may be"}, {"t2", ""}} {
		if out := o.mustJoin(token, agent, tt.name); (out.Err == "") != (tt.want == "") || !strings.Contains(out.Err, tt.want) {
			t.Errorf("%s: %+v, want %q", tt.name, out, tt.want)
		}
	}
}

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/modules"
)

func writePolicy(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPolicyLimitsWhatOperatorsMayDo(t *testing.T) {
	known, other := newIdentity(t).Key, newIdentity(t).Key
	p, err := ReadPolicy(writePolicy(t, `
operators:
  `+known+`:
    modules: [ansible.builtin.*, "!ansible.builtin.shell"]
    users: [root, deploy]
    upgrade: false
    trust: false
  "*":
    modules: [ansible.builtin.ping]
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		operator, module, user string
		want                   string
	}{
		{known, "ansible.builtin.copy", "deploy", ""},
		{known, "ansible.builtin.copy", "root", ""},
		{known, "ansible.builtin.shell", "root", "the module ansible.builtin.shell"},
		{known, "community.general.ufw", "root", "the module community.general.ufw"},
		{known, "ansible.builtin.copy", "postgres", "to run as postgres"},
		{other, "ansible.builtin.ping", "root", ""},
		{other, "ansible.builtin.copy", "root", "the module ansible.builtin.copy"},
	} {
		inv := runner.Invocation{Module: &modules.Module{Name: tt.module}, Call: wire.Call{User: wire.RunAs{User: tt.user}}}
		err := p.call(tt.operator, inv)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s as %s: %v, want %q", tt.module, tt.user, err, tt.want)
		}
	}
	if p.named(known, wire.JobsModule) == nil || p.named(known, modules.AsyncStatus) != nil {
		t.Error("who may look after jobs is not what the policy says")
	}
	upgrade := func(r *Rule) *bool { return r.Upgrade }
	if p.may(known, upgrade, "to upgrade") == nil || p.may(other, upgrade, "to upgrade") != nil {
		t.Error("who may upgrade the agent is not what the policy says")
	}
	trust := func(r *Rule) *bool { return r.Trust }
	if p.may(known, trust, "to change whom it obeys") == nil || p.may(other, trust, "to change whom it obeys") != nil {
		t.Error("who may change whom the agent obeys is not what the policy says")
	}
	if _, err := (*Policy)(nil).rule(other); err != nil {
		t.Errorf("without a policy: %v", err)
	}
}

func TestPolicyRefusesStrangersAndItsOwnMistakes(t *testing.T) {
	key := newIdentity(t).Key
	p, err := ReadPolicy(writePolicy(t, "operators:\n  "+key+":\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.rule(newIdentity(t).Key); err == nil {
		t.Error("an operator who is not named may do something")
	}
	if _, err := p.rule(key); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"a misspelt word":    "operator: {}\n",
		"no key":             "operators: {anna: {}}\n",
		"a pattern":          "operators: {\"*\": {modules: [\"[\"]}}\n",
		"a relative path":    "operators: {\"*\": {paths: [srv]}}\n",
		"something else too": "- a\n",
		"a newer version":    "version: 2\noperators: {}\n",
		"no version":         "version: one\noperators: {}\n",
	} {
		if _, err := ReadPolicy(writePolicy(t, text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{link, link + "/below", link + "/not/there"} {
		_, err := ReadPolicy(writePolicy(t, "operators: {\"*\": {paths: ["+dir+"]}}\n"))
		if err == nil || !strings.Contains(err.Error(), real) {
			t.Errorf("the path %s, which is a link: %v", dir, err)
		}
	}
	if _, err := ReadPolicy(writePolicy(t, "operators: {\"*\": {paths: ["+real+"/not/there]}}\n")); err != nil {
		t.Errorf("a path that is none: %v", err)
	}
	if _, err := ReadPolicy(writePolicy(t, "version: 1\noperators: {}\n")); err != nil {
		t.Errorf("this version: %v", err)
	}
	if p, err := ReadPolicyIfThere(filepath.Join(t.TempDir(), "none")); p != nil || err != nil {
		t.Errorf("no file: %v, %v", p, err)
	}
}

// What the policy forbids does not run, and is counted, for plans and delegated calls alike.
func TestPolicyStandsBeforeModules(t *testing.T) {
	g := newTarget(t)
	good := wire.Packing{Sign: g.operator, To: g.identity.XKey, Box: g.operator}
	g.agent.cfg.Policy = &Policy{Operators: map[string]*Rule{"*": {Modules: []string{"ansible.builtin.*"}}}}
	if ack := g.request(wire.KindPlan, g.pack(g.header(wire.KindPlan, "r"), g.opening("r"), good)); ack.Err != "" {
		t.Fatal(ack.Err)
	}
	for _, s := range g.agent.runs.sessions() {
		<-s.playing
	}
	order := wire.Order{Exec: wire.Exec{Run: "r2", ID: "x", Host: "web1", Call: wire.Call{Module: "test.t.touch", Args: []byte("{}")}}, HostKey: g.key()}
	done := make(chan wire.Msg, 10)
	if _, err := g.attacker.Subscribe(wire.Results("r2", g.identity.ID(), wire.KindExecDone), func(m wire.Msg) { done <- m }); err != nil {
		t.Fatal(err)
	}
	if ack := g.request(wire.KindExec, g.pack(g.header(wire.KindExec, "r2"), order, good)); ack.Err != "" {
		t.Fatal(ack.Err)
	}
	m := <-done
	f, err := wire.Parse(m.Data)
	if err != nil {
		t.Fatal(err)
	}
	var result wire.ExecDone
	if err := f.Body(&g.codec, wire.SealHost, wire.Keys{Host: &order.HostKey}, &result); err != nil || !strings.Contains(string(result.Result), "policy does not allow it: the module test.t.touch") {
		t.Errorf("%s, %v", result.Result, err)
	}
	if n := g.runs(); n != 0 || g.agent.Refused()[wire.Forbidden] != 2 {
		t.Errorf("the module ran %d times; refused %v", n, g.agent.Refused())
	}
	g.agent.cfg.Policy = &Policy{}
	if ack := g.request(wire.KindPlan, g.pack(g.header(wire.KindPlan, "r3"), g.opening("r3"), good)); !strings.Contains(ack.Err, "may do nothing") {
		t.Errorf("a plan of an operator who may do nothing: %+v", ack)
	}
}

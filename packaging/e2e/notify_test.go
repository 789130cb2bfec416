//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// TestSomebodyIsTold: a keeper tells a hook and the broker when hosts fail and when that is over, once; a third party
// hears it at the broker and can do nothing else.
func TestSomebodyIsTold(t *testing.T) {
	t.Parallel()
	out, hook := t.TempDir(), newTold(t)
	broken := filepath.Join(out, "broken")
	files := map[string]string{
		"ansible.cfg": "[defaults]\ninventory = inventory\n[hark]\nansible = 2.14\nconsole = https://hark.example.org/\n",
		"inventory":   "h1\nh2\n",
		"duties.yml": "notify: {to: ['" + hook.URL + "', 'nats:'], gather: 1s}\nduties:\n" +
			"- {name: base, play: site.yml, hosts: all, every: 7d, splay: 1s, mode: check}\n",
		"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - name: look\n    stat: {path: " + broken + "}\n    register: r\n    failed_when: r.stat.exists\n",
	}
	tm := newTeam(t, files, "h1", "h2")
	heard := tm.listen()
	log := tm.keep(tm.url)
	tm.until(mostOf, "all are kept", "base", 2, func(s stand) bool { return s.State == "kept" })
	for _, step := range []struct {
		stand string
		do    func() error
		want  string
	}{
		{"failed", func() error { return os.WriteFile(broken, nil, 0o600) }, "hark.duty.failed"},
		{"kept", func() error { return os.Remove(broken) }, "hark.duty.failed hark.duty.fixed"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			tm.as(tm.home, "duties", "run", "base")
			tm.until(mostOf, step.stand, "base", 2, func(s stand) bool { return s.State == step.stand })
		}
		await(t, step.want, func() bool { return hook.types() == step.want && strings.Join(heard(), " ") == step.want })
	}
	hook.mu.Lock()
	first := hook.events[0].Data
	hook.mu.Unlock()
	if first.Text != "base: 2 of 2 hosts failed: h1 h2" || first.Link != "https://hark.example.org/duties/base" {
		t.Errorf("%+v", first)
	}
	_ = log.Process.Signal(os.Interrupt)
	_ = log.Wait()
	if text, err := os.ReadFile(log.Stderr.(*os.File).Name()); err != nil || strings.Count(string(text), "base: 2 of 2 hosts failed: h1 h2") != 1 {
		t.Errorf("%v: the journal:\n%s", err, text)
	}
}

// listen is a third party that hears events. It gives what it has heard.
func (tm *team) listen() func() []string {
	tm.t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		tm.t.Fatal(err)
	}
	key, _ := pair.PublicKey()
	var access struct{ URL, Token string }
	if err := json.Unmarshal([]byte(tm.as(tm.home, "broker", "admit", key, "--events", "--data", filepath.Join(filepath.Dir(tm.home), "broker"))), &access); err != nil {
		tm.t.Fatal(err)
	}
	refused := make(chan error, 10)
	conn, err := nats.Connect(access.URL, nats.UserJWT(func() (string, error) { return access.Token, nil }, pair.Sign), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		select {
		case refused <- err:
		default:
		}
	}))
	if err != nil {
		tm.t.Fatal(err)
	}
	tm.t.Cleanup(conn.Close)
	var mu sync.Mutex
	var all []string
	_, err = conn.Subscribe("hark.events.*.*.*", func(m *nats.Msg) {
		var e toldEvent
		if json.Unmarshal(m.Data, &e) == nil {
			mu.Lock()
			all = append(all, e.Type)
			mu.Unlock()
		}
	})
	if err != nil {
		tm.t.Fatal(err)
	}
	for _, subject := range []string{"hark.t.all.fleet", "hark.events.x.duty.failed"} {
		if err := conn.Publish(subject, []byte("x")); err != nil {
			tm.t.Fatal(err)
		}
		select {
		case <-refused:
		case <-time.After(20 * time.Second):
			tm.t.Errorf("a listener may publish on %s", subject)
		}
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

// TestARunTellsHowItEndsWhenThatChanges: HARK_NOTIFY is told of a run that fails after one that did not, and of one
// that does not fail after one that did.
func TestARunTellsHowItEndsWhenThatChanges(t *testing.T) {
	t.Parallel()
	dir, hook := t.TempDir(), newTold(t)
	writeTree(t, dir, map[string]string{"site.yml": "- hosts: localhost\n  gather_facts: false\n  tasks:\n  - command: test ! -e broken\n"})
	play := func(want int, args ...string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(built(t), "hark"), append(args, "play", "site.yml")[:max(2, len(args))]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HARK_HOME="+filepath.Join(dir, "home"), "HARK_NOTIFY="+hook.URL)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Fatalf("exit code %d\n%s", code, out)
		}
	}
	broken := filepath.Join(dir, "broken")
	play(0, "key", "create") // which signs
	play(0)
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	play(2)
	play(2)
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	play(0)
	play(0)
	if got := hook.types(); got != "hark.run.failed hark.run.fixed" {
		t.Fatal(got)
	}
	if d := hook.events[0].Data; !strings.Contains(d.Text, "localhost") || !strings.Contains(d.Text, "hark play") ||
		strings.Count(d.By, "@") != 1 {
		t.Errorf("%+v", d)
	}
}

//go:build hostile

package hostile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/modules/treesync"
	"hark/playbook/plan"
)

// kindsOfSessions are the questions that sessions of the controller's own process ask, and no agent.
var kindsOfSessions = []wire.AskKind{
	wire.AskVars, wire.AskMagic, wire.AskLookup, wire.AskFile, wire.AskTree, wire.AskInclude, wire.AskDelegate, wire.AskPrompt, wire.AskVarsFile, wire.AskWhere,
	wire.AskInventory, wire.AskDebug, wire.AskPlugin, wire.AskAction, wire.AskPlace, wire.AskReset, "", "exec", "STEP",
}

func words(texts ...string) *value.List {
	var all []value.Value
	for _, t := range texts {
		all = append(all, value.Str(t))
	}
	return value.NewList(all...)
}

// dict is a mapping from JSON.
func dict(t *testing.T, text string) plan.Dict {
	t.Helper()
	var d plan.Dict
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// shapes are contents of questions that once opened the controller: each is put with every kind, at every step.
func (s *site) shapes(secret, witness string) []wire.Ask {
	t := s.t
	call := func(module, args string) *wire.Call {
		return &wire.Call{Module: "ansible.builtin." + module, Args: json.RawMessage(args)}
	}
	touch := `{"argv":["sh","-c","touch ` + witness + `"]}`
	include := func(args, vars string) []wire.IncludeCall {
		return []wire.IncludeCall{{Args: dict(t, args), Vars: dict(t, vars)}}
	}
	return []wire.Ask{
		{},
		{Includes: include(`{"file":"`+secret+`"}`, `{}`)},
		{Includes: include(`{"name":"other"}`, `{}`)},
		{Includes: include(`{"name":"known","apply":{"delegate_to":"localhost","become":true}}`, `{"knowncmd":"touch `+witness+`"}`)},
		{Dir: "files", Name: secret, Decrypt: true},
		{Dir: "templates", Name: "../../private/id_rsa"},
		{Name: secret, Tree: &treesync.Query{}, Decrypt: true},
		{Names: []string{secret}, Hosts: []string{"db1", "localhost"}},
		{Name: "pipe", Args: plan.Expr{V: words("touch " + witness)}},
		{Name: "lines", Args: plan.Expr{V: words("touch " + witness)}},
		{Name: "file", Args: plan.Expr{V: words(secret)}},
		{Name: "fileglob", Args: plan.Expr{V: words(s.dir + "/private/*")}},
		{Name: "csvfile", Args: plan.Expr{V: words(canary + "-id_rsa")}, Kw: dict(t, `{"file":"`+secret+`","delimiter":":"}`)},
		{Dir: "test", Name: "exists", Args: plan.Expr{V: words(secret)}},
		{Name: "localhost", Call: call("command", touch)},
		{Name: "db1", Call: call("command", touch)},
		{Name: "localhost", Call: call("copy", `{"remote_src":true,"src":"`+secret+`","dest":"`+witness+`"}`)},
		{Name: "localhost", Call: call("template", `{"remote_src":true,"src":"/etc/hostname","dest":"`+witness+`","validate":"touch `+witness+` %s"}`)},
		{Name: "localhost", Call: call("uri", `{"url":"`+"file://"+secret+`","dest":"`+witness+`"}`)},
		{Name: "add_host", Kw: dict(t, `{"host_name":"db1","host_vars":{"hark_agent":"`+taken+`","ansible_connection":"local"}}`)},
		{Name: "group_by", Kw: dict(t, `{"key":"db","parents":["all"]}`)},
		{Prompt: &wire.Prompt{Text: "[sudo] password for operator"}},
		{Name: taken, Kw: dict(t, `{"task":{"args":`+touch+`}}`), Call: call("command", touch)},
		{Name: "TASK", Kw: dict(t, `{"task":{},"task_vars":{},"result":{}}`), Outcome: &wire.Outcome{Status: wire.StatusFailed, Result: json.RawMessage(`{}`)}},
		{Place: &wire.Place{Root: s.dir + "/private"}},
		{Place: &wire.Place{Root: s.dir + "/private/authorized_keys", File: true}},
	}
}

// asked is a project with a step of each kind that once made the controller answer for others of its kind.
func (s *site) asked() project {
	return project{
		"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - include_tasks: constant.yml
  - include_role: {name: known}
    vars: {knowncmd: "true"}
  - copy: {src: app.conf, dest: "{{ playbook_dir }}/out-{{ inventory_hostname }}", mode: 0644}
  - template: {src: app.conf, dest: "{{ playbook_dir }}/out2-{{ inventory_hostname }}"}
  - include_vars: {file: some.yml}
  - command: {argv: [echo, constant]}
    delegate_to: localhost
  - uri: {url: "http://127.0.0.1:1/api/status", status_code: 200}
    delegate_to: localhost
    failed_when: false
  - add_host: {name: newvm, groups: fresh}
  - group_by: {key: "is_{{ inventory_hostname }}"}
  - debug: {msg: "{{ item }}"}
    with_lines: echo constant
  - debug: {msg: "{{ lookup('csvfile', 'a', file='t.csv', delimiter=':') }}"}
  - name: see whether it exists
    pause: {seconds: 1}
    when: false
  - ping:
- hosts: db1
  gather_facts: false
  tasks:
  - debug: {msg: "{{ group_names }} {{ ansible_connection | default('none') }}"}
`,
		"constant.yml": "- ping:\n", "roles/known/tasks/main.yml": "- command: \"{{ knowncmd }}\"\n", "files/app.conf": "a\n", "templates/app.conf": "a\n",
		"roles/other/tasks/main.yml": "- debug: msg=x\n", "roles/other/vars/main.yml": "rolesecret: " + canary + "-ROLE\n",
		"some.yml": "some: 1\n", "files/t.csv": "a:b\n",
	}
}

// What sessions of the controller ask of it no agent may: not before the play, not within it, not as one that does a
// call; whatever step is named and whatever the plan holds.
func TestAgentsAskNothingOfTheController(t *testing.T) {
	s := newSite(t)
	secret := s.secret("id_rsa")
	s.guard(s.dir + "/private")
	shapes := s.shapes(secret, s.witness())
	var put atomic.Int64
	var over atomic.Bool
	var asking sync.WaitGroup
	ask := func(x *session, at plan.ID, kind wire.AskKind) {
		for _, a := range shapes {
			a.Kind, a.Step = kind, at
			got, err := x.ask(a)
			if errors.Is(err, wire.ErrNoResponder) || err != nil && over.Load() {
				return // nobody hears any more; how many questions were heard is counted below
			}
			if err != nil || !strings.HasPrefix(got.Err, "refused: ") || !reflect.DeepEqual(got, wire.Answer{Err: got.Err}) {
				t.Errorf("%s: %v, %s", plain(a), err, plain(got))
			}
			put.Add(1)
		}
	}
	all := func(x *session, at plan.ID) {
		var kinds sync.WaitGroup // at once: each question alone waits four times for a processor of a busy machine
		asking.Add(1)
		defer asking.Done()
		for _, kind := range kindsOfSessions {
			kinds.Go(func() { ask(x, at, kind) })
		}
		kinds.Wait()
	}
	control, attacked := s.attack(s.asked(), func(h *hostile) {
		once := map[string]bool{}
		first := func(what string) bool {
			had := once[what]
			once[what] = true
			return !had
		}
		h.onPlan = func(x *session) {
			all(x, "")
			began := time.Now()
			for _, one := range x.steps() {
				if time.Since(began) > 5*time.Second {
					break // on a slow machine: the controller waits for no agent that says nothing, and its run would be over
				}
				all(x, one.ID)
			}
		}
		h.onEvent = func(x *session, e wire.Event) []wire.Event {
			if e.Kind == wire.Done && first("event") {
				all(x, e.Step)
			}
			return []wire.Event{e}
		}
		h.onExec = func(x *session, e *wire.Exec) {
			if first(string(e.Step)) {
				all(x, e.Step)
			}
		}
	})
	over.Store(true)
	asking.Wait()
	if control.code != 0 || attacked.code != 0 || control.of(taken) != attacked.of(taken) {
		t.Errorf("the agent did its tasks all the same: %s", attacked)
	}
	if least := 5 * len(shapes) * len(kindsOfSessions); put.Load() < int64(least) {
		t.Errorf("only %d questions were put", put.Load())
	}
}

// Of the questions that agents may ask those about content bring what the controller has named to them, and what is
// beside the question counts for nothing.
func TestContentIsWhatTheControllerNamed(t *testing.T) {
	s := newSite(t)
	secret := s.secret("id_rsa")
	s.guard(s.dir + "/private")
	sum := sha256.Sum256([]byte(canary + "-id_rsa\n"))
	p := project{
		"site.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n  - copy: {src: app.conf, dest: '{{ playbook_dir }}/out-{{ inventory_hostname }}', mode: 0644}\n" +
			"- hosts: db1\n  gather_facts: false\n  tasks:\n  - copy: {src: big, dest: '{{ playbook_dir }}/big.copy'}\n",
		"files/app.conf": "a\n", "files/big": strings.Repeat(canary, 50000),
	}
	foreign := sha256.Sum256([]byte(p["files/big"]))
	digests := []string{"", secret, "../../private/id_rsa", hex.EncodeToString(sum[:]), hex.EncodeToString(foreign[:]), "sha256:" + hex.EncodeToString(sum[:])}
	var others sync.WaitGroup
	control, attacked := s.attack(p, func(h *hostile) {
		h.onPlan = func(x *session) {
			for _, kind := range []wire.AskKind{wire.AskBlob, wire.AskPlan} {
				for _, d := range digests {
					for _, at := range []plan.ID{"", x.steps()[0].ID} {
						for _, offset := range []int64{0, -1, 1 << 62} {
							a := wire.Ask{Kind: kind, Step: at, Digest: d, Offset: offset, Name: secret, Dir: "files", Names: []string{secret}, Decrypt: true}
							if got, err := x.ask(a); err != nil || got.Err == "" || strings.Contains(got.Err, "internal error") {
								t.Errorf("%s: %v, %s", plain(a), err, plain(got))
							}
						}
					}
				}
			}
			for _, host := range []string{"db1", "localhost", "none"} {
				others.Go(func() { // it is not even answered
					if got, err := x.ask(wire.Ask{Kind: wire.AskOwn, Host: host}); err == nil && got.Err == "" {
						t.Errorf("it was told the variables of %s: %s", host, plain(got))
					}
				})
			}
		}
	})
	others.Wait()
	if control.code != 0 || attacked.code != 0 {
		t.Error(attacked)
	}
}

package play

import (
	"encoding/json"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/modules/mask"
)

func doneWith(host string, own bool, res string) *wire.Event {
	return &wire.Event{Host: host, Own: own, Kind: wire.Done, Outcome: &wire.Outcome{Result: json.RawMessage(res), Item: json.RawMessage(`"of sesame-open"`), Label: "of sesame-open"}}
}

// TestSecretsOfAnAgentAreHiddenInItsOwnResults: what the controller knows is hidden in all results, what an agent
// says is secret in those of its host.
func TestSecretsOfAnAgentAreHiddenInItsOwnResults(t *testing.T) {
	all := &mask.Masker{}
	all.Add("of all hosts")
	h := newHider(all)
	const told = `{"msg": "sesame-open, of all hosts", "_ansible_new_secrets": ["sesame-open"], "_ansible_events": [{"msg": "no sesame-open", "text": "{{ sesame-open }}"}]}`
	for _, c := range []struct {
		e            *wire.Event
		result, item string
	}{
		{doneWith("h1", false, told), `{"msg":"$REDACTED$, $REDACTED$","_ansible_events":[{"msg":"no $REDACTED$","text":"{{ sesame-open }}"}]}`, "of $REDACTED$"},
		{doneWith("h1", false, `{"msg": "sesame-open"}`), `{"msg":"$REDACTED$"}`, "of $REDACTED$"},
		{doneWith("h2", false, `{"msg": "sesame-open, of all hosts"}`), `{"msg":"sesame-open, $REDACTED$"}`, "of sesame-open"},
		{doneWith("h3", true, told), `{"msg":"$REDACTED$, $REDACTED$","_ansible_events":[{"msg":"no $REDACTED$","text":"{{ sesame-open }}"}]}`, "of $REDACTED$"},
		{doneWith("h2", false, `{"msg": "sesame-open"}`), `{"msg":"$REDACTED$"}`, "of $REDACTED$"},
	} {
		h.hide(c.e)
		o := c.e.Outcome
		if string(o.Result) != c.result || o.Label != c.item || strings.Trim(string(o.Item), `"`) != c.item || len(o.Said().Secrets) > 0 {
			t.Errorf("%s is shown %s, %s, %s", c.e.Host, o.Result, o.Item, o.Label)
		}
	}
}

// TestSecretsOfACallAreThoseOfWhoSpoke: what a host says is secret in the result of a call is hidden where that host
// has done the task, for whomever, and in no other word of the host for which it has.
func TestSecretsOfACallAreThoseOfWhoSpoke(t *testing.T) {
	h := newHider(&mask.Masker{})
	h.addSecrets("web1", []string{"sesame-open", "changed"})
	const said = `{"msg": "sesame-open", "changed": false}`
	own, by := doneWith("db1", true, said), doneWith("db1", true, said)
	by.Outcome.Delegated = "web1"
	h.hide(own)
	h.hide(by)
	if string(own.Outcome.Result) != said {
		t.Errorf("words of db1 are hidden: %s", own.Outcome.Result)
	}
	if strings.Contains(string(by.Outcome.Result), "sesame") {
		t.Errorf("words of web1 are not: %s", by.Outcome.Result)
	}
	loop := doneWith("db1", true, `{"results": [{"msg": "sesame-open", "_ansible_delegated_vars": {"ansible_delegated_host": "web1"}}, `+
		`{"msg": "sesame-open", "_ansible_delegated_vars": {"ansible_delegated_host": "web2"}}], "msg": "sesame-open"}`)
	loop.Outcome.Loop, loop.Outcome.Delegated = true, "{{ item }}"
	h.hide(loop)
	if got := string(loop.Outcome.Result); strings.Count(got, "sesame-open") != 2 || strings.Count(got, mask.Placeholder) != 1 {
		t.Errorf("of a loop over hosts is shown %s", got)
	}
}

// TestNothingIsHiddenBefore222: a play without a masker.
func TestNothingIsHiddenBefore222(t *testing.T) {
	const res = `{"msg": "sesame-open"}`
	e := doneWith("h1", false, res)
	newHider(nil).hide(e)
	if string(e.Outcome.Result) != res {
		t.Errorf("%s", e.Outcome.Result)
	}
}

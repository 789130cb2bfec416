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

// TestSecretsOfAnAgentAreHiddenInItsOwnResults: what the controller knows is hidden in all results, what an agent says is secret in those of its host.
func TestSecretsOfAnAgentAreHiddenInItsOwnResults(t *testing.T) {
	all := &mask.Masker{}
	all.Add("of all hosts")
	h := &hider{all, map[string]*mask.Masker{}}
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

// TestNothingIsHiddenBefore222: a play without a masker.
func TestNothingIsHiddenBefore222(t *testing.T) {
	const res = `{"msg": "sesame-open"}`
	e := doneWith("h1", false, res)
	(&hider{}).hide(e)
	if string(e.Outcome.Result) != res {
		t.Errorf("%s", e.Outcome.Result)
	}
}

package keeper

import (
	"encoding/json"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
)

func came(host, task string, s wire.Status, text string) view.Result {
	return view.Result{Host: host, Task: view.Task{Name: task, Check: true},
		Outcome: &wire.Outcome{Status: s, Result: json.RawMessage(text)}}
}

func TestAnAccountTellsChangesFailuresAndBlindness(t *testing.T) {
	a := NewTurnResult()
	a.Done(came("web1", "fine", wire.OK, `{}`))
	a.Done(came("web1", "conf", wire.Changed, `{"changed": true, "diff": {"before": "a\n", "after": "b\n", `+
		`"after_header": "/home/x/.ansible/tmp/ansible-local-12ab/tmpq1"}}`))
	a.Done(came("web1", "shell", wire.Skipped, `{"msg": "Command would have run if not in check mode", "skipped": true}`))
	a.Done(came("web1", "when", wire.Skipped, `{"skip_reason": "Conditional result was False"}`))
	a.Done(came("web1", "empty loop", wire.Skipped, `{"skipped_reason": "No items in the list", "results": []}`))
	o := a.Of("web1")
	if o.Status != Done || o.Tasks != 5 || len(o.Changes) != 1 || len(o.Blind) != 1 || o.Blind[0] != "shell" {
		t.Errorf("%+v", o)
	}
	if d := o.Changes[0].Diff; !strings.Contains(d, "-a") || !strings.Contains(d, "+b") || strings.Contains(d, "tmpq1") {
		t.Errorf("the diff is %q", d)
	}
	a.Done(came("web1", "install", wire.StatusFailed, `{"msg": "no space left"}`))
	if o := a.Of("web1"); o.Status != Broke || o.Why != "install: no space left" {
		t.Errorf("%+v", o)
	}
	if o := a.Of("db1"); o.Status != Done || o.Tasks != 0 {
		t.Errorf("of a host without results: %+v", o)
	}
}

func TestAnAccountTellsAbsentFromLost(t *testing.T) {
	a := NewTurnResult()
	a.Done(came("web1", "Gathering Facts", wire.StatusUnreachable, `{"msg": "not connected", "unreachable": true}`))
	a.Done(came("web2", "fine", wire.OK, `{}`))
	a.Done(came("web2", "next", wire.StatusUnreachable, `{"msg": "gone", "unreachable": true}`))
	if o := a.Of("web1"); o.Status != Away || o.Why != "not connected" {
		t.Errorf("%+v", o)
	}
	if o := a.Of("web2"); o.Status != Lost || o.Why != "gone" {
		t.Errorf("%+v", o)
	}
}

func TestAnAccountHidesWhatNoLogHides(t *testing.T) {
	a := NewTurnResult()
	r := came("web1", "password", wire.Changed, `{"changed": true, "diff": {"before": "", "after": "S3CRET\n"}}`)
	r.Outcome.NoLog = true
	a.Done(r)
	item := came("web1", "passwords", wire.Changed, `{"changed": true, "diff": {"before": "", "after": "S3CRET\n"}}`)
	item.Task.NoLog = true
	a.ItemDone(item)
	a.Done(item)
	text, err := json.Marshal(a.Of("web1"))
	if err != nil || strings.Contains(string(text), "S3CRET") || len(a.Of("web1").Changes) != 2 {
		t.Errorf("%s, %v", text, err)
	}
}

func TestIgnoredAndRescuedFailuresAreNone(t *testing.T) {
	a := NewTurnResult()
	for _, change := range []func(*wire.Outcome){func(o *wire.Outcome) { o.Ignored = true },
		func(o *wire.Outcome) { o.Rescued = true }} {
		r := came("web1", "x", wire.StatusFailed, `{"msg": "no"}`)
		change(r.Outcome)
		a.Done(r)
	}
	if o := a.Of("web1"); o.Status != Done {
		t.Errorf("%+v", o)
	}
}

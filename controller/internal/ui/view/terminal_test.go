package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"hark/agent/wire"
)

// On a terminal nothing that a host calls something makes a line of its own, in whichever view; in a file every byte
// is there.
func TestNamesMakeNoLinesOnATerminal(t *testing.T) {
	const forged = "x\nok: [forged]"
	result := func(more map[string]any) []byte {
		all := map[string]any{"changed": false, "_ansible_item_label": forged, "_ansible_delegated_vars": map[string]any{"ansible_host": forged}}
		for k, v := range more {
			all[k] = v
		}
		raw, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, name := range []string{"default", "minimal", "oneline", "yaml", "debug", "unixy", "skippy"} {
		for _, terminal := range []bool{true, false} {
			var out bytes.Buffer
			d, err := NewDisplay(DisplayOptions{Out: &out, Err: &out, Verbosity: 2})
			if err != nil {
				t.Fatal(err)
			}
			v, err := New(name, Options{Display: d, HostStarts: true})
			if err != nil {
				t.Fatal(err)
			}
			if terminal {
				v = OnTerminal(v)
			}
			task := Task{ID: "1", Name: forged, Action: "ping"}
			v.PlayStart(Play{Name: forged, Strategy: "linear"})
			v.TaskStart(task)
			v.HostStart(task, "web1")
			for _, status := range []wire.Status{wire.OK, wire.Changed, wire.StatusFailed, wire.Skipped, wire.StatusUnreachable} {
				r := Result{Task: task, Host: "web1", Name: forged, Outcome: &wire.Outcome{Status: status, Delegated: forged, Attempts: 1, Retries: 3,
					Result: result(map[string]any{"failed": status == wire.StatusFailed, "msg": "m"})}}
				v.ItemDone(r)
				v.Retry(r)
				v.Done(r)
				v.Progress(r)
			}
			v.Included(task, Include{Path: forged, Label: forged, Hosts: []string{"web1"}})
			v.Notified(forged, "web1")
			if terminal && strings.Contains(out.String(), "\nok: [forged]") {
				t.Errorf("%s:\n%s", name, &out)
			}
			if !terminal && name == "default" && !strings.Contains(out.String(), "\nok: [forged]") {
				t.Errorf("in a file the name is another:\n%s", &out)
			}
		}
	}
}

package record

import (
	"encoding/json"
	"strings"
	"testing"

	"hark/controller/internal/ui/view"
	"hark/modules/mask"
	"hark/playbook/deprecation"
)

// TestLinesHaveNoSecrets: whatever a line says is written without them, and names of hosts stay.
func TestLinesHaveNoSecrets(t *testing.T) {
	var m mask.Masker
	m.Add("sesame-open")
	const s = "of sesame-open"
	raw := json.RawMessage(`{"sesame-open": ["of sesame-open"]}`)
	l := &Line{
		Kind: KindDone, Result: raw, Name: s, Text: s, Outcome: &Outcome{Label: s},
		Origins: []Origin{{At: view.Spot{Text: s, Key: s, File: s}, Text: s}},
		Play:    &Play{Name: s}, Step: &Step{Name: s, Args: raw}, Files: &Include{Path: s, Label: s},
		Stats:  &Stats{Custom: map[string]json.RawMessage{"h": raw}},
		Notice: &deprecation.Notice{Text: s, Help: s, Origin: s},
	}
	l.hide(&m)
	foot := Foot{Error: s, Tasks: []TaskSum{{Name: s}}}
	foot.hide(&m)
	text, err := json.Marshal([]any{l, foot})
	if err != nil || strings.Contains(string(text), "sesame") || strings.Count(string(text), mask.Placeholder) != 22 {
		t.Errorf("%d, %v: %s", strings.Count(string(text), mask.Placeholder), err, text)
	}
	host := &Line{Kind: KindHost, Name: "sesame-open"}
	if host.hide(&m); host.Name != "sesame-open" {
		t.Errorf("the host is called %q", host.Name)
	}
}

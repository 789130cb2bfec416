package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hark/agent/wire"
)

// What hosts say is shown in memory that goes with its size: text that wraps badly, diffs of which every line
// differs, values that are deep and wide. Each of these took minutes or gigabytes.
func TestWhatHostsSayIsShownInProportion(t *testing.T) {
	const size = 1 << 20
	lines := func(form string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	quote := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	deep := strings.Repeat("[", 400) + strings.Repeat("1,", size/4) + "1" + strings.Repeat("]", 400)
	for name, result := range map[string]string{
		"a warning of one word":     quote(map[string]any{"warnings": []string{strings.Repeat("a", size-100)}}),
		"a warning of hyphens":      quote(map[string]any{"warnings": []string{"a" + strings.Repeat("-", size-100)}}),
		"a warning of blanks":       quote(map[string]any{"warnings": []string{strings.Repeat(" ", size-100) + "a"}}),
		"a warning beyond wrapping": quote(map[string]any{"warnings": []string{strings.Repeat("a b-c", size)}}),
		"diffs":                     quote(map[string]any{"diff": []any{map[string]string{"before": lines("a\n%d\n", size/16), "after": lines("a\n-%d\n", size/16)}}}),
		"depth":                     `{"_ansible_verbose_always": true, "x": ` + deep + `}`,
	} {
		for _, format := range []string{"json", "yaml"} {
			var out bytes.Buffer
			d, err := NewDisplay(DisplayOptions{Out: &out, Err: &out})
			if err != nil {
				t.Fatal(err)
			}
			v, err := newDefault(Options{Display: d, ResultFormat: format, DiffContext: 3})
			if err != nil {
				t.Fatal(err)
			}
			v.Done(Result{Host: "web1", Task: Task{ID: "1", Name: "t", Diff: true}, Outcome: &wire.Outcome{Status: wire.OK, Result: []byte(result)}})
			if out.Len() > 40*len(result) {
				t.Errorf("%s as %s: %d MB of %d KB", name, format, out.Len()>>20, len(result)>>10)
			}
		}
	}
}

// A diff that is too large to be the shortest is one all the same.
func TestLargeDiffsReplaceWhatDiffers(t *testing.T) {
	before, after := []string{"same\n", "a\n", "b\n", "end\n"}, []string{"same\n", "b\n", "c\n", "end\n"}
	budget := 0
	got := strings.Join(unified(before, after, "before", "after", 3, &budget), "")
	want := "--- before\n+++ after\n@@ -1,4 +1,4 @@\n same\n-a\n-b\n+b\n+c\n end\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	budget = 0
	if got := unified(before, before, "before", "after", 3, &budget); len(got) != 0 {
		t.Errorf("no difference: %q", got)
	}
}

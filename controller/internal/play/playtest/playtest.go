// Package playtest is what tests of plays share: a view that writes down what it is shown, and cases that are kept as
// text.
package playtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/playbook/plan"
)

var update = flag.Bool("update", false, "rewrite the expectations")

// Script is a view that writes down what it is shown.
type Script struct {
	view.Silent
	Lines []string
}

// Add writes a line.
func (s *Script) Add(format string, a ...any) { s.Lines = append(s.Lines, fmt.Sprintf(format, a...)) }

// PlayStart implements view.View.
func (s *Script) PlayStart(p view.Play) { s.Add("PLAY %s: %s", p.Name, strings.Join(p.Hosts, " ")) }

// NoHostsMatched implements view.View.
func (s *Script) NoHostsMatched() { s.Add("no hosts matched") }

// NoHostsRemaining implements view.View.
func (s *Script) NoHostsRemaining() { s.Add("NO MORE HOSTS LEFT") }

// TaskStart implements view.View.
func (s *Script) TaskStart(t view.Task) { s.Add("TASK %s", t.Name) }

// ItemDone implements view.View.
func (s *Script) ItemDone(r view.Result) {
	s.Add("  %s: %s (item %s)", r.Host, r.Outcome.Status, r.Outcome.Label)
}

// Retry implements view.View.
func (s *Script) Retry(r view.Result) { s.Add("  %s: retry", r.Host) }

// Done implements view.View.
func (s *Script) Done(r view.Result) { s.Add("  %s: %s%s", r.Host, r.Outcome.Status, mark(r.Outcome)) }

// Included implements view.View.
func (s *Script) Included(t view.Task, in view.Include) {
	s.Add("included: %s for %s", in.Path, strings.Join(in.Hosts, ", "))
}

// Progress implements view.View.
func (s *Script) Progress(r view.Result) { s.Add("  %s: progress", r.Host) }

// Notified implements view.View.
func (s *Script) Notified(handler, host string) {
	s.Add("  notified %s for %s", handler, host)
}

// Stats implements view.View.
func (s *Script) Stats(st view.Stats) {
	for _, h := range st.Hosts {
		c := st.Counts[h]
		s.Add("%s: ok=%d changed=%d unreachable=%d failed=%d skipped=%d rescued=%d ignored=%d",
			h, c.OK, c.Changed, c.Unreachable, c.Failed, c.Skipped, c.Rescued, c.Ignored)
	}
}

func mark(o *wire.Outcome) string {
	switch {
	case o.Ignored:
		return " ignored"
	case o.Rescued:
		return " rescued"
	}
	return ""
}

// Cases holds what a file says against what comes of it. A case is input and, indented by a tab, the expectations,
// which again writes again.
func Cases(t *testing.T, pattern string, again func(t *testing.T, text string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := again(t, string(raw))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(raw), got); diff != "" {
				t.Errorf("came out differently (-want +got):\n%s", diff)
			}
		})
	}
}

// Steps makes steps of words such as "4", "4!" (gated), "4:include", "4!:meta".
func Steps(words []string) []plan.Node {
	var nodes []plan.Node
	for _, w := range words {
		id, kind, _ := strings.Cut(w, ":")
		s := &plan.Step{ID: plan.ID(strings.TrimSuffix(id, "!")), Kind: plan.Task, Gate: strings.HasSuffix(id, "!")}
		if kind != "" {
			s.Kind = plan.Kind(kind)
		}
		s.Name = "t" + string(s.ID)
		nodes = append(nodes, plan.Node{Step: s})
	}
	return nodes
}

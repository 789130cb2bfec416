package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/scale.svg")

// TestChartShowsThePage: docs/scale.svg is made from the figures of docs/scale.md.
func TestChartShowsThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("../../..", docs))
	if err != nil {
		t.Fatal(err)
	}
	want, chart := chartText(string(page)), filepath.Join("../../..", chartOf(docs))
	if *update {
		if err := os.WriteFile(chart, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(chart); err != nil || string(got) != want {
		t.Errorf("%s is stale (%v): go test ./packaging/bench/swarm -update makes it anew", chart, err)
	}
	if n := strings.Count(want, "<rect x="); n < 8 {
		t.Errorf("%d bars", n)
	}
}

// A work that was not done in time has no bar.
func TestBarsAreOfOneWork(t *testing.T) {
	page := "| agents | work | wall s |\n|---|---|---|\n| 10 | ping | 1.5 |\n| 10 | first ping | 2.5 |\n| 20 | ping: not done within 2m0s | 120.0 |\n| 30 | ping | 3 |\n"
	got := bars(page, "ping", 3)
	if len(got) != 2 || got[0] != (bar{"10", 1.5}) || got[1] != (bar{"30", 3}) {
		t.Errorf("%v", got)
	}
}

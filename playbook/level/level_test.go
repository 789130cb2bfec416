package level

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/playbook/plan"
)

var update = flag.Bool("update", false, "write docs/levels.md")

const page = "../../docs/levels.md"

func TestPageIsFresh(t *testing.T) {
	want := Page()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/levels.md is stale; go test ./playbook/level -update makes it anew")
	}
}

func TestLevelsOfReleases(t *testing.T) {
	for version, want := range map[string]plan.Level{
		"2.14.18": plan.Level214, "2.18.0": plan.Level214, "2.19.0b1": plan.Level219, "2.20.4": plan.Level220,
		"2.21.0rc1": plan.Level221,
		"2.22.0b2":  plan.Level222, "2.23.1": plan.Level222, "": plan.Level222, "3.0": plan.Level222,
	} {
		if got := OfCore(version); got != want {
			t.Errorf("%s is of level %s, want %s", version, got, want)
		}
	}
}

func TestParseNamesTheChoices(t *testing.T) {
	for _, l := range plan.Levels() {
		if got, err := Parse(l.String()); err != nil || got != l {
			t.Errorf("%s: %v, %v", l, got, err)
		}
	}
	_, err := Parse("2.17")
	if err == nil || !strings.Contains(err.Error(), "2.14, 2.19, 2.20, 2.21 and 2.22") {
		t.Errorf("got %v", err)
	}
}

func TestReleaseOfACore(t *testing.T) {
	dir := t.TempDir()
	if got := CoreIn(dir); got != "" {
		t.Errorf("got %q of an empty directory", got)
	}
	text := "from __future__ import annotations\n__version__ = '2.19.11'\n__author__ = 'x'\n"
	if err := os.WriteFile(filepath.Join(dir, "release.py"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := CoreIn(dir); got != "2.19.11" {
		t.Errorf("got %q", got)
	}
}

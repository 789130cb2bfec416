//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// before is the version whose programs are tried with those of now: the last one with plans of version 1. A release takes its place.
const before = "b2dfb4adc77cf736e55afb8981c2bbdd3be200ce"

// TestVersionsThatTalk: controllers and agents of this version and of the one before either work together or say which of them to upgrade.
func TestVersionsThatTalk(t *testing.T) {
	now, then := built(t), buildBefore(t)
	for name, tc := range map[string]struct {
		programs
		says string // where they do not work together
	}{
		"agents of before":       {programs{now, then}, "the agent of h1 does not take the plan: it is of an older version than this controller: hark agents upgrade"},
		"a controller of before": {programs{then, now}, "the agent of h1 does not take the plan: refused: the controller is of an older version than the agent, and cannot steer it"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFleetOf(t, tc.programs, "h1") // agents are enrolled and seen across versions
			cmd := exec.Command(filepath.Join(tc.hark, "hark"), "run", "h1", "-i", "h1,", "-m", "command", "-a", "echo done")
			cmd.Env = append(os.Environ(), f.env()...)
			out, err := cmd.CombinedOutput()
			if worked := err == nil && strings.Contains(string(out), "done"); !worked && !strings.Contains(string(out), tc.says) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// buildBefore builds the programs of before out of the history of this checkout, and gives their directory.
func buildBefore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := exec.Command("sh", "-c", `git -c safe.directory='*' archive "$0" | tar x -C "$1"`, before, dir)
	source.Dir = "../.."
	if out, err := source.CombinedOutput(); err != nil || !exists(filepath.Join(dir, "go.mod")) {
		t.Fatalf("the history of this checkout does not reach to %s: %v %s", before, err, out)
	}
	for _, path := range []string{"./controller/hark", "./agent/hark-agent"} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin")+"/", path)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", path, err, out)
		}
	}
	return filepath.Join(dir, "bin")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// before is the version whose programs must work with those of now, both ways round. A release takes its place.
const before = "0afe8ac87741e95217cc94dae96b7bcb2be4db5e"

// stranger is the last version with plans of version 1: it need not work with those of now, and then says which of the two to upgrade.
const stranger = "b2dfb4adc77cf736e55afb8981c2bbdd3be200ce"

// TestVersionsThatTalk: agents are enrolled, seen and told what to do across versions, or the message says which of them to upgrade.
func TestVersionsThatTalk(t *testing.T) {
	now, then, long := built(t), buildBefore(t, before), buildBefore(t, stranger)
	for name, tc := range map[string]struct {
		programs
		says string // if they do not work together
	}{
		"agents of before":       {programs{now, then}, ""},
		"a controller of before": {programs{then, now}, ""},
		"agents of long before":  {programs{now, long}, "the agent of h1 does not take the plan: it is of an older version than this controller: hark agents upgrade"},
		"a controller of long before": {programs{long, now},
			"the agent of h1 does not take the plan: refused: the controller is of an older version than the agent, and cannot steer it"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFleetOf(t, tc.programs, "h1")
			cmd := exec.Command(filepath.Join(tc.hark, "hark"), "run", "h1", "-i", "h1,", "-m", "command", "-a", "echo done")
			cmd.Env = append(append(os.Environ(), f.env()...), "HARK_ANSIBLE=2.14")
			out, err := cmd.CombinedOutput()
			worked := err == nil && strings.Contains(string(out), "done")
			if refused := tc.says != "" && strings.Contains(string(out), tc.says); !worked && !refused {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// buildBefore builds the programs of a commit out of the history of this checkout, and gives their directory.
func buildBefore(t *testing.T, commit string) string {
	t.Helper()
	dir := t.TempDir()
	source := exec.Command("sh", "-c", `git -c safe.directory='*' archive "$0" | tar x -C "$1"`, commit, dir)
	source.Dir = "../.."
	if out, err := source.CombinedOutput(); err != nil || !exists(filepath.Join(dir, "go.mod")) {
		t.Fatalf("the history of this checkout does not reach to %s: %v %s", commit, err, out)
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

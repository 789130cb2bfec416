//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestACollectedRunHasEveryResult kills the controller in the middle of plays. After collect the record has each task
// that the hosts have done, with its output, and nobody says that something may be missing.
func TestACollectedRunHasEveryResult(t *testing.T) {
	t.Parallel()
	tm := &team{fleet: startFleet(t, "h1", "h2"), t: t, work: t.TempDir()}
	for name, strategy := range map[string]string{"linear": "linear", "free": "free"} {
		var play strings.Builder
		fmt.Fprintf(&play, "- hosts: all\n  gather_facts: false\n  strategy: %s\n  tasks:\n", strategy)
		for i := range 200 {
			fmt.Fprintf(&play, "  - name: t%03d\n    shell: echo %s-%03d-done >> %s/$HARK_HOST; echo %s-%03d-done\n"+
				"    environment: {HARK_HOST: '{{ inventory_hostname }}'}\n", i, name, i, tm.work, name, i)
		}
		writeTree(t, tm.work, map[string]string{name + ".yml": play.String()})
		cmd := exec.Command(filepath.Join(built(t), "hark"), "play", "-v", "-i", "hark:", name+".yml")
		cmd.Dir = tm.work
		cmd.Env = append(os.Environ(), "HARK_HOME="+tm.home, "HARK_BROKER="+tm.broker, "HARK_LEASE=3")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, "task 40", func() bool {
			text, _ := os.ReadFile(filepath.Join(tm.work, "h2"))
			return strings.Contains(string(text), name+"-040-done")
		})
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out := ""
		for began := time.Now(); !strings.Contains(out, "has an end now"); {
			var errs string
			out, _, errs = tm.try(tm.home, "runs", "collect", "last", "--wait", "30s")
			if strings.Contains(out+errs, "may be missing") || time.Since(began) > 90*time.Second {
				t.Fatalf("%s: %s%s", name, out, errs)
			}
		}
		shown, _, _ := tm.try(tm.home, "runs", "show", "last")
		for _, host := range []string{"h1", "h2"} {
			text, err := os.ReadFile(filepath.Join(tm.work, host))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.FieldsSeq(string(text)) {
				if !strings.HasPrefix(line, name) {
					continue
				}
				told := 0
				for _, l := range strings.Split(shown, "\n") {
					if strings.Contains(l, "["+host+"]") && strings.Contains(l, line) {
						told++
					}
				}
				if told != 1 {
					t.Errorf("%s was done on %s and is %d times on record", line, host, told)
				}
			}
		}
	}
}

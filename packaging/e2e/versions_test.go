//go:build e2e

package e2e

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// before is a commit whose programs must work with those of now, both ways round, as long as there is no release: see
// previous.
const before = "0afe8ac87741e95217cc94dae96b7bcb2be4db5e"

// stranger is the last version with plans of version 1: it need not work with those of now, and then says which of
// the two to upgrade.
const stranger = "b2dfb4adc77cf736e55afb8981c2bbdd3be200ce"

// TestVersionsThatTalk: agents are enrolled, seen and told what to do across versions, or the message says which of
// them to upgrade.
func TestVersionsThatTalk(t *testing.T) {
	now, then, long := built(t), buildBefore(t, previous(t)), buildBefore(t, stranger)
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

// previous is the tag of the newest release before this version, or a commit where the history has no release yet.
func previous(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../release/version", "tag").CombinedOutput()
	if err != nil {
		t.Fatalf("the release before this version: %v: %s", err, out)
	}
	if tag := strings.TrimSpace(string(out)); tag != "" {
		return tag
	}
	t.Logf("the history has no tag v*: there is no release before this version, commit %s takes its place", before)
	return before
}

// TestAHostGoesToThisVersionAndBack: an agent's state and an operator's records serve the release before and this
// version, in turns. The last step is an upgrade that the operator orders.
func TestAHostGoesToThisVersionAndBack(t *testing.T) {
	now, then := built(t), buildBefore(t, previous(t))
	f := startFleetOf(t, programs{then, then}, "h1")
	works := func(bin, what string) {
		t.Helper()
		if out := hark(t, f, bin, "run", "h1", "-i", "h1,", "-m", "command", "-a", "echo "+what); !strings.Contains(out, what) {
			t.Errorf("%s: %s", what, out)
		}
		var listed []struct{ Head struct{ Run string } }
		if err := json.Unmarshal([]byte(hark(t, f, bin, "runs", "list", "--json")), &listed); err != nil || len(listed) == 0 {
			t.Fatalf("%s: %d runs on record, %v", what, len(listed), err)
		}
		for _, run := range listed { // also those that the other version has recorded
			if out := hark(t, f, bin, "runs", "show", run.Head.Run); !strings.Contains(out, "h1") {
				t.Errorf("%s: run %s is shown as %q", what, run.Head.Run, out)
			}
		}
	}
	t.Setenv("HARK_ANSIBLE", "2.14")
	works(then, "first")
	f.replace(t, "h1", programs{now, now})
	works(now, "forward")
	works(then, "forward-with-the-old-controller")
	f.replace(t, "h1", programs{then, then})
	works(then, "back")
	works(now, "back-with-the-new-controller")

	f.upgraded(t, programs{now, then}, filepath.Join(now, "hark-agent"))
	works(now, "upgraded")
}

// upgraded has the operator replace the agent of h1, which ends for it: what the service manager does elsewhere, the
// test does.
func (f *fleet) upgraded(t *testing.T, p programs, to string) {
	t.Helper()
	own := filepath.Join(t.TempDir(), "hark-agent") // the agent replaces its own program, so it must be a copy
	if out, err := exec.Command("cp", filepath.Join(p.agent, "hark-agent"), own).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
	f.replace(t, "h1", programs{p.hark, filepath.Dir(own)})
	order := exec.Command(filepath.Join(p.hark, "hark"), "agents", "upgrade", "h1", "--agent-binary", to)
	order.Env = append(os.Environ(), f.env()...)
	var said strings.Builder
	order.Stdout, order.Stderr = &said, &said
	if err := order.Start(); err != nil {
		t.Fatal(err)
	}
	_ = f.agents["h1"].Wait() // it ends as soon as its successor lies there
	f.agents["h1"] = start(t, f.work, "h1", own, "run", "--state-dir", filepath.Join(f.work, "h1"))
	if err := order.Wait(); err != nil {
		t.Fatalf("hark agents upgrade: %v: %s", err, said.String())
	}
}

// TestTheVersionIsOne: programs, agents, the doctor, records and the console say the same version.
func TestTheVersionIsOne(t *testing.T) {
	bin := built(t)
	f := startFleet(t, "h1")
	out, err := exec.Command(filepath.Join(bin, "hark-agent"), "--version").Output()
	want := strings.TrimPrefix(strings.TrimSpace(string(out)), "hark-agent ")
	if err != nil || !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9a-z.]+(\+[0-9a-z.]+)?)?$`).MatchString(want) {
		t.Fatalf("hark-agent --version: %q, %v", out, err)
	}
	hark(t, f, bin, "run", "h1", "-i", "h1,", "-m", "ping")
	for _, args := range [][]string{
		{"--version"}, {"version"}, {"agents", "list", "--json"}, {"agents", "show", "h1"}, {"doctor"}, {"runs", "show", "last", "--json"},
	} {
		if out := hark(t, f, bin, args...); !regexp.MustCompile(`[ "]` + regexp.QuoteMeta(want) + `["\s]`).MatchString(out) {
			t.Errorf("hark %s does not say %s:\n%s", strings.Join(args, " "), want, out)
		}
	}
	if foot := consoleFoot(t, bin); !strings.Contains(foot, "hark "+want) {
		t.Errorf("the console does not say %s:\n%s", want, foot)
	}
}

// consoleFoot is the first page of a console without a broker.
func consoleFoot(t *testing.T, bin string) string {
	t.Helper()
	work := t.TempDir()
	start(t, work, "console", filepath.Join(bin, "hark"), "console", "--listen", "127.0.0.1:0", "--data", filepath.Join(work, "data"), "--records", filepath.Join(work, "runs"))
	var at []string
	await(t, "the console", func() bool {
		log, err := os.ReadFile(filepath.Join(work, "console.log"))
		at = regexp.MustCompile(`console ready at (\S+)`).FindStringSubmatch(string(log))
		return err == nil && at != nil
	})
	answer, err := http.Get(at[1])
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(string(page))
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

//go:build e2e

package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// Real Ansible takes about a second for each task, so its answers are kept: answers/LEVEL has a line for each case, with
// a digest of the case and of what Ansible printed, which files it wrote and how it exited. Where hark's digest differs,
// Ansible plays the case again, if it is installed, and the two outcomes are compared in full.
//
//	go test -tags e2e ./packaging/e2e -run TestCases -record     has Ansible play them, and keeps its answers
//	go test -tags e2e ./packaging/e2e -run TestCases -live       uses no answer that was kept
//
// Each day another fourteenth of the cases is played beside Ansible, whatever was kept.
//
// E2E_ORACLES='2.19=/opt/ansible-2.19/bin' names the directories of the commands of other levels.
var (
	record = flag.Bool("record", false, "have Ansible play the cases, and keep its answers")
	only   = flag.String("level", "", "play the cases at this level only")
	live   = flag.Bool("live", false, "have Ansible play every case")
)

// playedLevels are those at which cases are played.
func playedLevels() []string {
	if *only != "" {
		return []string{*only}
	}
	return levels
}

// levels of which answers are kept. The first is that of Debian's ansible-core, which is asked each day.
var levels = []string{"2.14"}

// oracleDir is the directory of the commands of a level, "" where there is none.
func oracleDir(level string) string {
	for _, pair := range strings.Fields(os.Getenv("E2E_ORACLES")) {
		if name, dir, _ := strings.Cut(pair, "="); name == level {
			return dir
		}
	}
	path, err := exec.LookPath("ansible-playbook")
	if err != nil || level != levels[0] {
		return ""
	}
	return filepath.Dir(path)
}

// answers are the digests of a level, by case.
type answers map[string]string

func readAnswers(t *testing.T, level string) answers {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("answers", level))
	if err != nil && !*record {
		t.Fatal(err)
	}
	out := answers{}
	for line := range strings.Lines(string(text)) {
		if name, digest, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			out[name] = digest
		}
	}
	return out
}

func (a answers) write(t *testing.T, level string) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintf(&b, "%s %s\n", name, a[name])
	}
	if err := os.MkdirAll("answers", 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join("answers", level), []byte(b.String()))
}

// digest is that of a case and of what a run of it left, as far as it is compared.
func (c testCase) digest(t *testing.T, of outcome) string {
	t.Helper()
	text, err := json.Marshal(c.compared(of))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	sum.Write(txtar.Format(&txtar.Archive{Comment: c.comment, Files: c.files}))
	sum.Write(text)
	return fmt.Sprintf("%x", sum.Sum(nil)[:16])
}

// isAskedToday reports whether Ansible plays a case today whatever was kept.
func isAskedToday(name string) bool {
	return crc32.ChecksumIEEE([]byte(name))%14 == uint32(time.Now().YearDay()%14)
}

// playLevel plays a case at a level in all its modes.
func (c testCase) playLevel(t *testing.T, level string, kept answers, fleets map[string]*fleet) {
	dir := oracleDir(level)
	if *record {
		if dir != "" {
			kept[c.name] = c.digest(t, c.run(t, oracle(t, dir, c.modes), nil))
		}
		return
	}
	var want *outcome
	ask := func() outcome {
		if want == nil {
			answer := c.run(t, oracle(t, dir, c.modes), nil)
			want = &answer
		}
		return *want
	}
	isKept := !*live && !isAskedToday(c.name)
	reason := c.settings["accepted "+level]
	for _, mode := range c.modes {
		t.Run(mode, func(t *testing.T) {
			env := fleets[mode].env()
			if level != levels[0] {
				env = append(env, "HARK_ANSIBLE="+level)
			}
			got := c.run(t, ours(t, mode), env)
			same := c.digest(t, got) == kept[c.name]
			switch {
			case reason != "" && same:
				t.Errorf("there is no difference any more, but one is accepted: %s", reason)
			case reason != "" || same && (isKept || dir == ""):
			case dir == "":
				t.Errorf("hark differs from what ansible-core %s answered; E2E_ORACLES names no commands to compare it with", level)
			default:
				if !same {
					t.Log("hark differs from the answer that was kept: asking Ansible")
				}
				c.compare(t, ask(), got)
			}
		})
	}
}

// compared is what is compared of an outcome.
func (c testCase) compared(of outcome) outcome {
	of.Stdout = c.ordered(of.Stdout)
	if c.settings["stdout"] == "ignore" {
		of.Stdout = ""
	}
	if c.settings["stderr"] != "compare" {
		of.Stderr = ""
	}
	if len(of.Files) == 0 {
		of.Files = nil
	}
	return of
}

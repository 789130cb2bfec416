//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// screens are the views that take the screen for themselves, as far as the n-th case is played under them: the usual
// one, and two of the others in turn. With -live it is all of them.
func screens(n int) []string {
	others := []string{"json", "yaml", "minimal", "oneline", "debug", "unixy", "skippy"}
	if *live {
		return append(others, "default")
	}
	return []string{"default", others[n%len(others)], others[(n+3)%len(others)]}
}

// secrets of a case are what its files of passwords have, and what its task under no_log says.
func (c testCase) secrets() []string {
	out := []string{"hunter2"}
	for _, f := range c.files {
		name := filepath.Base(f.Name)
		if text := strings.TrimSpace(string(f.Data)); text != "" && (strings.HasPrefix(name, "pw") || strings.Contains(name, "pass")) && !strings.Contains(text, "\n") {
			out = append(out, text)
		}
	}
	return out
}

// TestRecordsShowRunsAgain plays every case under some views and shows it again from its record: stdout is the same,
// byte for byte.
func TestRecordsShowRunsAgain(t *testing.T) {
	paths, err := filepath.Glob("cases/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases found (%v)", err)
	}
	for n, path := range paths {
		c := readCase(t, path)
		if c.lines != nil || !slices.Contains(c.modes, "local") || c.settings["record"] == "other" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, screen := range screens(n) {
				t.Run(screen, func(t *testing.T) { showsAgain(t, c, screen) })
			}
		})
	}
}

// showsAgain plays a case and holds what it printed against what its record shows.
func showsAgain(t *testing.T, c testCase, screen string) {
	r := c.prepare(t, ours(t, "local"), []string{"ANSIBLE_STDOUT_CALLBACK=" + screen})
	var stdout, stderr bytes.Buffer
	r.cmd.Stdout, r.cmd.Stderr = &stdout, &stderr
	runLimited(t, r.cmd)
	runs := filepath.Join(r.home, ".config", "hark", "runs")
	records, _ := filepath.Glob(filepath.Join(runs, "*", "*.zst"))
	if len(records) == 0 { // it ended before it was a run
		return
	}
	show := exec.Command(filepath.Join(filepath.Dir(r.cmd.Path), "..", "hark"), "runs", "show", "last")
	show.Dir, show.Env = r.cmd.Dir, r.cmd.Env
	var again, said bytes.Buffer
	show.Stdout, show.Stderr = &again, &said
	if err := show.Run(); err != nil {
		t.Fatalf("hark runs show: %v\n%s", err, said.String())
	}
	if diff := cmp.Diff(factless(stdout.String()), factless(again.String())); diff != "" {
		t.Errorf("the record shows another screen (-run +record):\n%s", diff)
	}
	for _, record := range records {
		text := unpacked(t, record)
		for _, secret := range c.secrets() {
			if strings.Contains(text, secret) && !strings.Contains(stdout.String()+stderr.String(), secret) {
				t.Errorf("the record has %q, which nobody was shown", secret)
			}
		}
	}
}

// factless is a screen without facts, which are in no record: JSON up to the brace that closes it, YAML as far as it
// is indented.
func factless(text string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, `"ansible_facts": {`)
		out.WriteString(before)
		if !found {
			break
		}
		depth, end := 1, 0
		for quoted := false; end < len(rest) && depth > 0; end++ {
			switch c := rest[end]; {
			case c == '\\':
				end++
			case c == '"':
				quoted = !quoted
			case !quoted && c == '{':
				depth++
			case !quoted && c == '}':
				depth--
			}
		}
		text = strings.TrimLeft(strings.TrimPrefix(rest[min(end, len(rest)):], ","), " \n")
	}
	var lines []string
	within := -1
	for line := range strings.SplitSeq(out.String(), "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if within >= 0 && (indent > within || strings.HasPrefix(line[indent:], "- ") && indent >= within) {
			continue
		}
		if within = -1; strings.HasPrefix(line[indent:], "ansible_facts:") {
			within = indent
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// unpacked are the lines of a record.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

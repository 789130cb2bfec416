//go:build hostile

package hostile

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	levels "hark/playbook/level"
)

// ansibles are the ansible-playbook of real Ansibles: that of the machine, and those that HOSTILE_ANSIBLES names,
// separated by colons.
func ansibles() []string {
	var all []string
	if path, err := exec.LookPath("ansible-playbook"); err == nil {
		all = append(all, path)
	}
	return append(all, strings.FieldsFunc(os.Getenv("HOSTILE_ANSIBLES"), func(r rune) bool { return r == ':' })...)
}

var coreVersion = regexp.MustCompile(`\[core (\d+\.\d+)`)

// real runs a program of Ansible in the directory of a project.
func (c *cage) real(program, dir string, args ...string) outcome {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Minute) // one warm run; a busy machine takes long
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Env = append(cmd.Env, "ANSIBLE_NOCOLOR=1", "ANSIBLE_LOCALHOST_WARNING=0", "LANG=C.UTF-8", "ANSIBLE_FORKS=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("%s: %v, %v\n%s", program, err, ctx.Err(), &errs)
	}
	return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), errs: errs.String()}
}

// beside are the sinks that real Ansible plays too: those that are quick there, and mean the same on both.
func beside() []sink {
	return slices.DeleteFunc(written(), func(s sink) bool {
		return s.alone || strings.HasPrefix(s.name, "met: ") || strings.HasPrefix(s.name, "variable ")
	})
}

var said = regexp.MustCompile(`(?m)^(ok|changed|skipping|failed|fatal): \[[^\]]*\]`)

// fates are what became of each case, by its number, and what it printed of a message.
func fates(out string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(out, "\nTASK [") {
		name, rest, _ := strings.Cut(part, "] ***")
		if !strings.HasPrefix(name, "case ") {
			continue
		}
		fate := strings.Join(said.FindAllString(rest, -1), ", ")
		for line := range strings.Lines(rest) {
			if strings.HasPrefix(line, `    "msg": "`) && !strings.Contains(fate, "fa") {
				fate += " " + strings.TrimSpace(line)
			}
		}
		all[name] = fate
	}
	return all
}

// The real ansible-core of a level runs none of the canaries either, and prints of them what hark prints.
func TestAnsibleRunsNoForeignTextsEither(t *testing.T) {
	programs := ansibles()
	if len(programs) == 0 {
		t.Skip("needs ansible-core, which .ci/run installs")
	}
	all := cases(beside())
	dir := perches(t, len(all))
	from := source{name: "stdout_lines", tasks: stdout, at: "said.stdout_lines[NUM]"}
	for _, program := range programs {
		t.Run(program, func(t *testing.T) {
			c := newCage(t, dir, oldest())
			version := coreVersion.FindStringSubmatch(c.real(program, c.dir, "--version").out)
			if version == nil {
				t.Fatalf("%s tells no version", program)
			}
			if c.level = version[1]; !slices.Contains(levels.Names(), c.level) {
				t.Skipf("%s is an ansible-core whose level hark does not have, it has 2.14 to 2.22: %s", program, c.level)
			}
			marks := t.TempDir()
			c.env = append(c.env, "CANARIES="+marks)
			p := caged(from, all)
			theirs := c.real(program, c.lay(p), "-i", "inventory", "site.yml")
			for _, n := range marksIn(t, marks) {
				t.Errorf("Ansible runs a foreign text: %s", all[n])
			}
			ours := c.loose(from, p)
			ours.silent(t, all)
			was, is := fates(theirs.out), fates(ours.out)
			if len(was) < len(all) {
				t.Errorf("Ansible played %d of %d cases: %s%s", len(was), len(all), theirs.out[max(0, len(theirs.out)-2000):], theirs.errs)
			}
			for _, name := range slices.Sorted(maps.Keys(was)) {
				if was[name] != is[name] {
					t.Errorf("%s: Ansible %q, hark %q: %s", name, was[name], is[name], taskOf(all, name))
				}
			}
		})
	}
}

// taskOf is the case of a name.
func taskOf(all []singing, name string) string {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "case "))
	if err != nil || n >= len(all) {
		return name
	}
	return all[n].name + ": " + all[n].tasks
}

package builtin

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

const (
	nothingDone   = "\n0 upgraded, 0 newly installed"
	aptitudeIdle  = "\n\nNo packages will be installed, upgraded, or removed."
	policyProgram = "/usr/sbin/policy-rc.d"
)

// environ is what apt and dpkg need to ask nobody anything and to speak one language.
var environ = []string{"DEBIAN_FRONTEND=noninteractive", "DEBIAN_PRIORITY=critical", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
	"LC_MESSAGES=C.UTF-8", "LC_CTYPE=C.UTF-8"}

// act runs a command line that changes packages, without a shell: names are the user's. While another apt holds the
// lock it is tried again, until the lock's time-out.
func (a *apt) act(line string) (modules.Output, error) {
	argv, err := shlex.Split(line)
	if err != nil {
		return modules.Output{}, err
	}
	restore, err := a.policy()
	if err != nil {
		return modules.Output{}, err
	}
	defer restore()
	for {
		out, err := tool.Exec(a.ctx, a.env, modules.Command{Argv: argv, Env: environ})
		if err != nil || out.Rc == 0 || !strings.Contains(string(out.Stderr), "Could not get lock") ||
			time.Now().After(a.deadline) {
			return out, err
		}
		if err := pause(a, time.Second); err != nil {
			return out, err
		}
	}
}

func pause(a *apt, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-a.ctx.Done():
		return a.ctx.Err()
	}
}

// ask runs a tool that only looks.
func (a *apt) ask(argv ...string) (modules.Output, error) {
	return tool.Exec(a.ctx, a.env, modules.Command{Argv: argv, Env: environ})
}

// policy puts a policy-rc.d in place that answers what policy_rc_d says; restore puts the old one back.
func (a *apt) policy() (restore func(), err error) {
	if a.args.PolicyRC == nil || a.env.Check {
		return func() {}, nil
	}
	before, readErr := os.ReadFile(policyProgram)
	if readErr != nil && !os.IsNotExist(readErr) {
		return nil, fmt.Errorf("cannot read %s: %w", policyProgram, readErr)
	}
	text := fmt.Sprintf("#!/bin/sh\nexit %d\n", *a.args.PolicyRC)
	if err := os.WriteFile(policyProgram, []byte(text), 0o755); err != nil {
		return nil, fmt.Errorf("cannot set %s: %w", policyProgram, err)
	}
	return func() {
		if readErr != nil {
			os.Remove(policyProgram)
			return
		}
		if err := os.WriteFile(policyProgram, before, 0o755); err != nil {
			a.env.Warn("cannot put %s back: %v", policyProgram, err)
		}
	}, nil
}

// dpkgOptions returns the options for dpkg as apt-get takes them.
func (a *apt) dpkgOptions() string {
	var words []string
	for _, option := range strings.Split(a.args.DpkgOptions, ",") {
		words = append(words, fmt.Sprintf(`-o "Dpkg::Options::=--%s"`, option))
	}
	return strings.Join(words, " ")
}

// when returns the word if it is wanted, else nothing: Ansible's command lines keep a place for each.
func when(wanted bool, word string) string {
	if wanted {
		return word
	}
	return ""
}

func (a *apt) aptGet() string { return a.env.LookPath("apt-get") }

// lists are where apt notes that it has fetched its lists.
var lists = []string{"/var/lib/apt/periodic/update-success-stamp", "/var/lib/apt/lists"}

// listsTime returns when the lists were fetched, in seconds of the epoch.
func listsTime() int64 {
	for _, path := range lists {
		if info, err := os.Stat(path); err == nil {
			return info.ModTime().Unix()
		}
	}
	return 0
}

// refresh updates the lists when they are older than asked for; updated says that they are newer now.
func (a *apt) refresh() (updated bool, res modules.Result, err error) {
	if (a.args.UpdateCache == nil || !*a.args.UpdateCache) && a.args.ValidTime == 0 {
		return false, res, nil
	}
	before := listsTime()
	if time.Unix(before, 0).Add(time.Duration(a.args.ValidTime) * time.Second).After(time.Now()) {
		return false, res, nil
	}
	if a.env.Check {
		return true, res, nil
	}
	why := "unknown reason"
	jitter := rand.Float64()
	for try := range a.args.Retries {
		out, err := a.act(a.aptGet() + " update -q")
		if err != nil {
			return false, res, err
		}
		var failed bool
		if failed, why = updateFailed(out); !failed {
			return listsTime() != before, res, nil
		}
		delay := min(float64(int(1)<<min(try, 20)), float64(a.args.RetryDelay)) + jitter
		if err := pause(a, time.Duration(delay*float64(time.Second))); err != nil {
			return false, res, err
		}
	}
	res, err = modules.Fail("Failed to update apt cache: %s", why)
	return false, res, err
}

// partlyFetched is the warning with which apt-get update succeeds although servers did not answer. Ansible, through
// python-apt, fails then and has no reason to tell.
const partlyFetched = "W: Some index files failed to download."

// updateFailed reports whether an update failed, and why in the words of python-apt.
func updateFailed(out modules.Output) (failed bool, why string) {
	var problems []string
	text := string(out.Stderr)
	for _, line := range strings.Split(text, "\n") {
		if kind, rest, ok := strings.Cut(line, ": "); ok && (kind == "E" || kind == "W") {
			failed = failed || kind == "E"
			problems = append(problems, kind+":"+rest)
		}
	}
	switch {
	case failed:
		return true, strings.Join(problems, ", ")
	case out.Rc != 0:
		return true, strings.TrimSpace(text)
	}
	return strings.Contains(text, partlyFetched), "unknown reason"
}

// done returns the result of a command that changes packages.
func (a *apt) done(out modules.Output, changed bool) modules.Result {
	res := modules.Result{Changed: changed,
		Data: value.DictOf("stdout", string(out.Stdout), "stderr", string(out.Stderr), "diff", value.NewDict())}
	if a.env.Diff {
		res.Data.Delete(value.Str("diff"))
		res.Diff = []modules.Diff{{Prepared: planned(string(out.Stdout))}}
	}
	return res
}

func broke(out modules.Output, format string, args ...any) modules.Result {
	return modules.Result{Failed: true, Msg: fmt.Sprintf(format, args...), Data: value.DictOf(
		"stdout", string(out.Stdout), "stderr", string(out.Stderr), "rc", out.Rc,
	)}
}

var summary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+ (packages )?upgraded`) })

// planned returns what apt-get says that it will do: the lines from after the reading of the state to the summary.
func planned(text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	from, to := 0, len(lines)
	for i, line := range lines {
		if line == "Reading state information..." && from == 0 || line == "Resolving dependencies..." {
			from = i + 1
		}
		if summary().MatchString(line) {
			to = i + 1
			break
		}
	}
	return strings.Join(lines[min(from, to):to], "\n")
}

func (a *apt) clean() (modules.Result, error) {
	if a.env.Check {
		return modules.Result{Changed: true, Data: value.DictOf("stdout", "", "stderr", "")}, nil
	}
	out, err := a.ask("apt-get", "clean")
	if err != nil {
		return modules.Result{}, err
	}
	switch {
	case len(out.Stderr) > 0:
		return broke(out, "apt-get clean failed: %s", out.Stderr), nil
	case out.Rc != 0:
		return broke(out, "apt-get clean failed"), nil
	}
	return modules.Result{Changed: true, Msg: string(out.Stdout),
		Data: value.DictOf("stdout", string(out.Stdout), "stderr", "")}, nil
}

func (a *apt) cleanup(operation string) (modules.Result, error) {
	line := fmt.Sprintf("%s -y %s %s %s %s %s", a.aptGet(), a.dpkgOptions(), when(a.args.Purge, "--purge"),
		when(a.args.Force, "--force-yes"),
		operation, when(a.env.Check, "--simulate"))
	out, err := a.act(line)
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc != 0 {
		return broke(out, "'apt-get %s' failed: %s", operation, out.Stderr), nil
	}
	sign := map[string]string{"autoremove": "The following packages will be REMOVED", "autoclean": "Del "}[operation]
	return a.done(out, strings.Contains(string(out.Stdout), sign)), nil
}

func (a *apt) upgrade(mode string) (modules.Result, error) {
	aptitude := a.env.LookPath("aptitude")
	useAptGet := a.args.ForceAptGet || aptitude == ""
	program, command, idle := a.aptGet(), "upgrade --with-new-pkgs "+when(a.args.Autoremove, "--auto-remove"), nothingDone
	switch {
	case mode == "dist" || mode == "full" && useAptGet:
		command = "dist-upgrade " + when(a.args.Autoremove, "--auto-remove")
	case !useAptGet && mode == "full":
		program, command, idle = aptitude, "full-upgrade", aptitudeIdle
	case !useAptGet:
		program, command, idle = aptitude, "safe-upgrade", aptitudeIdle
	}
	force := when(a.args.Force, "--force-yes")
	if program == aptitude && a.args.Force {
		force = "--assume-yes --allow-untrusted"
	}
	line := fmt.Sprintf("%s -y %s %s %s %s %s %s %s", program, a.dpkgOptions(), force,
		when(a.args.NoAutoremove, "--no-remove"),
		when(a.args.Unverified, "--allow-unauthenticated"), when(a.args.Downgrade, "--allow-downgrades"),
		when(a.env.Check, "--simulate"), command)
	out, err := a.act(line + a.release())
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc != 0 {
		return broke(out, "'%s %s' failed: %s", program, command, out.Stderr), nil
	}
	res := a.done(out, !strings.Contains(string(out.Stdout), idle))
	res.Msg = string(out.Stdout)
	if !res.Changed {
		res.Diff = nil
		res.Data.Delete(value.Str("diff"))
	}
	return res, nil
}

func (a *apt) release() string {
	if a.args.Release == nil {
		return ""
	}
	return " -t '" + *a.args.Release + "'"
}

package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

// machine is a host as a module asks for it: it is away for some calls after its restart and then has another boot id.
type machine struct {
	boot         string
	away         int // calls that go unanswered after the restart
	tests        int // test commands that fail after it
	commandFails bool
	local        bool
	told         []string
}

func (m *machine) asks() modules.Asks {
	return modules.Asks{Local: func(context.Context) (bool, error) { return m.local, nil }, Host: m.host}
}

func (m *machine) host(_ context.Context, module string, args *value.Dict) (*value.Dict, error) {
	switch module {
	case "ansible.builtin.setup":
		return value.DictOf("ansible_facts", value.DictOf("ansible_distribution", "Debian")), nil
	case "ansible.builtin.find":
		if paths, _ := args.Get("paths"); modules.Repr(paths) == "['/none']" {
			return value.DictOf("files", value.NewList()), nil
		}
		patterns, _ := args.Get("patterns")
		return value.DictOf("files", value.NewList(value.DictOf("path", "/sbin/"+modules.Str(patterns.(*value.List).Items[0])))), nil
	}
	line := args.Text("_raw_params")
	m.told = append(m.told, line)
	if m.boot == "two" && m.away > 0 {
		m.away--
		return value.DictOf("unreachable", true, "msg", "gone"), nil
	}
	switch {
	case strings.HasPrefix(line, "cat "):
		return value.DictOf("rc", int64(0), "stdout", m.boot+"\n"), nil
	case strings.HasPrefix(line, "/"):
		if m.commandFails {
			return value.DictOf("rc", int64(1), "stdout", "o\n", "stderr", "e\n", "failed", true), nil
		}
		m.boot = "two"
		return value.DictOf("unreachable", true), nil
	}
	if m.tests--; m.tests >= 0 {
		return value.DictOf("rc", int64(1)), nil
	}
	return value.DictOf("rc", int64(0)), nil
}

func (m *machine) run(t *testing.T, a rebootArgs) modules.Result {
	t.Helper()
	r := &restart{ctx: t.Context(), env: &modules.Env{Name: "reboot", Asks: m.asks()}, args: a, between: time.Millisecond}
	res, err := r.run()
	if err != nil {
		var ended *modules.Ended
		if !errors.As(err, &ended) {
			t.Fatal(err)
		}
		return ended.Result
	}
	return res
}

func TestRebootWaitsForAnotherBoot(t *testing.T) {
	m := &machine{boot: "one", away: 3, tests: 2}
	res := m.run(t, rebootArgs{PreDelay: value.Int(130), Msg: value.Str("bye")})
	if !res.Changed || res.Failed || modtest.Entry(res, "rebooted") != true || modtest.Entry(res, "elapsed") != int64(0) {
		t.Errorf("%+v", res)
	}
	want := `cat /proc/sys/kernel/random/boot_id|/sbin/shutdown -r 2 "bye"`
	if got := strings.Join(m.told[:2], "|"); got != want {
		t.Errorf("ran %s", got)
	}
	if m.away != 0 || m.tests >= 0 {
		t.Errorf("it did not wait: %+v", m)
	}
}

func TestRebootNamesWhatFails(t *testing.T) {
	for want, c := range map[string]struct {
		m machine
		a rebootArgs
	}{
		"Reboot command failed. Error was: 'o, e'":                                                     {machine{boot: "one", commandFails: true}, rebootArgs{Command: value.Str("/bin/false now")}},
		"Timed out waiting for last boot time check (timeout=0)":                                       {machine{boot: "one", away: 1 << 20}, rebootArgs{Command: value.Str("/r"), Timeout: value.Int(0)}},
		`Unable to find command "halt" in search paths: ['/none']`:                                     {machine{boot: "one"}, rebootArgs{Command: value.Str("halt"), SearchPaths: value.NewList(value.Str("/none"))}},
		"reboot: failed to get host boot time info, rc: 1, stdout: , stderr: ":                         {machine{boot: "one", tests: 1}, rebootArgs{Command: value.Str("/r"), BootTimeCommand: value.Str("false")}},
		"'search_paths' must be a string or flat list of strings, got {}":                              {machine{}, rebootArgs{Command: value.Str("halt"), SearchPaths: value.NewDict()}},
		"Invalid value given for 'reboot_command': '1' is not a string and conversion is not allowed.": {machine{}, rebootArgs{Command: value.Int(1)}},
	} {
		if res := c.m.run(t, c.a); !res.Failed || res.Msg != want {
			t.Errorf("got %+v, want %s", res, want)
		}
	}
}

func TestRebootSparesThisHostAndCheckMode(t *testing.T) {
	m := &machine{boot: "one", local: true}
	env := &modules.Env{Name: "reboot", Asks: m.asks()}
	res := Reboot.Run(t.Context(), env, modtest.Args(map[string]any{}))
	if !res.Failed || res.Msg != "Running reboot with local connection would reboot the control node." || modtest.Entry(res, "rebooted") != false {
		t.Errorf("%+v", res)
	}
	m.local, env.Check = false, true
	if res := Reboot.Run(t.Context(), env, modtest.Args(map[string]any{})); !res.Changed || modtest.Entry(res, "elapsed") != int64(0) || len(m.told) != 0 {
		t.Errorf("%+v", res)
	}
	env.Check = false
	if res := Reboot.Run(t.Context(), env, modtest.Args(map[string]any{"foo": 1})); res.Msg != "Invalid options for reboot: foo" {
		t.Errorf("%+v", res)
	}
}

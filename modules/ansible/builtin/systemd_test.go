package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// fakeSystemd answers systemctl for one unit and remembers what it was told to do.
type fakeSystemd struct {
	load, active, enabled string
	told                  []string
}

func (f *fakeSystemd) exec(_ context.Context, c modules.Command) (modules.Output, error) {
	verb := ""
	if len(c.Argv) > 1 {
		verb = c.Argv[1]
	}
	switch verb {
	case "show":
		return modules.Output{Stdout: []byte("LoadState=" + f.load + "\nActiveState=" + f.active + "\nExecStart={ path=/bin/x ;\n more }\nDescription={odd\n")}, nil
	case "is-enabled":
		rc := 1
		if f.enabled == "enabled" || f.enabled == "static" {
			rc = 0
		}
		return modules.Output{Rc: rc, Stdout: []byte(f.enabled + "\n")}, nil
	}
	f.told = append(f.told, verb)
	switch verb {
	case "start", "restart":
		f.active = "active"
	case "stop":
		f.active = "inactive"
	case "enable":
		f.enabled = "enabled"
	case "disable":
		f.enabled = "disabled"
	case "mask":
		f.enabled = "masked"
	case "unmask":
		f.enabled = "disabled"
	}
	return modules.Output{}, nil
}

// systemctlEnv is an environment whose PATH holds nothing but a program named systemctl.
func systemctlEnv(t *testing.T, f *fakeSystemd) *modules.Env {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return &modules.Env{Name: "systemd", Environ: []string{"PATH=" + dir}, Exec: f.exec, Warn: func(string, ...any) {}}
}

func TestSystemdDoesWhatIsNeededAndNothingMore(t *testing.T) {
	for name, c := range map[string]struct {
		unit    fakeSystemd
		args    map[string]any
		told    string
		enabled any
		state   any
	}{
		"start":            {fakeSystemd{active: "inactive"}, map[string]any{"state": "started"}, "start", nil, "started"},
		"started already":  {fakeSystemd{active: "active"}, map[string]any{"state": "started"}, "", nil, "started"},
		"stop":             {fakeSystemd{active: "active"}, map[string]any{"state": "stopped"}, "stop", nil, "stopped"},
		"restart":          {fakeSystemd{active: "active"}, map[string]any{"state": "restarted"}, "restart", nil, "started"},
		"reload a dead":    {fakeSystemd{active: "failed"}, map[string]any{"state": "reloaded"}, "start", nil, "started"},
		"reload":           {fakeSystemd{active: "active"}, map[string]any{"state": "reloaded"}, "reload", nil, "started"},
		"enable":           {fakeSystemd{enabled: "disabled"}, map[string]any{"enabled": true}, "enable", true, nil},
		"enabled already":  {fakeSystemd{enabled: "enabled"}, map[string]any{"enabled": true}, "", true, nil},
		"indirect is off":  {fakeSystemd{enabled: "indirect"}, map[string]any{"enabled": false}, "", false, nil},
		"static is on":     {fakeSystemd{enabled: "static"}, map[string]any{"enabled": true}, "", true, nil},
		"mask":             {fakeSystemd{enabled: "enabled"}, map[string]any{"masked": true}, "mask", nil, nil},
		"enable and start": {fakeSystemd{active: "inactive", enabled: "disabled"}, map[string]any{"enabled": true, "state": "started", "daemon_reload": true}, "daemon-reload enable start", true, "started"},
	} {
		t.Run(name, func(t *testing.T) {
			unit := c.unit
			unit.load = "loaded"
			c.args["name"] = "x"
			r := Systemd.Run(context.Background(), systemctlEnv(t, &unit), modtest.Args(c.args))
			if got := strings.Join(unit.told, " "); got != c.told || r.Failed {
				t.Fatalf("told systemd %q, want %q: %+v", got, c.told, r)
			}
			if r.Changed != (strings.TrimPrefix(c.told, "daemon-reload") != "") || modtest.Entry(r, "enabled") != c.enabled || modtest.Entry(r, "state") != c.state {
				t.Errorf("result %+v", r)
			}
			if state := c.args["state"]; state == "restarted" || state == "reloaded" {
				return
			}
			unit.told = nil
			if r := Systemd.Run(context.Background(), systemctlEnv(t, &unit), modtest.Args(c.args)); r.Changed {
				t.Errorf("the second run changed something: %+v", r)
			}
		})
	}
}

func TestSystemdInCheckModeTellsAndDoesNothing(t *testing.T) {
	unit := fakeSystemd{load: "loaded", active: "inactive", enabled: "disabled"}
	e := systemctlEnv(t, &unit)
	e.Check = true
	r := Systemd.Run(context.Background(), e, modtest.Args(map[string]any{"name": "x", "state": "started", "enabled": true, "daemon_reload": true}))
	if !r.Changed || r.Failed || unit.told != nil {
		t.Errorf("told %v, result %+v", unit.told, r)
	}
}

func TestSystemdNamesWhatIsWrong(t *testing.T) {
	for want, args := range map[string]map[string]any{
		"Could not find the requested service x: host":                                              {"name": "x", "state": "started"},
		"This module does not currently support using glob patterns, found '*' in service name: x*": {"name": "x*", "state": "started"},
		"value of state must be one of: reloaded, restarted, started, stopped, got: running":        {"name": "x", "state": "running"},
		"missing parameter(s) required by 'state': name":                                            {"state": "started"},
	} {
		r := Systemd.Run(context.Background(), systemctlEnv(t, &fakeSystemd{load: "not-found", active: "inactive"}), modtest.Args(args))
		if !r.Failed || r.Msg != want {
			t.Errorf("message %q, want %q", r.Msg, want)
		}
	}
}

// printing is a systemctl that prints what it has for the words of its call, and fails on all other words as where no
// systemd runs.
func printing(outputs map[string]modules.Output) func(context.Context, modules.Command) (modules.Output, error) {
	return func(_ context.Context, c modules.Command) (modules.Output, error) {
		if out, ok := outputs[strings.Join(c.Argv[1:], " ")]; ok {
			return out, nil
		}
		return modules.Output{Rc: 1, Stderr: []byte("not booted with systemd\n")}, nil
	}
}

func TestSystemdThatDoesNotRunIsAFailureWithItsOutput(t *testing.T) {
	e := systemctlEnv(t, &fakeSystemd{})
	e.Exec = printing(nil)
	r := Systemd.Run(context.Background(), e, modtest.Args(map[string]any{"name": "x", "state": "started"}))
	if !r.Failed || r.Msg != "not booted with systemd" || modtest.Entry(r, "rc") != int64(1) || modtest.Entry(r, "stderr") != "not booted with systemd\n" {
		t.Errorf("result %+v", r)
	}
}

func TestSystemdAsksByPartsWhereAMessageWasTooLong(t *testing.T) {
	e := systemctlEnv(t, &fakeSystemd{})
	e.Exec = printing(map[string]modules.Output{
		"show x@1":            {Rc: 1, Stdout: []byte("Id=x@1.service\n"), Stderr: []byte("Failed to parse bus message: Invalid argument\n")},
		"list-unit-files x@*": {Stdout: []byte("x@.service enabled\n")},
		"is-active x@1":       {Stdout: []byte("active\n")},
	})
	r := Systemd.Run(context.Background(), e, modtest.Args(map[string]any{"name": "x@1", "state": "started"}))
	status, _ := modtest.Entry(r, "status").(map[string]any)
	if r.Failed || r.Changed || status["ActiveState"] != "active" || status["Id"] != "x@1.service" {
		t.Errorf("status %v, result %+v", status, r)
	}
}

func TestShowFieldsKeepsValuesThatSpanLines(t *testing.T) {
	got := showFields("ExecStart={ a ;\n b }\nDescription={odd\nX=1=2\n")
	want := map[string]any{"ExecStart": "{ a ;\n b }", "Description": "{odd", "X": "1=2"}
	for key, val := range want {
		if got.Text(key) != val {
			t.Errorf("%s is %q, want %q", key, got.Text(key), val)
		}
	}
}

func TestStatusWordsOfInitScripts(t *testing.T) {
	for text, want := range map[string]string{
		"svc is running": "yes", "svc is not running": "no", "svc: stopped": "no", "svc started": "yes", "svc dead but pid file exists": "no", "odd": "",
	} {
		got := ""
		if v := statusWords(text, "svc"); v != nil {
			got = map[bool]string{true: "yes", false: "no"}[*v]
		}
		if got != want {
			t.Errorf("%q was read as %q, want %q", text, got, want)
		}
	}
}

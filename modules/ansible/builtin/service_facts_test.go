package builtin

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

func TestScanReadsWhatTheToolsList(t *testing.T) {
	answers := map[string]string{
		"service --status-all": " [ + ]  ssh\n [ - ]  x11-common\n",
		"systemctl list-units --no-pager --type service --all": `  UNIT          LOAD      ACTIVE   SUB     DESCRIPTION
  cron.service  loaded    active   running Regular jobs
  once.service  loaded    inactive dead    Once
● gone.service  not-found inactive dead    gone.service
* sad.service   loaded    failed   failed  Sad
3 loaded units listed.
`,
		"systemctl list-unit-files --no-pager --type service --all":      "UNIT FILE STATE PRESET\ncron.service enabled enabled\nsad.service disabled enabled\nnew.service static -\ntwin.service enabled enabled\nbad.service static -\nodd.service static -\nt@.service static -\n",
		"systemctl show new.service twin.service --property=ActiveState": "ActiveState=inactive\n\nActiveState=active\n",
		"systemctl show odd.service --property=ActiveState":              "ActiveState=failed\n",
		"chkconfig --list":   "netfs \t0:off\t1:off\t2:off\t3:on\t4:on\t5:on\t6:off\nother \t0:off\t1:off\t2:off\t3:off\t4:off\t5:off\t6:off\n",
		"rc-update show -v":  "   sshd |  default boot\n   none |\n",
		"rc-status -a -s -m": "Runlevel: default\n sshd      [  started  ]\n none      [  stopped  ]\n",
	}
	env := &modules.Env{Warn: func(string, ...any) {}, Exec: func(_ context.Context, c modules.Command) (modules.Output, error) {
		text, ok := answers[strings.Join(c.Argv, " ")]
		if !ok && c.Argv[0] == "service" && c.Argv[1] == "other" {
			return modules.Output{Rc: 3}, nil
		}
		return modules.Output{Stdout: []byte(text)}, nil
	}}
	entry := func(name, state, source string, more ...any) any {
		return modtest.Plain((&scan{services: value.NewDict()}).add(name, state, source, more...))
	}
	for name, c := range map[string]struct {
		run  func(*scan) error
		want map[string]any
	}{
		"sysv": {func(s *scan) error { return s.sysv("service") }, map[string]any{
			"ssh": entry("ssh", "running", "sysv"), "x11-common": entry("x11-common", "stopped", "sysv"),
		}},
		"systemd": {func(s *scan) error { return s.units("systemctl") }, map[string]any{
			"cron.service": entry("cron.service", "running", "systemd", "status", "enabled"),
			"once.service": entry("once.service", "stopped", "systemd", "status", "inactive"),
			"gone.service": entry("gone.service", "stopped", "systemd", "status", "not-found"),
			"sad.service":  entry("sad.service", "stopped", "systemd", "status", "failed"),
			"new.service":  entry("new.service", "inactive", "systemd", "status", "static"),
			"twin.service": entry("twin.service", "active", "systemd", "status", "enabled"),
			"bad.service":  entry("bad.service", "unknown", "systemd", "status", "static"),
			"odd.service":  entry("odd.service", "failed", "systemd", "status", "static"),
			"t@.service":   entry("t@.service", "unknown", "systemd", "status", "static"),
		}},
		"chkconfig": {func(s *scan) error { return s.chkconfig("chkconfig", "service") }, map[string]any{
			"netfs": entry("netfs", "running", "sysv", "status", "enabled"), "other": entry("other", "stopped", "sysv", "status", "disabled"),
		}},
		"openrc": {func(s *scan) error { return s.openRC("rc-status", "rc-update") }, map[string]any{
			"sshd": entry("sshd", "started", "openrc", "runlevels", []any{"default", "boot"}), "none": entry("none", "stopped", "openrc", "runlevels", nil),
		}},
	} {
		s := &scan{ctx: context.Background(), env: env, services: value.NewDict()}
		if err := c.run(s); err != nil || !reflect.DeepEqual(modtest.Plain(s.services), c.want) {
			t.Errorf("%s found %v, want %v (%v)", name, s.services, c.want, err)
		}
		if name != "systemd" {
			continue
		}
		listed := "cron once gone sad new twin bad odd t@" // systemctl's order, whatever is asked when
		var order []string
		for _, key := range s.services.Keys() {
			unit, _ := value.Text(key)
			order = append(order, strings.TrimSuffix(unit, ".service"))
		}
		if got := strings.Join(order, " "); got != listed {
			t.Errorf("the units are in the order %s, want %s", got, listed)
		}
	}
}

func TestScanChoosesByTheTools(t *testing.T) {
	for want, tools := range map[string][]string{
		"service --status-all": {"service", "rc-update"},
		"chkconfig --list":     {"service", "chkconfig"},
		"rc-update show -v":    {"service", "rc-status", "rc-update"},
		"":                     {},
	} {
		dir, told := t.TempDir(), ""
		for _, tool := range tools {
			if err := os.WriteFile(filepath.Join(dir, tool), []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		env := &modules.Env{Environ: []string{"PATH=" + dir}, Exec: func(_ context.Context, c modules.Command) (modules.Output, error) {
			// What this machine has in its sbin directories counts too.
			if told == "" && strings.HasPrefix(c.Argv[0], dir) {
				told = strings.Join(append([]string{filepath.Base(c.Argv[0])}, c.Argv[1:]...), " ")
			}
			return modules.Output{}, nil
		}, Warn: func(string, ...any) {}}
		s := &scan{ctx: context.Background(), env: env, services: value.NewDict()}
		if err := s.scripts(); err != nil || told != want {
			t.Errorf("%v asked %q first, want %q (%v)", tools, told, want, err)
		}
	}
}

package general

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// zoned is a host's tree with two zones, of which it is in one.
func zoned(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		zoneDir + "Etc/UTC": "utc", zoneDir + "America/Denver": "denver", "/etc/timezone": "Etc/UTC\n",
		"/etc/default/rcS": "A=1\n",
	} {
		if err := os.MkdirAll(filepath.Dir(root+name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root+zoneDir+"Etc/UTC", root+"/etc/localtime"); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestTimezoneOfADebianHostWithoutSystemd(t *testing.T) {
	root := zoned(t)
	h := &modtest.Host{Act: func(c modules.Command) modules.Output {
		if filepath.Base(c.Argv[0]) == "ln" {
			_ = os.Remove(c.Argv[3])
			_ = os.Symlink(c.Argv[2], c.Argv[3])
		}
		return modules.Output{}
	}, Answers: map[string]modules.Output{"timedatectl": {Rc: 1, Stderr: []byte("no bus")}}}
	env := h.Env(t, "dpkg-reconfigure", "hwclock", "ln", "timedatectl")
	zone := "America/Denver"
	for _, c := range []struct {
		check, changed bool
		told           []string
	}{
		{true, true, nil},
		{false, true, []string{"ln -sf " + root + zoneDir + zone + " " + root + "/etc/localtime",
			"dpkg-reconfigure --frontend noninteractive tzdata"}},
		{false, false, nil},
	} {
		h.Commands, env.Check = nil, c.check
		r, err := runTimezone(context.Background(), env, root, timezoneArgs{Name: &zone})
		told := slices.DeleteFunc(h.Commands, func(s string) bool { return s == "timedatectl" })
		if err != nil || r.Changed != c.changed || !slices.Equal(told, c.told) {
			t.Errorf("check %v: ran %q, gave %+v, %v", c.check, told, r, err)
		}
		before := modtest.Entry(r, "diff").(map[string]any)["before"].(map[string]any)["name"]
		if want := map[bool]string{true: "Etc/UTC", false: zone}[c.changed]; before != want {
			t.Errorf("it was in %v, want %s", before, want)
		}
	}
	if text, _ := os.ReadFile(root + "/etc/timezone"); string(text) != zone+"\n" {
		t.Errorf("/etc/timezone holds %q", text)
	}
}

func TestHardwareClockOfADebianHostWithoutSystemd(t *testing.T) {
	root := zoned(t)
	h := &modtest.Host{Act: func(c modules.Command) modules.Output {
		if filepath.Base(c.Argv[0]) == "hwclock" {
			_ = os.WriteFile(root+"/etc/adjtime", []byte("0.0 0 0\n0\nLOCAL\n"), 0o644)
		}
		return modules.Output{}
	}}
	local := "local"
	r, err := runTimezone(context.Background(), h.Env(t, "dpkg-reconfigure", "hwclock"), root,
		timezoneArgs{Hwclock: &local})
	if err != nil || !r.Changed ||
		!strings.HasPrefix(r.Msg, "Added 1 line and deleted 0 line(s) on /etc/default/rcS\nexecuted `") {
		t.Errorf("%+v, %v", r, err)
	}
	if text, _ := os.ReadFile(root + "/etc/default/rcS"); string(text) != "UTC=no\nA=1\n" {
		t.Errorf("rcS holds %q", text)
	}
}

func TestTimezoneAsksTimedatectl(t *testing.T) {
	root := zoned(t)
	h := &modtest.Host{Answers: map[string]modules.Output{
		"timedatectl status": modtest.Answer("               Time zone: America/Denver (MST, -0700)\n         RTC in " +
			"local TZ: no\n"),
	}}
	zone, utc := "America/Denver", "UTC"
	r, err := runTimezone(context.Background(), h.Env(t, "timedatectl"), root, timezoneArgs{Name: &zone, Hwclock: &utc})
	if err != nil || r.Changed || r.Failed {
		t.Errorf("%+v, %v", r, err)
	}
	zone = "Etc/UTC"
	r, err = runTimezone(context.Background(), h.Env(t, "timedatectl"), root, timezoneArgs{Name: &zone})
	if err == nil && !r.Failed || !slices.Contains(h.Commands, "timedatectl set-timezone Etc/UTC") {
		t.Errorf("a zone that stays as it was passed: %q, %+v", h.Commands, r)
	}
}

func TestAnUnknownTimezoneIsRefused(t *testing.T) {
	zone := "Mars/Olympus"
	r, err := runTimezone(context.Background(), (&modtest.Host{}).Env(t), zoned(t), timezoneArgs{Name: &zone})
	if text := modtest.ResultJSON(t, r); err == nil && !r.Failed {
		t.Errorf("it took %s: %s", zone, text)
	}
}

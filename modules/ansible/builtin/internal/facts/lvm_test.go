package facts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules"
)

func TestOnlyLabelledDevicesHoldVolumes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", strings.Repeat("\x00", 4096))
	short := write("short", "")
	late := write("late", strings.Repeat("\x00", 2048)+volumeLabel)
	volume := write("volume", strings.Repeat("\x00", 512)+volumeLabel+" one")
	missing := filepath.Join(dir, "missing")
	p := &probe{ctx: t.Context(), limit: mountLimit, env: &modules.Env{Exec: modules.HostExec(os.Environ(), nil)}}
	for _, c := range []struct {
		devices []string
		want    bool
	}{
		{nil, false}, {[]string{plain, short, late}, false}, {[]string{plain, volume}, true},
		{[]string{missing, volume}, true}, {[]string{missing}, false},
	} {
		if got := mayHoldVolumes(p, c.devices); got != c.want {
			t.Errorf("of %q: %v", c.devices, got)
		}
	}
}

func TestDevicesThatCannotBeReadMayHoldVolumes(t *testing.T) {
	for name, exec := range map[string]func(context.Context, modules.Command) (modules.Output, error){
		"no head": func(context.Context, modules.Command) (modules.Output, error) {
			return modules.Output{}, errors.New("no such file")
		},
		"too slow": func(context.Context, modules.Command) (modules.Output, error) {
			return modules.Output{TimedOut: true}, nil
		},
	} {
		p := &probe{ctx: t.Context(), limit: mountLimit, env: &modules.Env{Exec: exec}}
		if !mayHoldVolumes(p, []string{"/dev/x"}) {
			t.Errorf("%s: LVM is not asked", name)
		}
	}
}

func TestOnlyBlockDevicesAreLookedInto(t *testing.T) {
	if nodes := blockNodes(t.TempDir()); nodes != nil {
		t.Errorf("an empty directory has %q", nodes)
	}
	for _, node := range blockNodes("/dev") {
		if info, err := os.Lstat(node); err != nil || info.Mode()&(os.ModeDevice|os.ModeCharDevice) != os.ModeDevice {
			t.Errorf("%s: %v, %v", node, info.Mode(), err)
		}
	}
}

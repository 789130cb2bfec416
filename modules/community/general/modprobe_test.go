package general

import (
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestModprobe(t *testing.T) {
	for _, c := range []struct {
		name         string
		args         modprobeArgs
		check        bool
		changed      bool
		fail         string
		told         string
		loads, holds string // the files for boot then
	}{
		{name: "loads", args: modprobeArgs{Name: "dummy", Params: "a=1 b='c d'"}, changed: true, told: "dummy a=1 b=c d\n"},
		{name: "loads in check mode", args: modprobeArgs{Name: "dummy"}, check: true, changed: true, told: "-n dummy\n"},
		{name: "is loaded", args: modprobeArgs{Name: "old-one"}},
		{name: "is in the kernel", args: modprobeArgs{Name: "built"}},
		{name: "unloads", args: modprobeArgs{Name: "old_one", State: "absent"}, changed: true, told: "-r old_one\n"},
		{name: "is not loaded", args: modprobeArgs{Name: "dummy", State: "absent"}},
		{name: "there is none", args: modprobeArgs{Name: "refuse"}, fail: "modprobe: FATAL: Module refuse not found.\n",
			told: "refuse\n"},
		{name: "does not stay", args: modprobeArgs{Name: "shy"}, told: "shy\n-n --first-time shy\n"},
		{name: "keeps", args: modprobeArgs{Name: "built", Params: "x=1 y=2", Persistent: "present"}, changed: true,
			loads: "built\n", holds: "options built x=1\noptions built y=2\n"},
		{name: "keeps in check mode", args: modprobeArgs{Name: "built", Persistent: "present"}, check: true, changed: true},
		{name: "forgets", args: modprobeArgs{Name: "old_one", Persistent: "absent"}, changed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, map[string]string{
				"proc": "old_one 1 0\n", "builtin": "kernel/fs/built.ko\n", "load/mine": "# c\nold_one # why\n",
				"opt/mine": "options old_one p=1\noptions other q=2\n",
			})
			env := &modules.Env{Check: c.check, Warn: func(string, ...any) {}}
			modtest.UseTools(env, dir, modtest.Tools(t, "modprobe"))
			if c.args.State == "" {
				c.args.State = "present"
			}
			k := &kernelModule{
				Host: hostOf(t.Context(), env), args: c.args, loadDir: filepath.Join(dir, "load"),
				optionDir:   filepath.Join(dir, "opt"),
				procModules: filepath.Join(dir, "proc"), builtins: filepath.Join(dir, "builtin"),
			}
			r := resultOf(k.bring())
			if r.Changed != c.changed || r.Msg != c.fail || r.Failed != (c.fail != "") {
				t.Errorf("%+v", r)
			}
			if told := content(t, filepath.Join(dir, "told")); told != c.told {
				t.Errorf("ran %q, want %q", told, c.told)
			}
			conf := c.args.Name + ".conf"
			if got := content(t, filepath.Join(dir, "load", conf)); got != c.loads {
				t.Errorf("loads %q at boot", got)
			}
			if got := content(t, filepath.Join(dir, "opt", conf)); got != c.holds {
				t.Errorf("options %q", got)
			}
			if c.args.Persistent == "" || c.check {
				return
			}
			if r := resultOf(k.again().bring()); r.Changed || r.Failed {
				t.Errorf("the second time: %+v", r)
			}
		})
	}
}

// again is the same call anew.
func (k *kernelModule) again() *kernelModule {
	next := *k
	next.changed = false
	return &next
}

func TestModprobeCommentsOut(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"proc": "m 1\n", "load/mine": "# c\n m # why\n",
		"opt/mine": "options m p=1\noptions other q=2\n"})
	env := &modules.Env{}
	modtest.UseTools(env, dir, modtest.Tools(t, "modprobe"))
	k := &kernelModule{
		Host: hostOf(t.Context(), env), args: modprobeArgs{Name: "m", State: "present", Persistent: "absent"},
		loadDir: filepath.Join(dir, "load"), optionDir: filepath.Join(dir, "opt"), procModules: filepath.Join(dir, "proc"),
	}
	if r := resultOf(k.bring()); !r.Changed || r.Failed {
		t.Errorf("%+v", r)
	}
	if got := content(t, filepath.Join(dir, "load/mine")) + content(t,
		filepath.Join(dir, "opt/mine")); got != "# c\n# m # why\n#options m p=1\noptions other q=2\n" {
		t.Errorf("left %q", got)
	}
}

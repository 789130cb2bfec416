package general

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

type modprobeArgs struct {
	Name       string `arg:"name,required" doc:"The kernel module."`
	State      string `arg:"state,default=present,choices=absent|present" doc:"Whether it shall be loaded."`
	Params     string `arg:"params,default=" doc:"Its parameters."`
	Persistent string `arg:"persistent,default=disabled,choices=disabled|present|absent" doc:"Whether it is loaded at boot; disabled leaves that as it is."`
}

// Modprobe is community.general.modprobe.
var Modprobe = modules.Define("community.general.modprobe", "Load or unload kernel modules", runModprobe,
	modules.Operands("name"),
	modules.Is(modules.ReadsInCheck),
	modules.Documented(`- community.general.modprobe: {name: 8021q}
- community.general.modprobe: {name: dummy, params: numdummies=2, persistent: present}
`,
		modules.Return{Name: "name", Type: "str", When: "always", Doc: "The kernel module."},
		modules.Return{Name: "params", Type: "str", When: "always", Doc: "Its parameters."},
		modules.Return{Name: "state", Type: "str", When: "always", Doc: "Whether it is loaded."},
	), modules.RunsPrograms)

// kernelModule is one call of the module.
type kernelModule struct {
	tool.Host
	args    modprobeArgs
	changed bool
	// loadDir and optionDir say what is loaded at boot, procModules what is loaded now, builtins what the kernel has
	// in itself.
	loadDir, optionDir, procModules, builtins string
}

func runModprobe(ctx context.Context, env *modules.Env, a modprobeArgs) (modules.Result, error) {
	k := &kernelModule{
		Host: hostOf(ctx, env), args: a, loadDir: "/etc/modules-load.d", optionDir: "/etc/modprobe.d",
		procModules: "/proc/modules", builtins: filepath.Join("/lib/modules", release(), "modules.builtin"),
	}
	return k.bring()
}

func release() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

func (k *kernelModule) data() *value.Dict {
	return value.DictOf("name", k.args.Name, "params", k.args.Params, "state", k.args.State)
}

func (k *kernelModule) bring() (modules.Result, error) {
	if _, err := tool.Find(k.Env, "modprobe"); err != nil {
		return modules.Result{}, err
	}
	loaded, err := k.loaded()
	if err == nil && loaded != (k.args.State == "present") {
		if loaded {
			err = k.unload()
		} else {
			err = k.load()
		}
	}
	switch {
	case err != nil:
	case k.args.Persistent == "present":
		err = k.keep()
	case k.args.Persistent == "absent":
		err = k.forget()
	}
	return modules.Result{Changed: k.changed, Data: k.data()}, err
}

func (k *kernelModule) loaded() (bool, error) {
	raw, err := os.ReadFile(k.procModules)
	if err != nil {
		return false, tool.Fail(k.data(), "%s", oserr.Path(err, k.procModules))
	}
	name := strings.ReplaceAll(k.args.Name, "-", "_") + " "
	for _, line := range strings.Split(string(raw), "\n") {
		if strings.HasPrefix(line, name) {
			return true, nil
		}
	}
	if raw, err = os.ReadFile(k.builtins); err != nil {
		return false, tool.Fail(k.data(), "%s", oserr.Path(err, k.builtins))
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if strings.HasSuffix(strings.TrimSpace(line), "/"+k.args.Name+".ko") {
			return true, nil
		}
	}
	return false, nil
}

// modprobe runs it; what it prints as an error is the message of the failure.
func (k *kernelModule) modprobe(args ...string) error {
	out, err := k.Run("modprobe", args...)
	if err == nil && out.Rc != 0 {
		data := k.data()
		data.Put("rc", int64(out.Rc))
		data.Put("stdout", out.Stdout)
		data.Put("stderr", out.Stderr)
		err = tool.Fail(data, "%s", out.Stderr)
	}
	return err
}

func (k *kernelModule) load() error {
	words, err := shlex.Split(k.args.Params)
	if err != nil {
		return err
	}
	argv := append([]string{k.args.Name}, words...)
	if k.Env.Check {
		k.changed = true
		return k.modprobe(append([]string{"-n"}, argv...)...)
	}
	if err := k.modprobe(argv...); err != nil {
		return err
	}
	if k.changed, err = k.loaded(); err != nil || k.changed {
		return err
	}
	out, err := k.Run("modprobe", append([]string{"-n", "--first-time"}, argv...)...)
	if out.Rc != 0 {
		k.Env.Warn("%s", out.Stderr)
	}
	return err
}

func (k *kernelModule) unload() error {
	argv := []string{"-r", k.args.Name}
	if k.Env.Check {
		argv = append(argv, "-n")
	}
	err := k.modprobe(argv...)
	k.changed = err == nil
	return err
}

// lines gives every line of the files in a directory to see, which may replace it; the files are written where one did.
func (k *kernelModule) lines(dir string, see func(line string) string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return tool.Fail(k.data(), "%s", oserr.Path(err, dir))
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !fsx.IsFile(path) {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return tool.Fail(k.data(), "%s", oserr.Path(err, path))
		}
		list := strings.Split(string(raw), "\n")
		for i, line := range list {
			list[i] = see(line)
		}
		if now := strings.Join(list, "\n"); now != string(raw) && !k.Env.Check {
			if err := fsx.WriteFile(path, []byte(now), false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *kernelModule) named() *regexp.Regexp {
	return regexp.MustCompile(`^ *` + regexp.QuoteMeta(k.args.Name) + ` *(?:[#;].*)?$`)
}

func (k *kernelModule) optioned() *regexp.Regexp {
	return regexp.MustCompile(`^options ` + regexp.QuoteMeta(k.args.Name) + ` (\w+=\S+) *(?:[#;].*)?$`)
}

// kept reports whether the module is loaded at boot, and with what parameters.
func (k *kernelModule) kept() (named bool, params []string, err error) {
	name, option := k.named(), k.optioned()
	err = k.lines(k.loadDir, func(line string) string {
		named = named || line != "" && name.MatchString(line)
		return line
	})
	if err != nil {
		return false, nil, err
	}
	err = k.lines(k.optionDir, func(line string) string {
		if m := option.FindStringSubmatch(line); m != nil {
			params = append(params, m[1])
		}
		return line
	})
	return named, params, err
}

// comment puts a # before the lines that fit.
func (k *kernelModule) comment(dir string, fits *regexp.Regexp) error {
	return k.lines(dir, func(line string) string {
		if line != "" && fits.MatchString(line) {
			return "#" + line
		}
		return line
	})
}

func (k *kernelModule) keep() error {
	named, params, err := k.kept()
	if err != nil {
		return err
	}
	if !named {
		k.changed = true
		if err := k.write(k.loadDir, k.args.Name+"\n"); err != nil {
			return err
		}
	}
	wanted := strings.Fields(k.args.Params)
	if sameSet(wanted, params) {
		return nil
	}
	k.changed = true
	if err := k.comment(k.optionDir, k.optioned()); err != nil {
		return err
	}
	content := ""
	for _, param := range wanted {
		content += "options " + k.args.Name + " " + param + "\n"
	}
	if content == "" {
		content = "\n"
	}
	return k.write(k.optionDir, content)
}

func sameSet(a, b []string) bool {
	clean := func(list []string) []string {
		list = slices.Clone(list)
		slices.Sort(list)
		return slices.Compact(list)
	}
	return slices.Equal(clean(a), clean(b))
}

func (k *kernelModule) write(dir, content string) error {
	if k.Env.Check {
		return nil
	}
	return fsx.WriteFile(filepath.Join(dir, k.args.Name+".conf"), []byte(content), false)
}

func (k *kernelModule) forget() error {
	named, params, err := k.kept()
	if err == nil && named {
		k.changed = true
		err = k.comment(k.loadDir, k.named())
	}
	if err == nil && len(params) > 0 {
		k.changed = true
		err = k.comment(k.optionDir, k.optioned())
	}
	return err
}

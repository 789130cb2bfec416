package posix

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
)

type sysctlArgs struct {
	Name         string  `arg:"name,required,alias=key" doc:"The variable, its parts joined by dots."`
	Value        *string `arg:"value,alias=val" doc:"Its value; needed unless it is removed."`
	State        string  `arg:"state,default=present,choices=present|absent" doc:"Whether the file shall have it."`
	Reload       bool    `arg:"reload,default=yes" doc:"Whether the kernel is given the file after a change."`
	Set          bool    `arg:"sysctl_set,default=no" doc:"Give the kernel the value where it has another."`
	IgnoreErrors bool    `arg:"ignoreerrors,default=no" doc:"Whether variables that the kernel does not know are no failure."`
	File         string  `arg:"sysctl_file,type=path,default=/etc/sysctl.conf" doc:"The file."`
}

// Sysctl is ansible.posix.sysctl.
var Sysctl = modules.Define("ansible.posix.sysctl", "Manage entries in sysctl.conf.", runSysctl,
	modules.Operands("name"),
	modules.StartsInCheck("sysctl"),
	modules.Edits("sysctl_file"),
	modules.WithRules(
		modules.Rules{If: []modules.RequiredIf{{Param: "state", Value: "present", Names: []string{"value"}}}}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.posix.sysctl: {name: vm.swappiness, value: "5"}
- ansible.posix.sysctl: {name: net.ipv4.ip_forward, value: "1", sysctl_set: true, sysctl_file: /etc/sysctl.d/90-router.conf}
`
	}), modules.RunsPrograms)

// kernelVariable is one call of the module.
type kernelVariable struct {
	ctx         context.Context
	env         *modules.Env
	args        sysctlArgs
	path        string
	name, value string
}

func runSysctl(ctx context.Context, env *modules.Env, a sysctlArgs) (modules.Result, error) {
	switch {
	case a.Name == "":
		return modules.Fail("name cannot be blank")
	case a.State == "present" && modules.Text(a.Value) == "":
		return modules.Fail("value cannot be blank")
	}
	path, err := tool.Find(env, "sysctl")
	if err != nil {
		return modules.Result{}, err
	}
	v := &kernelVariable{ctx: ctx, env: env, args: a, path: path, name: strings.TrimSpace(a.Name),
		value: plainValue(modules.Text(a.Value))}
	return v.bring()
}

// plainValue returns a value as the kernel knows it: words of truth are 1 and 0.
func plainValue(given string) string {
	switch strings.ToLower(given) {
	case "y", "yes", "on", "1", "true", "t":
		return "1"
	case "n", "no", "off", "0", "false", "f":
		return "0"
	}
	return strings.TrimSpace(given)
}

func (v *kernelVariable) run(args ...string) (tool.Output, error) {
	return tool.Run(v.ctx, v.env, modules.Command{Argv: append([]string{v.path}, args...),
		Env: []string{"LANG=C", "LC_ALL=C", "LC_MESSAGES=C"}})
}

func (v *kernelVariable) bring() (modules.Result, error) {
	now, err := v.run("-e", "-n", v.name)
	if err != nil {
		return modules.Result{}, err
	}
	known := now.Rc == 0
	differs := !known || !slices.Equal(strings.Fields(now.Stdout), strings.Fields(v.value))
	lines, err := v.lines()
	if err != nil {
		return modules.Result{}, err
	}
	in, there := valueIn(lines, v.name)
	write := there
	if v.args.State == "present" {
		write = !there || in != v.value
	} else if in == "" {
		write = false
	}
	changed := write
	if !write && there && v.args.Reload && differs {
		changed = true
	}
	set := v.args.Set && v.args.State == "present" && differs
	changed = changed || set
	res := modules.Result{Changed: changed}
	if v.env.Check {
		return res, nil
	}
	if set && known {
		if err := v.set(); err != nil {
			return modules.Result{}, err
		}
	}
	if write {
		if err := fsx.WriteFile(v.args.File, []byte(v.edited(lines)), false); err != nil {
			return modules.Result{}, err
		}
	}
	if changed && v.args.Reload {
		return res, v.reload()
	}
	return res, nil
}

func (v *kernelVariable) lines() ([]string, error) {
	if !fsx.IsFile(v.args.File) {
		return nil, nil
	}
	raw, err := os.ReadFile(v.args.File)
	if err != nil {
		return nil, tool.Fail(nil, "Failed to open %s: %s", v.args.File, oserr.Path(err, v.args.File))
	}
	var list []string
	for _, line := range strings.SplitAfter(string(raw), "\n") {
		if line != "" {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list, nil
}

// entry parts a line at its equals sign; false for comments and the like.
func entry(line string) (name, value string, ok bool) {
	if line == "" || line[0] == '#' || line[0] == ';' {
		return "", "", false
	}
	name, value, ok = strings.Cut(line, "=")
	return strings.TrimSpace(name), strings.TrimSpace(value), ok
}

// valueIn returns the variable's value in the file; the last line counts.
func valueIn(lines []string, name string) (value string, there bool) {
	for _, line := range lines {
		if n, v, ok := entry(line); ok && n == name {
			value, there = v, true
		}
	}
	return value, there
}

// edited returns the file with the variable's line changed, added or left out. A variable that comes twice is kept
// once.
func (v *kernelVariable) edited(lines []string) string {
	out := ""
	seen := map[string]bool{}
	for _, line := range lines {
		name, value, ok := entry(line)
		if !ok {
			out += line + "\n"
			continue
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		if name == v.name {
			if v.args.State == "absent" {
				continue
			}
			value = v.value
		}
		out += strings.TrimSpace(name+"="+value) + "\n"
	}
	if !seen[v.name] && v.args.State == "present" {
		out += v.name + "=" + v.value + "\n"
	}
	return out
}

var sysctlFailed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^sysctl: setting key "[^"]+": (Invalid argument|Read-only file system)$`)
})

func (v *kernelVariable) set() error {
	argv := []string{"-w", v.name + "=" + v.value}
	if v.args.IgnoreErrors {
		argv = append([]string{"-e"}, argv...)
	}
	out, err := v.run(argv...)
	if err == nil && (out.Rc != 0 || sysctlFailed().MatchString(out.Stderr)) {
		err = tool.Fail(nil, "setting %s failed: %s", v.name, out.Stdout+out.Stderr)
	}
	return err
}

func (v *kernelVariable) reload() error {
	argv := []string{"-p", v.args.File}
	if v.args.IgnoreErrors {
		argv = append([]string{"-e"}, argv...)
	}
	out, err := v.run(argv...)
	if err == nil && (out.Rc != 0 || sysctlFailed().MatchString(out.Stderr)) {
		err = tool.Fail(nil, "Failed to reload sysctl: %s", out.Stdout+out.Stderr)
	}
	return err
}

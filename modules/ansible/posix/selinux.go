package posix

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type selinuxArgs struct {
	Policy      *string `arg:"policy" doc:"The policy; needed unless state is disabled."`
	State       string  `arg:"state,required,choices=enforcing|permissive|disabled" doc:"The mode."`
	ConfigFile  string  `arg:"configfile,alias=conf|file,default=/etc/selinux/config" doc:"The configuration."`
	KernelParam bool    `arg:"update_kernel_param,default=no" doc:"Whether to set the kernel's command line too, with grubby."`
}

// SELinux is ansible.posix.selinux.
var SELinux = modules.Define("ansible.posix.selinux", "Change policy and state of SELinux", runSELinux,
	modules.StartsInCheck("grubby"),
	modules.With(func(m *modules.Module) {
		m.Examples = "- ansible.posix.selinux: {policy: targeted, state: enforcing}\n- ansible.posix.selinux: {state: " +
			"disabled}\n"
		m.Returns = []modules.Return{
			{Name: "msg", Type: "str", When: "always", Doc: "What was changed."},
			{Name: "configfile", Type: "str", When: "always", Doc: "The configuration."},
			{Name: "policy", Type: "str", When: "always", Doc: "The policy."},
			{Name: "state", Type: "str", When: "always", Doc: "The mode."},
			{Name: "reboot_required", Type: "bool", When: "always", Doc: "Whether it counts only after a restart."},
		}
	}))

// selinuxFS is where the kernel shows SELinux.
const selinuxFS = "/sys/fs/selinux"

// enforcer is one call of the module.
type enforcer struct {
	ctx    context.Context
	env    *modules.Env
	args   selinuxArgs
	config string
	msgs   []string
	res    modules.Result
}

func runSELinux(ctx context.Context, env *modules.Env, a selinuxArgs) (modules.Result, error) {
	if !fsx.IsFile(a.ConfigFile) {
		return modules.Result{},
			tool.Fail(value.DictOf("details", "Please install SELinux-policy package, if this package is not installed "+
				"previously."),
				"Unable to find file %s", a.ConfigFile)
	}
	raw, err := os.ReadFile(a.ConfigFile)
	if err != nil {
		return modules.Result{}, tool.Fail(nil, "cannot read %s: %s", a.ConfigFile, oserr.Path(err, a.ConfigFile))
	}
	e := &enforcer{ctx: ctx, env: env, args: a, config: string(raw),
		res: modules.Result{Data: value.DictOf("reboot_required", false)}}
	return e.bring()
}

func (e *enforcer) bring() (modules.Result, error) {
	policy := setting(e.config, "SELINUXTYPE")
	wanted := modules.Text(e.args.Policy)
	if wanted == "" {
		if e.args.State != "disabled" {
			return modules.Fail("Policy is required if state is not 'disabled'")
		}
		wanted = policy
	}
	kernel, err := e.kernel()
	if err != nil {
		return modules.Result{}, err
	}
	running := policy
	if live, err := os.ReadFile("/etc/selinux/config"); err == nil {
		running = setting(string(live), "SELINUXTYPE")
	}
	if wanted != running {
		e.changed("Running SELinux policy changed from '%s' to '%s'", running, wanted)
	}
	if wanted != policy {
		if !e.env.Check && !fsx.Exists(filepath.Join("/etc/selinux", wanted, "policy")) {
			return modules.Fail("Policy %s does not exist in /etc/selinux/", wanted)
		}
		e.changed("SELinux policy configuration in '"+e.args.ConfigFile+"' changed from '%s' to '%s'", policy, wanted)
		e.config = withSetting(e.config, "SELINUXTYPE", wanted)
	}
	if e.env.Check && e.res.Changed {
		return modules.Result{Changed: true}, nil
	}
	if err := e.runtime(); err != nil {
		return modules.Result{}, err
	}
	if old := setting(e.config, "SELINUX"); old != e.args.State {
		e.changed("Config SELinux state changed from '%s' to '%s'", old, e.args.State)
		e.config = withSetting(e.config, "SELINUX", e.args.State)
	}
	if err := e.save(); err != nil {
		return modules.Result{}, err
	}
	if err := e.setKernel(kernel); err != nil {
		return modules.Result{}, err
	}
	e.res.Data.Put("msg", strings.Join(e.msgs, ", "))
	e.res.Data.Put("configfile", e.args.ConfigFile)
	e.res.Data.Put("policy", wanted)
	e.res.Data.Put("state", e.args.State)
	return e.res, nil
}

func (e *enforcer) changed(format, from, to string) {
	for _, v := range []string{from, to} {
		if v == "" {
			v = "None"
		}
		format = strings.Replace(format, "%s", v, 1)
	}
	e.msgs = append(e.msgs, format)
	e.res.Changed = true
}

// setting returns a value of the configuration, "" if it is not there.
func setting(config, name string) string {
	for _, line := range strings.Split(config, "\n") {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func withSetting(config, name, value string) string {
	lines := strings.Split(strings.TrimSuffix(config, "\n"), "\n")
	found := false
	for i, line := range lines {
		if strings.HasPrefix(line, name+"=") {
			lines[i], found = name+"="+value, true
		}
	}
	if !found {
		lines = append(lines, name+"="+value)
	}
	return strings.TrimPrefix(strings.Join(lines, "\n")+"\n", "\n")
}

func (e *enforcer) save() error {
	if e.env.Check || !e.res.Changed {
		return nil
	}
	return fsx.WriteFile(e.args.ConfigFile, []byte(e.config), false)
}

// runtime changes the mode of the kernel that runs, as far as that can be.
func (e *enforcer) runtime() error {
	now, wanted := runtimeMode(), e.args.State
	switch {
	case now == wanted:
		return nil
	case now == "disabled":
		e.env.Warn("Reboot is required to set SELinux state to '%s'", wanted)
		e.res.Data.Put("reboot_required", true)
		return nil
	case wanted == "disabled":
		e.res.Data.Put("reboot_required", true)
		if now == "permissive" {
			e.env.Warn("SELinux state change will take effect next reboot")
			return nil
		}
		e.env.Warn("SELinux state temporarily changed from '%s' to 'permissive'. State change will take effect next reboot.",
			now)
		e.res.Changed, wanted = true, "permissive"
	default:
		e.changed("SELinux state changed from '%s' to '%s'", now, wanted)
	}
	if e.env.Check {
		return nil
	}
	value := map[string]string{"enforcing": "1", "permissive": "0"}[wanted]
	if err := os.WriteFile(selinuxFS+"/enforce", []byte(value), 0o644); err != nil {
		return tool.Fail(nil, "cannot set the mode of SELinux: %s", oserr.Path(err, selinuxFS+"/enforce"))
	}
	return nil
}

func runtimeMode() string {
	raw, err := os.ReadFile(selinuxFS + "/enforce")
	switch {
	case err != nil:
		return "disabled"
	case strings.TrimSpace(string(raw)) == "1":
		return "enforcing"
	}
	return "permissive"
}

var kernelArgs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^args="(.*)"$`) })

// kernel reports whether the kernels of the boot loader start with SELinux: enabled, disabled, or <inconsistent>; ""
// if it is of no concern.
func (e *enforcer) kernel() (string, error) {
	if !e.args.KernelParam {
		return "", nil
	}
	path := e.env.LookPath("grubby")
	if path == "" {
		return "", tool.Fail(value.DictOf("details", "In order to update the kernel command lineenabled/disabled setting, "+
			"the grubby package"+
			"needs to be present on the system."), "'grubby' command not found on host")
	}
	out, err := tool.Run(e.ctx, e.env, modules.Command{Argv: []string{path, "--info=ALL"}})
	if err != nil {
		return "", err
	}
	if out.Rc != 0 {
		return "", tool.Fail(nil, "unable to run grubby")
	}
	on, off := false, false
	for _, m := range kernelArgs().FindAllStringSubmatch(out.Stdout, -1) {
		if strings.Contains(" "+m[1]+" ", " selinux=0 ") {
			off = true
		} else {
			on = true
		}
	}
	switch {
	case on && !off:
		return "enabled", nil
	case off && !on:
		return "disabled", nil
	}
	return "<inconsistent>", nil
}

func (e *enforcer) setKernel(now string) error {
	wanted, option, verb := "enabled", "--remove-args", "remove selinux=0 from"
	if e.args.State == "disabled" {
		wanted, option, verb = "disabled", "--args", "add selinux=0 to"
	}
	if now == "" || now == wanted {
		return nil
	}
	e.changed("Kernel SELinux state changed from '%s' to '%s'", now, wanted)
	if e.env.Check {
		return nil
	}
	out, err := tool.Run(e.ctx, e.env,
		modules.Command{Argv: []string{e.env.LookPath("grubby"), "--update-kernel=ALL", option, "selinux=0"}})
	if err == nil && out.Rc != 0 {
		err = tool.Fail(nil, "unable to %s kernel config", verb)
	}
	return err
}

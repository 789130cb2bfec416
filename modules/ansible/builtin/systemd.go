package builtin

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/initd"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type systemdArgs struct {
	Name         *string `arg:"name,alias=service|unit" doc:"The unit; without a suffix it is a service."`
	State        string  `arg:"state,choices=reloaded|restarted|started|stopped" doc:"What the unit shall do now."`
	Enabled      *bool   `arg:"enabled" doc:"Whether it starts at boot."`
	Force        *bool   `arg:"force" doc:"Replace links that stand in the way."`
	Masked       *bool   `arg:"masked" doc:"Whether it cannot be started at all."`
	DaemonReload bool    `arg:"daemon_reload,alias=daemon-reload,default=no" doc:"Let systemd read its units again first."`
	DaemonReexec bool    `arg:"daemon_reexec,alias=daemon-reexec,default=no" doc:"Let systemd restart itself first."`
	Scope        string  `arg:"scope,default=system,choices=system|user|global" doc:"Whose systemd."`
	NoBlock      bool    `arg:"no_block,default=no" doc:"Do not wait for the operation to end."`
}

// Systemd is ansible.builtin.systemd, systemd_service by its newer name.
var Systemd = modules.Define("ansible.builtin.systemd", "Manages systemd units", runSystemd,
	modules.Operands("name"),
	modules.StartsInCheck("systemctl"),
	modules.With(func(m *modules.Module) { m.OtherNames = []string{"ansible.builtin.systemd_service"} }),
	modules.WithRules(modules.Rules{
		OneOf: [][]string{{"state", "enabled", "masked", "daemon_reload", "daemon_reexec"}},
		By:    map[string][]string{"state": {"name"}, "enabled": {"name"}, "masked": {"name"}},
	}),
	modules.Documented(`- ansible.builtin.systemd: {name: nginx, state: started, enabled: true, daemon_reload: true}
- ansible.builtin.systemd: {name: cups, masked: true}
`,
		modules.Return{Name: "name", Type: "str", When: "always", Doc: "The unit."},
		modules.Return{Name: "status", Type: "dict", When: "always", Doc: "What systemctl show prints of the unit."},
		modules.Return{Name: "state", Type: "str", When: "state was given", Doc: "What it does."},
		modules.Return{Name: "enabled", Type: "bool", When: "enabled was given", Doc: "Whether it starts at boot."},
	), modules.ProgramsByPath("name"))

func runSystemd(ctx context.Context, env *modules.Env, a systemdArgs) (modules.Result, error) {
	if a.Name != nil {
		for _, glob := range []string{"*", "?", "["} {
			if strings.Contains(*a.Name, glob) {
				return modules.Fail("This module does not currently support using glob patterns, found '%s' in service name: %s",
					glob, *a.Name)
			}
		}
	}
	ctl, err := newSystemctl(ctx, env, a)
	if err != nil {
		return modules.Result{}, err
	}
	var verbs []string
	if a.DaemonReload && !env.Check {
		verbs = append(verbs, "daemon-reload")
	}
	if a.DaemonReexec && !env.Check {
		verbs = append(verbs, "daemon-reexec")
	}
	for _, verb := range verbs {
		if rc, _, stderr, err := ctl.run(verb); err != nil || rc != 0 {
			return modules.FailOr(err, "failure %d during %s: %s", rc, verb, stderr)
		}
	}
	u := &unit{ctl: ctl, args: a, data: value.DictOf("name", nil, "status", value.NewDict())}
	if a.Name == nil {
		return modules.Result{Data: u.data}, nil
	}
	u.name = *a.Name
	u.data.Put("name", *a.Name)
	return u.bring()
}

// systemctl runs systemctl with the options that the arguments ask for.
type systemctl struct {
	ctx  context.Context
	env  *modules.Env
	argv []string
}

func newSystemctl(ctx context.Context, env *modules.Env, a systemdArgs) (*systemctl, error) {
	path, err := tool.Find(env, "systemctl")
	if err != nil {
		return nil, err
	}
	c := &systemctl{ctx: ctx, env: env, argv: []string{path}}
	if a.Scope != "system" {
		c.argv = append(c.argv, "--"+a.Scope)
	}
	if a.NoBlock {
		c.argv = append(c.argv, "--no-block")
	}
	if a.Force != nil && *a.Force {
		c.argv = append(c.argv, "--force")
	}
	return c, nil
}

func (c *systemctl) run(args ...string) (rc int, stdout, stderr string, err error) {
	out, err := tool.Run(c.ctx, c.env, c.command(args...))
	return out.Rc, out.Stdout, out.Stderr, err
}

func (c *systemctl) command(args ...string) modules.Command {
	cmd := modules.Command{Argv: append(slices.Clone(c.argv), args...)}
	if c.env.Getenv("XDG_RUNTIME_DIR") == "" {
		cmd.Env = []string{"XDG_RUNTIME_DIR=/run/user/" + strconv.Itoa(os.Geteuid())}
	}
	return cmd
}

// unit is one unit on its way to the state that was asked for.
type unit struct {
	ctl     *systemctl
	args    systemdArgs
	name    string
	status  *value.Dict
	found   bool // by systemd or as an init script
	script  bool
	changed bool
	data    *value.Dict
}

func (u *unit) bring() (modules.Result, error) {
	for _, stage := range []func() (modules.Result, error){u.look, u.mask, u.enable, u.control} {
		if res, err := stage(); err != nil || res.Failed {
			return res, err
		}
	}
	return modules.Result{Changed: u.changed, Data: u.data}, nil
}

// enabledStates are what is-enabled prints of units that exist (systemctl(1)).
var enabledStates = []string{
	"enabled", "enabled-runtime", "linked", "linked-runtime", "masked", "masked-runtime", "static", "indirect", "disabled",
	"generated", "transient",
}

func (u *unit) look() (modules.Result, error) {
	u.script = initd.HasScript(u.name)
	rc, stdout, stderr, err := u.ctl.run("show", u.name)
	if err != nil {
		return modules.Result{}, err
	}
	known := false
	if rc == 0 && !requestIgnored(stdout) && !requestIgnored(stderr) {
		u.status = showFields(stdout)
		load := u.status.Text("LoadState")
		known = load != "" && load != "not-found"
		if problem := u.status.Text("LoadError"); u.status.Has("LoadError") && known && load != "masked" {
			return modules.Fail("Error loading unit file '%s': %s", u.name, problem)
		}
		u.data.Put("status", u.status)
	} else if rc == 1 && strings.Contains(stderr, "Failed to parse bus message") {
		if known, err = u.knownByParts(stdout); err != nil {
			return modules.Result{}, err
		}
	} else if known, err = u.knownOffline(); err != nil {
		return modules.Result{}, err
	}
	u.found = known || u.script
	if u.script && !known {
		u.ctl.env.Warn("The service (%s) is actually an init script but the system is managed by systemd", u.name)
	}
	return modules.Result{}, nil
}

// knownByParts asks for what `systemctl show` had no end of: it gives up where a property of a unit is more than a
// bus message may hold (https://github.com/ansible/ansible/issues/71528), having printed those before it.
func (u *unit) knownByParts(shown string) (bool, error) {
	base, at := u.name, ""
	if i := strings.IndexByte(u.name, '@'); i >= 0 {
		base, at = u.name[:i], "@"
	}
	_, files, _, err := u.ctl.run("list-unit-files", base+at+"*")
	if err != nil {
		return false, err
	}
	_, active, _, err := u.ctl.run("is-active", u.name)
	u.status = showFields(shown)
	u.status.Put("ActiveState", strings.TrimRight(active, "\n"))
	u.data.Put("status", u.status)
	return strings.Contains(files, base+at), err
}

// knownOffline asks in ways that work where no systemd runs.
func (u *unit) knownOffline() (bool, error) {
	_, stdout, _, err := u.ctl.run("is-enabled", u.name)
	if err != nil || slices.Contains(enabledStates, strings.TrimSpace(stdout)) {
		return true, err
	}
	rc, _, _, err := u.ctl.run("list-unit-files", u.name)
	if err != nil || rc == 0 {
		return true, err
	}
	_, err = tool.Must(u.ctl.ctx, u.ctl.env, u.ctl.command())
	return false, err
}

func requestIgnored(out string) bool {
	return !strings.Contains(out, "=") &&
		(strings.Contains(out, "ignoring request") || strings.Contains(out, "ignoring command"))
}

// showFields reads `systemctl show`. Only values of Exec* may span lines, between braces.
func showFields(text string) *value.Dict {
	out := value.NewDict()
	var key string
	var open []string
	for _, line := range strings.Split(text, "\n") {
		if open != nil {
			open = append(open, line)
			if strings.HasSuffix(strings.TrimRight(line, " \t\r"), "}") {
				out.Put(key, strings.TrimSpace(strings.Join(open, "\n")))
				open = nil
			}
			continue
		}
		name, val, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		trimmed := strings.TrimSpace(val)
		if strings.HasPrefix(name, "Exec") && strings.HasPrefix(trimmed, "{") && !strings.HasSuffix(trimmed, "}") {
			key, open = name, []string{val}
			continue
		}
		out.Put(name, trimmed)
	}
	return out
}

func (u *unit) mask() (modules.Result, error) {
	if u.args.Masked == nil {
		return modules.Result{}, nil
	}
	_, stdout, _, err := u.ctl.run("is-enabled", u.name)
	if err != nil || (strings.TrimSpace(stdout) == "masked") == *u.args.Masked {
		return modules.Result{}, err
	}
	u.changed = true
	if u.ctl.env.Check {
		return modules.Result{}, nil
	}
	verb := "unmask"
	if *u.args.Masked {
		verb = "mask"
	}
	rc, _, _, err := u.ctl.run(verb, u.name)
	if err == nil && rc != 0 && !u.found {
		return initd.Missing(u.name)
	}
	return modules.Result{}, err
}

func (u *unit) enable() (modules.Result, error) {
	if u.args.Enabled == nil {
		return modules.Result{}, nil
	}
	if !u.found {
		return initd.Missing(u.name)
	}
	rc, stdout, _, err := u.ctl.run("is-enabled", u.name, "-l")
	if err != nil {
		return modules.Result{}, err
	}
	text := strings.TrimRight(stdout, "\n")
	enabled := rc == 0 && text != "indirect" && text != "alias"
	if rc == 1 && u.args.Scope == "system" && u.script && !strings.HasSuffix(strings.TrimSpace(stdout), "disabled") {
		enabled = initd.StartsAtBoot(u.name, "")
	}
	u.data.Put("enabled", enabled)
	if enabled == *u.args.Enabled {
		return modules.Result{}, nil
	}
	u.changed = true
	u.data.Put("enabled", !enabled)
	if u.ctl.env.Check {
		return modules.Result{}, nil
	}
	verb := "disable"
	if *u.args.Enabled {
		verb = "enable"
	}
	return u.must(verb, func(stdout, stderr string) string { return stdout + stderr })
}

func (u *unit) control() (modules.Result, error) {
	if u.args.State == "" {
		return modules.Result{}, nil
	}
	if !u.found {
		return initd.Missing(u.name)
	}
	u.data.Put("state", u.args.State)
	active, known := u.status.Text("ActiveState"), u.status.Has("ActiveState")
	if !known {
		if u.ctl.env.Getenv("SYSTEMD_OFFLINE") == "1" || inChroot() {
			u.ctl.env.Warn(
				"Target is a chroot or systemd is offline. This can lead to false positives or prevent the init system tools " +
					"from working.")
			return modules.Result{}, nil
		}
		return modules.Result{Failed: true, Msg: "Service is in unknown state",
			Data: value.DictOf("status", value.NewDict())}, nil
	}
	verb := u.verb(active)
	if verb == "" {
		return modules.Result{}, nil
	}
	u.changed = true
	if u.ctl.env.Check {
		return modules.Result{}, nil
	}
	return u.must(verb, func(_, stderr string) string { return stderr })
}

// verb returns what brings the unit from its ActiveState to the wanted state, "" if it is there.
func (u *unit) verb(active string) string {
	running := active == "active" || active == "activating"
	switch u.args.State {
	case "started":
		if running {
			return ""
		}
		return "start"
	case "stopped":
		if running || active == "deactivating" {
			return "stop"
		}
		return ""
	}
	u.data.Put("state", "started")
	if !running {
		return "start"
	}
	return strings.TrimSuffix(u.args.State, "ed")
}

func (u *unit) must(verb string, why func(stdout, stderr string) string) (modules.Result, error) {
	rc, stdout, stderr, err := u.ctl.run(verb, u.name)
	if err != nil || rc != 0 {
		return modules.FailOr(err, "Unable to %s service %s: %s", verb, u.name, why(stdout, stderr))
	}
	return modules.Result{}, nil
}

func inChroot() bool {
	mine, err1 := os.Stat("/")
	first, err2 := os.Stat("/proc/1/root/.")
	return err1 == nil && err2 == nil && !os.SameFile(mine, first)
}

package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/initd"
	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

type sysvinitArgs struct {
	Name      string   `arg:"name,required,alias=service" doc:"The service, or the path of its script."`
	State     *string  `arg:"state,choices=started|stopped|restarted|reloaded" doc:"What it shall do now."`
	Enabled   *bool    `arg:"enabled" doc:"Whether it starts at boot."`
	Sleep     int      `arg:"sleep,default=1" doc:"Seconds after the stop and the start of a restart."`
	Pattern   *string  `arg:"pattern" doc:"Text to look for in the list of processes, for scripts that have no status."`
	Arguments *string  `arg:"arguments,alias=args" doc:"More arguments for the script."`
	Runlevels []string `arg:"runlevels" doc:"Runlevels that enabled is about; all by itself."`
	Daemonize bool     `arg:"daemonize,default=no" doc:"For scripts that do not detach what they start; of no meaning here, none is waited for."`
}

// Sysvinit is ansible.builtin.sysvinit.
var Sysvinit = modules.Define("ansible.builtin.sysvinit", "Manage SysV services.", runSysvinit,
	modules.Operands("name", "runlevels"),
	modules.StartsInCheck("*"),
	modules.WithRules(modules.Rules{OneOf: [][]string{{"state", "enabled"}}}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.sysvinit: {name: apache2, state: started, enabled: true}
- ansible.builtin.sysvinit: {name: apache2, state: started, enabled: true, runlevels: [3, 5]}
`
		m.Returns = []modules.Return{
			{Name: "name", Type: "str", When: "always", Doc: "The service."},
			{Name: "status", Type: "dict", When: "always",
				Doc: "What was done about enabled and the state: changed, rc, stdout, stderr."},
		}
	}), modules.ProgramsByPath("name"))

// initScript is a script on its way to the state that was asked for.
type initScript struct {
	ctx     context.Context
	env     *modules.Env
	args    sysvinitArgs
	path    string
	changed bool
	status  *value.Dict
}

func runSysvinit(ctx context.Context, env *modules.Env, a sysvinitArgs) (modules.Result, error) {
	s := &initScript{ctx: ctx, env: env, args: a, path: a.Name, status: value.NewDict()}
	if !strings.HasPrefix(a.Name, "/") {
		s.path = filepath.Join(initd.Dir, a.Name)
	}
	if _, err := os.Stat(s.path); err != nil {
		return modules.Fail("Could not find the requested service %s: ", a.Name)
	}
	running, err := s.running()
	if err != nil {
		return modules.Result{}, err
	}
	if err := s.enable(); err != nil {
		return modules.Result{}, err
	}
	if err := s.control(running); err != nil {
		return modules.Result{}, err
	}
	return modules.Result{Changed: s.changed, Data: value.DictOf("name", a.Name, "status", s.status)}, nil
}

func (s *initScript) run(words ...string) (tool.Output, error) {
	return tool.Run(s.ctx, s.env, modules.Command{Argv: words})
}

// running asks the script, or looks for the pattern among the processes.
func (s *initScript) running() (bool, error) {
	if s.args.Pattern != nil && *s.args.Pattern != "" {
		found, err := s.process(*s.args.Pattern)
		if err == nil && !found {
			s.env.Warn("Unable to determine if service is up, assuming it is down")
		}
		return found, err
	}
	argv := []string{s.path, "status"}
	if service := s.env.LookPath("service"); service != "" {
		argv = []string{service, s.args.Name, "status"}
	}
	out, err := s.run(argv...)
	if err != nil {
		return false, err
	}
	if s.args.Name == "iptables" && strings.Contains(out.Stdout, "ACCEPT") {
		return true, nil
	}
	if strings.Count(out.Stdout, "\n") <= 1 {
		if up, told := saysRunning(out.Stdout, s.args.Name); told {
			return up, nil
		}
	}
	switch out.Rc {
	case 0:
		return true, nil
	case 1, 2, 3, 4, 69: // the codes of the Linux Standard Base
		return false, nil
	}
	found, err := s.process(s.args.Name)
	if found {
		s.env.Warn("Used ps output to match service name and determine it is up, this is very unreliable")
	} else {
		s.env.Warn("Unable to determine if service is up, assuming it is down")
	}
	return found, err
}

// saysRunning reads the one line that a script prints of its status; told is false if it says nothing.
func saysRunning(out, name string) (up, told bool) {
	line := strings.ReplaceAll(strings.ToLower(out), strings.ToLower(name), "")
	for _, word := range []string{"stop", "is dead ", "dead but ", "could not access pid file", "inactive"} {
		if strings.Contains(line, word) {
			return false, true
		}
	}
	for _, word := range []string{"run", "start", "active"} {
		if strings.Contains(line, word) && !strings.Contains(line, "not ") {
			return true, true
		}
	}
	return false, false
}

func (s *initScript) process(pattern string) (bool, error) {
	ps, err := tool.Find(s.env, "ps")
	if err != nil {
		return false, err
	}
	out, err := s.run(ps, "auxww")
	return out.Rc == 0 && strings.Contains(out.Stdout, pattern), err
}

// note begins the account of what is done about one thing.
func (s *initScript) note(key string) *value.Dict {
	entry := value.DictOf("changed", false, "rc", nil, "stdout", nil, "stderr", nil)
	s.status.Put(key, entry)
	return entry
}

func noteOutput(entry *value.Dict, out tool.Output) {
	entry.Put("rc", int64(out.Rc))
	entry.Put("stdout", out.Stdout)
	entry.Put("stderr", out.Stderr)
}

func (s *initScript) enable() error {
	entry := s.note("enabled")
	levels := s.args.Runlevels
	if len(levels) > 0 {
		entry.Put("runlevels", modules.List(levels))
	}
	want := s.args.Enabled != nil && *s.args.Enabled
	differs := s.args.Enabled != nil && len(levels) == 0 && initd.StartsAtBoot(s.args.Name, "") != want
	for _, level := range levels {
		differs = differs || initd.StartsAtBoot(s.args.Name, level) != want
	}
	if !differs {
		return nil
	}
	s.changed = true
	entry.Put("changed", true)
	argv := s.enabler(want, levels)
	if s.env.Check || argv == nil {
		return nil
	}
	out, err := s.run(argv...)
	if err != nil {
		return err
	}
	noteOutput(entry, out)
	if strings.Contains(out.Stderr, "illegal runlevel specified") {
		return tool.Fail(value.DictOf("name", s.args.Name, "status", s.status, "changed", s.changed),
			"Illegal runlevel specified for enable operation on service %s", s.args.Name)
	}
	return nil
}

// enabler returns the command that makes the service start at boot, or not; nil if the host has none.
func (s *initScript) enabler(on bool, levels []string) []string {
	if update := s.env.LookPath("update-rc.d"); update != "" {
		verb := map[bool]string{true: "enable", false: "disable"}[on]
		if len(levels) == 0 && on {
			verb = "defaults"
		}
		return append([]string{update, s.args.Name, verb}, levels...)
	}
	chkconfig := s.env.LookPath("chkconfig")
	if chkconfig == "" {
		return nil
	}
	verb := map[bool]string{true: "on", false: "off"}[on]
	if len(levels) > 0 {
		return []string{chkconfig, "--level", strings.Join(levels, ""), s.args.Name, verb}
	}
	return []string{chkconfig, s.args.Name, verb}
}

func (s *initScript) control(running bool) error {
	if s.args.State == nil {
		s.note("null")
		return nil
	}
	state := *s.args.State
	entry := s.note(state)
	var actions []string
	switch state {
	case "restarted":
		actions = []string{"stop", "start"} // a script need not know restart
	case "started":
		if !running {
			actions = []string{"start"}
		}
	case "stopped":
		if running {
			actions = []string{"stop"}
		}
	case "reloaded":
		actions = []string{"reload"}
	}
	if actions == nil {
		return nil
	}
	s.changed = true
	entry.Put("changed", true)
	for _, action := range actions {
		if s.env.Check {
			return nil
		}
		out, err := s.act(action, state)
		if err != nil {
			return err
		}
		noteOutput(entry, out)
	}
	return nil
}

// act has the script do something. A restart pauses after each half.
func (s *initScript) act(action, state string) (tool.Output, error) {
	argv := []string{s.path, action}
	if s.args.Arguments != nil {
		words, err := shlex.Split(*s.args.Arguments)
		if err != nil {
			return tool.Output{}, err
		}
		argv = append(argv, words...)
	}
	out, err := s.run(argv...)
	if err != nil {
		return out, err
	}
	name := map[string]string{"started": "start", "stopped": "stop", "restarted": "restart", "reloaded": "reload"}[state]
	if out.Rc != 0 {
		return out, out.Failf("Failed to %s service: %s", name, s.args.Name)
	}
	if state != "restarted" || s.args.Sleep <= 0 {
		return out, nil
	}
	select {
	case <-time.After(time.Duration(s.args.Sleep) * time.Second):
		return out, nil
	case <-s.ctx.Done():
		return out, s.ctx.Err()
	}
}

package builtin

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/initd"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type serviceArgs struct {
	Name      string  `arg:"name,required" doc:"The service."`
	State     string  `arg:"state,choices=started|stopped|reloaded|restarted" doc:"What it shall do now."`
	Sleep     *int    `arg:"sleep" doc:"Seconds between stop and start of a restart."`
	Pattern   *string `arg:"pattern" doc:"Text to look for in the list of processes, for scripts that have no status."`
	Enabled   *bool   `arg:"enabled" doc:"Whether it starts at boot."`
	Runlevel  string  `arg:"runlevel,default=default" doc:"For OpenRC: the runlevel of enabled."`
	Arguments string  `arg:"arguments,alias=args,default=" doc:"More arguments for the script."`
	Use       string  `arg:"use,extra,default=auto" doc:"The service manager to use; found out by itself."`
}

// Service is ansible.builtin.service: the module of whatever service manager the host has.
var Service = modules.Define("ansible.builtin.service", "Manages services", runService,
	modules.Operands("name"), modules.StartsInCheck("*"),
	modules.WithRules(modules.Rules{OneOf: [][]string{{"state", "enabled"}}}),
	modules.Documented(`- ansible.builtin.service: {name: nginx, state: restarted}
`,
		modules.Return{Name: "name", Type: "str", When: "always", Doc: "The service."},
		modules.Return{Name: "state", Type: "str", When: "state was given", Doc: "What it does."},
		modules.Return{Name: "enabled", Type: "bool", When: "enabled was given", Doc: "Whether it starts at boot."},
	), modules.ProgramsByPath("name"))

func runService(ctx context.Context, env *modules.Env, a serviceArgs) (modules.Result, error) {
	use := modules.ShortName(a.Use)
	if use == "systemd" || use == "auto" && tool.ServiceManager(env) == "systemd" {
		for _, unused := range []struct {
			name  string
			given bool
		}{{"pattern", a.Pattern != nil}, {"sleep", a.Sleep != nil}, {"arguments", a.Arguments != ""}} {
			if unused.given {
				env.Warn(`Ignoring "%s" as it is not used in "systemd"`, unused.name)
			}
		}
		return runSystemd(ctx, env, systemdArgs{Name: &a.Name, State: a.State, Enabled: a.Enabled, Scope: "system"})
	}
	s := &initService{ctx: ctx, env: env, args: a}
	return s.bring()
}

// initService is a service that init scripts or OpenRC run.
type initService struct {
	ctx     context.Context
	env     *modules.Env
	args    serviceArgs
	control []string // command that takes an action: service NAME, or the script
	enabler string   // update-rc.d, insserv, chkconfig or rc-update
	openRC  bool
}

func (s *initService) bring() (modules.Result, error) {
	if res, err := s.tools(); err != nil || res.Failed {
		return res, err
	}
	data := value.DictOf("name", s.args.Name)
	changed := false
	if s.args.Enabled != nil {
		res, err := s.enable()
		if err != nil || res.Failed {
			return res, err
		}
		changed = res.Changed
		data.Put("enabled", *s.args.Enabled)
		if env := s.env; env.Check && res.Changed {
			return modules.Result{Changed: true, Msg: "changing service enablement"}, nil
		}
	}
	if s.args.State == "" {
		return modules.Result{Changed: changed, Data: data}, nil
	}
	running, err := s.running()
	if err != nil {
		return modules.Result{}, err
	}
	if running == nil {
		return modules.Fail("failed determining service state, possible typo of service name?")
	}
	data.Put("state", "started")
	if s.args.State == "stopped" {
		data.Put("state", "stopped")
	}
	action := serviceAction(s.args.State, *running)
	if action == "" {
		return modules.Result{Changed: changed, Data: data}, nil
	}
	if s.env.Check {
		return modules.Result{Changed: true, Msg: "service state changed"}, nil
	}
	if rc, stdout, stderr, err := s.act(action); err != nil || rc != 0 {
		if stderr == "" {
			stderr = stdout
		}
		return modules.FailOr(err, "%s", stderr)
	}
	return modules.Result{Changed: true, Data: data}, nil
}

// serviceAction returns what to do about a service; a reload of one that runs counts as a change.
func serviceAction(state string, running bool) string {
	switch {
	case state == "restarted":
		return "restart"
	case state == "reloaded" && running:
		return "reload"
	case !running && state != "stopped":
		return "start"
	case running && state == "stopped":
		return "stop"
	}
	return ""
}

func (s *initService) tools() (modules.Result, error) {
	script := filepath.Join(initd.Dir, s.args.Name)
	info, err := os.Stat(script)
	isScript := err == nil && !info.IsDir()
	switch {
	case s.env.LookPath("rc-service") != "":
		s.openRC, s.enabler = true, "rc-update"
		s.control = []string{s.env.LookPath("rc-service"), s.args.Name}
		return modules.Result{}, nil
	case isScript:
		for _, tool := range []string{"update-rc.d", "insserv", "chkconfig"} {
			if s.env.LookPath(tool) != "" {
				s.enabler = tool
				break
			}
		}
	}
	if s.enabler == "" {
		return initd.Missing(s.args.Name)
	}
	if path := s.env.LookPath("service"); path != "" {
		s.control = []string{path, s.args.Name}
	} else {
		s.control = []string{script}
	}
	return modules.Result{}, nil
}

func (s *initService) act(action string) (rc int, stdout, stderr string, err error) {
	words := strings.Fields(s.args.Arguments)
	if action == "restart" && s.args.Sleep != nil {
		rc, stdout, stderr, err = initd.Output(s.ctx, s.env, append(append(slices.Clone(s.control), "stop"), words...)...)
		if err != nil {
			return rc, stdout, stderr, err
		}
		select {
		case <-time.After(time.Duration(*s.args.Sleep) * time.Second):
		case <-s.ctx.Done():
			return rc, stdout, stderr, s.ctx.Err()
		}
		action = "start"
	}
	return initd.Output(s.ctx, s.env, append(append(slices.Clone(s.control), action), words...)...)
}

// running asks the script, or looks for the pattern among the processes; nil if neither can tell.
func (s *initService) running() (*bool, error) {
	yes, no := true, false
	if s.args.Pattern != nil {
		rc, stdout, _, err := initd.Output(s.ctx, s.env, "ps", "auxww")
		if err != nil || rc != 0 {
			return nil, err
		}
		for _, line := range strings.Split(stdout, "\n") {
			if strings.Contains(line, *s.args.Pattern) && !strings.Contains(line, "pattern=") {
				return &yes, nil
			}
		}
		return &no, nil
	}
	rc, stdout, _, err := s.act("status")
	if err != nil {
		return nil, err
	}
	if s.openRC {
		running := strings.Contains(stdout, "started")
		return &running, nil
	}
	// The codes of the Linux Standard Base say that it does not run.
	if slices.Contains([]int{1, 2, 3, 4, 69}, rc) {
		return &no, nil
	}
	if verdict := statusWords(stdout, s.args.Name); verdict != nil {
		return verdict, nil
	}
	if rc == 0 {
		return &yes, nil
	}
	return nil, nil
}

// statusWords reads the one line that a script prints of its status.
func statusWords(out, name string) *bool {
	if strings.Count(out, "\n") > 1 {
		return nil
	}
	text := strings.ReplaceAll(strings.ToLower(out), strings.ToLower(name), "")
	yes, no := true, false
	negated := strings.Contains(text, "not ")
	switch {
	case strings.Contains(text, "stop"):
		return &no
	case strings.Contains(text, "run"):
		running := !negated
		return &running
	case strings.Contains(text, "start") && !negated:
		return &yes
	}
	for _, dead := range []string{"could not access pid file", "is dead and pid file exists", "dead but subsys locked",
		"dead but pid file exists"} {
		if strings.Contains(text, dead) {
			return &no
		}
	}
	return nil
}

// enable makes the service start at boot, or not; Changed reports whether it was otherwise.
func (s *initService) enable() (modules.Result, error) {
	on := *s.args.Enabled
	var commands [][]string
	switch s.enabler {
	case "rc-update":
		already, err := s.inRunlevel()
		if err != nil || already == on {
			return modules.Result{}, err
		}
		commands = [][]string{{"rc-update", map[bool]string{true: "add", false: "delete"}[on], s.args.Name, s.args.Runlevel}}
	case "chkconfig":
		commands = [][]string{{"chkconfig", s.args.Name, map[bool]string{true: "on", false: "off"}[on]}}
	case "insserv":
		commands = [][]string{{"insserv", s.args.Name}}
		if !on {
			commands = [][]string{{"insserv", "-rf", s.args.Name}}
		}
	default:
		commands = s.updateRC(on)
	}
	if s.enabler != "rc-update" && initd.StartsAtBoot(s.args.Name, "") == on {
		return modules.Result{}, nil
	}
	if s.env.Check {
		return modules.Result{Changed: true}, nil
	}
	for _, argv := range commands {
		if rc, stdout, stderr, err := initd.Output(s.ctx, s.env, argv...); err != nil || rc != 0 {
			if stderr == "" {
				stderr = stdout
			}
			return modules.FailOr(err, "%s", stderr)
		}
	}
	return modules.Result{Changed: true}, nil
}

func (s *initService) updateRC(on bool) [][]string {
	kills, _ := filepath.Glob("/etc/rc?.d/K??" + initd.GlobQuote(s.args.Name))
	if !on {
		return [][]string{{"update-rc.d", s.args.Name, "disable"}}
	}
	if len(kills) == 0 {
		return [][]string{{"update-rc.d", s.args.Name, "defaults"}, {"update-rc.d", s.args.Name, "enable"}}
	}
	return [][]string{{"update-rc.d", s.args.Name, "enable"}}
}

func (s *initService) inRunlevel() (bool, error) {
	_, stdout, _, err := initd.Output(s.ctx, s.env, "rc-update", "show")
	for _, line := range strings.Split(stdout, "\n") {
		name, levels, _ := strings.Cut(line, "|")
		if strings.TrimSpace(name) == s.args.Name && slices.Contains(strings.Fields(levels), s.args.Runlevel) {
			return true, err
		}
	}
	return false, err
}

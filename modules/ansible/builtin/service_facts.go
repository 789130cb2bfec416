package builtin

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/initd"
	"hark/modules/py/value"
)

// ServiceFacts is ansible.builtin.service_facts.
var ServiceFacts = modules.Define("ansible.builtin.service_facts", "Tells the services of the host and their state", runServiceFacts,
	modules.StartsInCheck("chkconfig", "initctl", "rc-status", "rc-update", "service", "systemctl"),
	modules.Documented(`- ansible.builtin.service_facts:
- ansible.builtin.debug: {msg: "{{ ansible_facts.services['ssh.service'].state }}"}
`,
		modules.Return{Name: "ansible_facts", Type: "dict", When: "always", Doc: "services: name, state, status and source by name."},
	), modules.Is(modules.OnlyLooks))

func runServiceFacts(ctx context.Context, env *modules.Env, _ struct{}) (modules.Result, error) {
	s := &scan{ctx: ctx, env: env, services: value.NewDict()}
	if err := s.scripts(); err != nil {
		return modules.Result{}, err
	}
	if initd.SystemdRuns(env) {
		if err := s.units(env.LookPath("systemctl")); err != nil {
			return modules.Result{}, err
		}
	}
	if s.services.Len() == 0 {
		return modules.Result{Skipped: true, Msg: "Failed to find any services. This can be due to privileges or some other configuration issue."}, nil
	}
	return modules.Result{Facts: value.DictOf("services", s.services)}, nil
}

// scan collects services by name, as one source after the other reports them.
type scan struct {
	ctx      context.Context
	env      *modules.Env
	services *value.Dict
}

// add notes a service; more are keys and values beside its name, state and source.
func (s *scan) add(name, state, source string, more ...any) *value.Dict {
	entry := value.DictOf("name", name, "state", state, "source", source)
	for i := 0; i+1 < len(more); i += 2 {
		entry.Put(more[i].(string), more[i+1])
	}
	s.services.Put(name, entry)
	return entry
}

// scripts collects what hosts with init scripts have; the tools show which kind of them it is.
func (s *scan) scripts() error {
	service, chkconfig := s.env.LookPath("service"), s.env.LookPath("chkconfig")
	status, update := s.env.LookPath("rc-status"), s.env.LookPath("rc-update")
	switch {
	case chkconfig != "":
		return s.chkconfig(chkconfig, service)
	case status != "" && update != "":
		return s.openRC(status, update)
	case service != "":
		return s.sysv(service)
	}
	return nil
}

var statusLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*\[ ([+-]) \]\s+(.+)$`) })

func (s *scan) sysv(service string) error {
	rc, stdout, stderr, err := initd.Output(s.ctx, s.env, service, "--status-all")
	if err != nil {
		return err
	}
	if rc != 0 {
		s.env.Warn("Unable to query 'service' tool (%d): %s", rc, stderr)
	}
	for _, m := range statusLine().FindAllStringSubmatch(stdout, -1) {
		s.add(m[2], map[string]string{"+": "running", "-": "stopped"}[m[1]], "sysv")
	}
	return nil
}

var levelsLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.*?)\s+[0-9]:(?:on|off)\s+[0-9]:(?:on|off)\s+[0-9]:(?:on|off)\s+[0-9]:(on|off)(?:\s+[0-9]:(?:on|off)){3}`)
})

// chkconfig lists scripts with their runlevels; each says itself whether it runs.
func (s *scan) chkconfig(chkconfig, service string) error {
	_, stdout, _, err := initd.Output(s.ctx, s.env, chkconfig, "--list")
	for _, line := range strings.Split(stdout, "\n") {
		m := levelsLine().FindStringSubmatch(line)
		if m == nil || err != nil {
			continue
		}
		var rc int
		if rc, _, _, err = initd.Output(s.ctx, s.env, service, m[1], "status"); err != nil {
			break
		}
		state := "stopped"
		if rc == 0 {
			state = "running"
		}
		s.add(m[1], state, "sysv", "status", map[string]string{"on": "enabled", "off": "disabled"}[m[2]])
	}
	return err
}

func (s *scan) openRC(status, update string) error {
	_, shown, _, err := initd.Output(s.ctx, s.env, update, "show", "-v")
	if err != nil {
		return err
	}
	levels := map[string]any{}
	for _, line := range strings.Split(shown, "\n") {
		name, list, ok := strings.Cut(line, "|")
		if ok && strings.TrimSpace(list) != "" {
			levels[strings.TrimSpace(name)] = modules.List(strings.Fields(list))
		}
	}
	_, shown, _, err = initd.Output(s.ctx, s.env, status, "-a", "-s", "-m")
	for _, line := range strings.Split(shown, "\n") {
		f := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(line))
		if strings.HasPrefix(line, " ") && len(f) > 1 {
			s.add(f[0], f[1], "openrc", "runlevels", levels[f[0]])
		}
	}
	return err
}

// badStates returns those that systemd's lists mark with a dot; they outweigh what the unit's file says.
func badStates() []string { return []string{"not-found", "masked", "failed"} }

func (s *scan) units(systemctl string) error {
	rc, stdout, stderr, err := initd.Output(s.ctx, s.env, systemctl, "list-units", "--no-pager", "--type", "service", "--all")
	if err != nil {
		return err
	}
	if rc != 0 {
		s.env.Warn("Could not list units from systemd: %s", stderr)
		stdout = ""
	}
	for _, f := range serviceLines(stdout, 4) {
		status := f[2]
		if at := slices.IndexFunc(badStates(), func(bad string) bool { return slices.Contains(f, bad) }); at >= 0 {
			status = badStates()[at]
		}
		if !strings.Contains(f[0], ".service") {
			f = f[1:] // the dot
		}
		state := "stopped"
		if len(f) > 3 && f[3] == "running" {
			state = "running"
		}
		s.add(f[0], state, "systemd", "status", status)
	}
	return s.unitFiles(systemctl)
}

// unitFiles adds units that are not loaded, and whether those that are start at boot.
func (s *scan) unitFiles(systemctl string) error {
	rc, stdout, stderr, err := initd.Output(s.ctx, s.env, systemctl, "list-unit-files", "--no-pager", "--type", "service", "--all")
	if err != nil {
		return err
	}
	if rc != 0 {
		s.env.Warn("Could not get unit files data from systemd: %s", stderr)
		return nil
	}
	var others [][]string
	for _, f := range serviceLines(stdout, 2) {
		if v, ok := s.services.Get(f[0]); ok {
			if known := v.(*value.Dict); !slices.Contains(badStates(), known.Text("status")) {
				known.Put("status", f[1])
			}
			continue
		}
		s.add(f[0], "unknown", "systemd", "status", f[1]) // keeps the place in the list until the state is known
		if !strings.HasSuffix(f[0], "@.service") {        // a template has no state: systemd refuses the name
			others = append(others, f)
		}
	}
	return s.notLoaded(systemctl, others)
}

// notLoaded adds units by their name and status. systemd is asked for all at once, since each call has it load a unit
// and takes its time; where that does not tell of each, as when one has a name that it refuses, half by half.
func (s *scan) notLoaded(systemctl string, units [][]string) error {
	if len(units) == 0 {
		return nil
	}
	argv := []string{systemctl, "show"}
	for _, f := range units {
		argv = append(argv, f[0])
	}
	rc, stdout, _, err := initd.Output(s.ctx, s.env, append(argv, "--property=ActiveState")...)
	if err != nil {
		return err
	}
	states := strings.Split(strings.TrimSpace(stdout), "\n\n")
	switch {
	case rc == 0 && len(states) == len(units) && stdout != "":
		for i, f := range units {
			s.add(f[0], strings.TrimPrefix(states[i], "ActiveState="), "systemd", "status", f[1])
		}
	case len(units) == 1:
		s.add(units[0][0], "unknown", "systemd", "status", units[0][1])
	default:
		half := len(units) / 2
		return errors.Join(s.notLoaded(systemctl, units[:half]), s.notLoaded(systemctl, units[half:]))
	}
	return nil
}

// serviceLines returns the fields of the lines that name a service and have at least so many.
func serviceLines(text string, least int) [][]string {
	var list [][]string
	for _, line := range strings.Split(text, "\n") {
		if f := strings.Fields(line); strings.Contains(line, ".service") && len(f) >= least {
			list = append(list, f)
		}
	}
	return list
}

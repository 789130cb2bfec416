// Package services holds the modules that start, stop and enable services: systemd by its systemctl, and the
// init scripts of hosts that have no systemd.
package services

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"hark/modules"
)

// All are the modules of this family.
func All() []*modules.Module {
	return []*modules.Module{Systemd, Service, ServiceFacts, Sysvinit}
}

// output runs a tool and gives its exit code and its output as text. A tool that cannot be started fails.
func output(ctx context.Context, env *modules.Env, argv ...string) (rc int, stdout, stderr string, err error) {
	out, err := env.Exec(ctx, modules.Command{Argv: argv, Env: []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "LC_MESSAGES=C.UTF-8"}})
	return out.Rc, string(out.Stdout), string(out.Stderr), err
}

// systemdRuns tells that systemd is this host's init, as sd_booted(3) finds out.
func systemdRuns(env *modules.Env) bool {
	if env.LookPath("systemctl") == "" {
		return false
	}
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		return true
	}
	comm, _ := os.ReadFile("/proc/1/comm")
	return strings.Contains(string(comm), "systemd")
}

const initDir = "/etc/init.d"

// hasInitScript tells that name is a script that init could run.
func hasInitScript(name string) bool {
	info, err := os.Stat(filepath.Join(initDir, name))
	return err == nil && info.Mode()&0o111 != 0 && !info.IsDir()
}

var startLink = regexp.MustCompile(`^S\d\d`)

// startsAtBoot tells that some runlevel starts the script; a runlevel, if given, looks at that one alone.
func startsAtBoot(name, runlevel string) bool {
	if runlevel == "" {
		runlevel = "?"
	}
	links, _ := filepath.Glob("/etc/rc" + runlevel + ".d/S??" + globQuote(name))
	for _, link := range links {
		if startLink.MatchString(filepath.Base(link)) {
			return true
		}
	}
	return false
}

func globQuote(s string) string { return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(s, `\$0`) }

// missing is the failure for a service that the host does not know.
func missing(name string) (modules.Result, error) {
	return modules.Fail("Could not find the requested service %s: host", name)
}

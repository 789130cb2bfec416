// Package initd is what the modules for services know of a host's init: whether it is systemd, and the scripts of one
// that is not.
package initd

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"hark/modules"
)

// Output runs a tool and gives its exit code and its output as text. A tool that cannot be started fails.
func Output(ctx context.Context, env *modules.Env, argv ...string) (rc int, stdout, stderr string, err error) {
	out, err := env.Exec(ctx,
		modules.Command{Argv: argv, Env: []string{"LANG=C.UTF-8", "LC_ALL=C.UTF-8", "LC_MESSAGES=C.UTF-8"}})
	return out.Rc, string(out.Stdout), string(out.Stderr), err
}

// SystemdRuns reports whether systemd is this host's init, as sd_booted(3) finds out.
func SystemdRuns(env *modules.Env) bool {
	if env.LookPath("systemctl") == "" {
		return false
	}
	if _, err := os.Stat("/run/systemd/system"); err == nil {
		return true
	}
	comm, _ := os.ReadFile("/proc/1/comm")
	return strings.Contains(string(comm), "systemd")
}

// Dir is where init scripts are.
const Dir = "/etc/init.d"

// HasScript reports whether name is a script that init could run.
func HasScript(name string) bool { return isScript(Dir, name) }

func isScript(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode()&0o111 != 0 && !info.IsDir()
}

var startLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^S\d\d`) })

// StartsAtBoot reports whether some runlevel starts the script; a runlevel, if given, looks at that one only.
func StartsAtBoot(name, runlevel string) bool { return hasStartLink("/etc", name, runlevel) }

func hasStartLink(etc, name, runlevel string) bool {
	if runlevel == "" {
		runlevel = "?"
	}
	links, _ := filepath.Glob(etc + "/rc" + runlevel + ".d/S??" + GlobQuote(name))
	for _, link := range links {
		if startLink().MatchString(filepath.Base(link)) {
			return true
		}
	}
	return false
}

// GlobQuote makes a name a pattern that only it matches.
func GlobQuote(s string) string { return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(s, `\$0`) }

// Missing returns the failure for a service that the host does not know.
func Missing(name string) (modules.Result, error) {
	return modules.Fail("Could not find the requested service %s: host", name)
}

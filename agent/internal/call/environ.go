package call

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"hark/modules/nss"
)

// environ returns the environment of a user's processes, "" is the agent's own user. To become who one is changes
// nothing, as in Ansible: PATH and the rest are those of the process.
func (h Host) environ(name string) ([]string, error) {
	if h.Environ != nil {
		return h.Environ(name)
	}
	if name == "" {
		return own(os.Environ(), nss.Current), nil
	}
	u, err := nss.UserNamedOrNumbered(name)
	switch {
	case errors.Is(err, nss.ErrUnknown):
		return nil, fmt.Errorf("cannot run as %s: there is no such user on this host", name)
	case err != nil:
		return nil, fmt.Errorf("cannot run as %s: %w", name, err)
	case u.UID == os.Getuid():
		return own(os.Environ(), nss.Current), nil
	}
	out := ofLogin(u)
	for _, k := range []string{"LANG", "LC_ALL", "TZ"} {
		if v := os.Getenv(k); v != "" {
			out = append(out, k+"="+v)
		}
	}
	return out, nil
}

// ofLogin returns what a login sets.
func ofLogin(u *nss.User) []string {
	path := "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
	if u.UID == 0 {
		path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	return []string{"HOME=" + u.Home, "USER=" + u.Name, "LOGNAME=" + u.Name, "SHELL=" + cmp.Or(u.Shell, "/bin/sh"),
		"PATH=" + path}
}

// ofService are the variables that systemd sets for a service. They are not for its children: a command that found
// NOTIFY_SOCKET would speak in the agent's name.
func ofService(name string) bool {
	switch name {
	case "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "INVOCATION_ID", "SYSTEMD_EXEC_PID",
		"MEMORY_PRESSURE_WATCH",
		"MEMORY_PRESSURE_WRITE", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "STATE_DIRECTORY", "CONFIGURATION_DIRECTORY",
		"MAINPID":
		return true
	}
	return false
}

// own returns the agent's environment; that of a service without what is the service's, and with what a login would
// set.
func own(environ []string, who func() (*nss.User, error)) []string {
	out := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return ofService(nameOf(kv)) })
	has := func(name string) bool {
		return slices.ContainsFunc(environ, func(kv string) bool { return nameOf(kv) == name })
	}
	if !has("INVOCATION_ID") {
		return out
	}
	u, err := who()
	if err != nil {
		return out // a user of no database
	}
	for _, kv := range ofLogin(u) {
		// PATH may be the unit's. The user and his shell are those of the database: systemd may have said /bin/sh.
		if name := nameOf(kv); name != "PATH" || !has(name) {
			out = slices.DeleteFunc(out, func(kv string) bool { return nameOf(kv) == name })
			out = append(out, kv)
		}
	}
	return out
}

// nameOf returns the name of a variable written KEY=value.
func nameOf(kv string) string {
	name, _, _ := strings.Cut(kv, "=")
	return name
}

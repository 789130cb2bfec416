package modules

import (
	"os"
	"strings"
)

// Python is the path of the host's Python interpreter, for facts and for modules that are written in it: the one that
// ansible_python_interpreter names, else the first that is found; "" if there is none.
func (e *Env) Python() string {
	named := strings.TrimSpace(e.Interpreter)
	if strings.HasPrefix(named, "/") {
		if _, err := os.Stat(named); err == nil {
			return named
		}
	} else if named != "" && !strings.HasPrefix(named, "auto") {
		return e.LookPath(named)
	}
	for _, name := range []string{"/usr/bin/python3", "/usr/libexec/platform-python", "python3", "python"} {
		if path := e.LookPath(name); path != "" {
			return path
		}
	}
	return ""
}

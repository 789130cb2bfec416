package config

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules/nss"
	"hark/modules/py/cwd"
)

// World is what a configuration is read from.
type World struct {
	// Getenv looks up an environment variable.
	Getenv func(name string) (string, bool)
	// Names are the names of all environment variables; nil knows none.
	Names func() []string
	// Dir is the working directory, Home the user's.
	Dir, Home string
	// System is the file for the whole machine, /etc/ansible/ansible.cfg.
	System string
}

// environment returns the names of this process's variables.
func environment() []string {
	var out []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		out = append(out, name)
	}
	return out
}

// ThisWorld returns that of the process.
func ThisWorld() World {
	dir, _ := cwd.Get()
	return World{Getenv: os.LookupEnv, Names: environment, Dir: dir, Home: home(), System: "/etc/ansible/ansible.cfg"}
}

// home returns the user's directory: that of $HOME, or that of the user database where services and timers leave HOME
// out.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return nss.Home("")
}

// find returns the configuration file that counts, "" if there is none: that of ANSIBLE_CONFIG, of the working
// directory, of the user, of the machine. A working directory that anybody can write to does not count; the warning
// says so.
func (w World) find() (path, warning string) {
	var candidates []string
	named := ""
	if text, ok := w.Getenv("ANSIBLE_CONFIG"); ok {
		named = w.abs(text, w.Dir)
		if info, err := os.Stat(named); err == nil && info.IsDir() {
			named = filepath.Join(named, "ansible.cfg")
		}
		candidates = append(candidates, named)
	}
	here, public := filepath.Join(w.Dir, "ansible.cfg"), false
	if info, err := os.Stat(w.Dir); err == nil {
		if info.Mode().Perm()&0o002 == 0 {
			candidates = append(candidates, here)
		} else {
			public = exists(here)
		}
	}
	candidates = append(candidates, filepath.Join(w.Home, ".ansible.cfg"), w.System)
	for _, c := range candidates {
		if readable(c) {
			path = c
			break
		}
	}
	if public && (named == "" || path != named) {
		warning = "Ansible is being run in a world writable directory (" + w.Dir +
			"), ignoring it as an ansible.cfg source. For more information see " +
			"https://docs.ansible.com/ansible/devel/reference_appendices/config.html#cfg-in-world-writable-dir"
	}
	return path, warning
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

// abs makes a path absolute, with ~ and $VARIABLES expanded; relative ones start at base.
func (w World) abs(path, base string) string {
	path = strings.ReplaceAll(path, "{{CWD}}", w.Dir)
	path = w.expand(path)
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = w.Home + path[1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}

// expand replaces variables that are set; the others stay as they are written.
func (w World) expand(text string) string {
	return os.Expand(text, func(name string) string {
		if v, ok := w.Getenv(name); ok {
			return v
		}
		if strings.Contains(text, "${"+name+"}") {
			return "${" + name + "}"
		}
		return "$" + name
	})
}

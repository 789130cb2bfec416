package builtin

import (
	"testing"

	"hark/modules"
	"hark/modules/modtest"
	"hark/modules/py/value"
)

// The programs of testdata/tools only know how to answer. What a real git makes of the commands is tried by TestGitCasesWithGit.
func TestCases(t *testing.T) {
	files := modtest.Options{Sorted: []string{"files"}}
	command := modtest.Options{Setup: plain}
	rpm := modtest.Options{Tools: modtest.Tools(t, "rpm")}
	options := map[string]modtest.Options{
		"find":    files,
		"command": command, "expect": command, "raw": command, "script": command, "shell": command,
		"dnf": rpm, "rpm_key": rpm, "yum_repository": rpm,
	}
	for _, name := range []string{
		"add_host", "assert", "async_status", "debug", "fail", "group_by", "include_vars", "pause", "ping", "reboot", "set_fact", "set_stats",
		"validate_argument_spec", "wait_for_connection",
	} {
		options[name] = modtest.Options{Ask: ask, Setup: func(_ *testing.T, env *modules.Env, _ string) {
			env.Name, env.Task = name, "role : the task"
		}}
	}
	modtest.Collection(t, All(), options)
}

// plain gives children a PATH and nothing that could change what they print.
func plain(_ *testing.T, env *modules.Env, dir string) {
	env.Environ = []string{"HOME=" + dir, "PATH=/usr/bin:/bin", "LC_ALL=C"}
	env.Exec = modules.HostExec(env.Environ, nil)
}

// ask answers as a session does whose user types what he was asked.
func ask(kind string, args map[string]any) (map[string]any, error) {
	switch kind {
	case "add_host", "group_by":
		return map[string]any{"changed": true}, nil
	case "host":
		return map[string]any{"local": false}, nil
	case "reached":
		return map[string]any{"ok": true}, nil
	case "pause":
		return map[string]any{"text": args["text"]}, nil
	}
	status := value.DictOf("failed", true, "msg", "could not find job", "started", 1, "finished", 1)
	switch args["id"] {
	case "j1":
		status = value.DictOf("started", 1, "finished", 0)
	case "j2":
		status = value.DictOf("finished", 1, "changed", true, "rc", 0, "stdout", "done")
	}
	return map[string]any{"status": status}, nil
}

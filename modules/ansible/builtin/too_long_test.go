package builtin

import (
	"context"
	"io"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

// TestALineThatIsTooLongIsShownAsItWasTyped: the system takes no word of more than 128 KiB, and Ansible shows the line.
func TestALineThatIsTooLongIsShownAsItWasTyped(t *testing.T) {
	long := strings.Repeat("a", 200<<10)
	for name, c := range map[string]struct {
		module *modules.Module
		args   map[string]any
		want   string
		said   string
	}{
		"shell": {Shell, map[string]any{"_raw_params": "echo 'b  c' " + long}, "echo 'b  c' " + long,
			"'/bin/sh'"},
		"shell with its executable": {Shell, map[string]any{"_raw_params": "echo " + long, "executable": "/bin/sh"},
			"/bin/sh -c 'echo " + long + "'", "b'/bin/sh'"},
		"command": {Command, map[string]any{"_raw_params": "echo " + long}, "echo " + long, "b'echo'"},
	} {
		env := plainEnv(t)
		env.Exec = modules.HostExec(env.Environ, nil)
		r := c.module.Run(context.Background(), env, modtest.Args(c.args))
		if got := modtest.Entry(r, "cmd"); !r.Failed || got != c.want || modtest.Entry(r, "rc") != int64(7) ||
			r.Msg != "[Errno 7] Argument list too long: "+c.said {
			text, _ := got.(string)
			t.Errorf("%s: %.60q, rc %v, %q", name, text, modtest.Entry(r, "rc"), r.Msg)
		}
	}
}

// TestScriptsMayBeLong: a script is a file of the host, for which the 128 KiB of a word do not count.
func TestScriptsMayBeLong(t *testing.T) {
	text := "#!/bin/sh\n" + strings.Repeat("# a line of no use\n", 20000) + "echo done $1\n"
	env := plainEnv(t)
	env.Exec = modules.HostExec(env.Environ, nil)
	env.Open = func(context.Context, string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	r := Script.Run(context.Background(), env, modtest.Args(map[string]any{"_raw_params": "long.sh now", "hark_digest": "d"}))
	if got := modtest.Entry(r, "stdout"); r.Failed || got != "done now\n" {
		t.Errorf("script: %.60q, %q", got, r.Msg)
	}
	r = Shell.Run(context.Background(), env, modtest.Args(map[string]any{"_raw_params": "sh -s now", "stdin": text}))
	if got := modtest.Entry(r, "stdout"); r.Failed || got != "done now" {
		t.Errorf("shell: %.60q, %q", got, r.Msg)
	}
}

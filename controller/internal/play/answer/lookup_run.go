package answer

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"hark/modules/py/value"
)

func lookupEnv(_ *Answerer, c *lookupCall) ([]value.Value, error) {
	otherwise, ok := c.kw.Get("default")
	if !ok || value.IsNone(otherwise) {
		otherwise = value.Str("")
	}
	var out []value.Value
	for _, term := range c.texts() {
		fields := strings.Fields(term)
		if len(fields) == 0 {
			return nil, failLookup("IndexError", "list index out of range")
		}
		if v, ok := os.LookupEnv(fields[0]); ok {
			out = append(out, value.Str(v))
		} else {
			out = append(out, otherwise)
		}
	}
	return out, nil
}

func lookupPipe(_ *Answerer, c *lookupCall) ([]value.Value, error) {
	var out []value.Value
	for _, term := range c.texts() {
		text, err := run(c, "pipe", term)
		if err != nil {
			return nil, err
		}
		out = append(out, value.Str(strings.TrimRight(text, pySpace)))
	}
	return out, nil
}

func lookupLines(_ *Answerer, c *lookupCall) ([]value.Value, error) {
	var out []value.Value
	for _, term := range c.texts() {
		text, err := run(c, "lines", term)
		if err != nil {
			return nil, err
		}
		out = append(out, strs(splitLines(text)...)...)
	}
	return out, nil
}

// splitLines splits as Python's bytes.splitlines does: at \n, \r\n and \r, with no empty line at the end.
func splitLines(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	text = strings.TrimSuffix(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// run returns the output of a shell command in the playbook's directory. Its stderr is the controller's.
func run(c *lookupCall, plugin, command string) (string, error) {
	cmd := exec.CommandContext(c.ctx, "/bin/sh", "-c", command)
	cmd.Dir = string(c.dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	// A background child that keeps the pipe open must not hold up the play.
	cmd.WaitDelay = 200 * time.Millisecond
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return "", failLookup("AnsibleError", "lookup_plugin.%s(%s) returned %d", plugin, command, exit.ExitCode())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", failLookup("AnsibleError", "%v", err)
	}
	return out.String(), nil
}

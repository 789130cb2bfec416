package inventory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
	"hark/playbook/syntax"
)

func wantsScript(r *reading, path string) bool {
	if !wantsFile(r, path) {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return false
	}
	head := make([]byte, 2)
	n, _ := io.ReadFull(f, head)
	return info.Mode()&0o111 != 0 || string(head[:n]) == "#!"
}

// runScript returns the output of an inventory script.
func runScript(ctx context.Context, args ...string) (stdout []byte, stderr string, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// A background child that keeps the pipe open must not delay the play.
	cmd.WaitDelay = 200 * time.Millisecond
	if err = cmd.Run(); errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	stderr = errs.String()
	if stderr != "" && !strings.HasSuffix(stderr, "\n") {
		stderr += "\n"
	}
	return out.Bytes(), stderr, err
}

// parseScript runs the script with --list, and then once for each host whose variables are not in _meta.
func parseScript(ctx context.Context, from *reading, path string) error {
	out, stderr, err := runScript(ctx, path, "--list")
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return failf("Inventory script (%s) had an execution error: %s ", path, stderr)
	case err != nil:
		return failf("problem running %s --list (%s)", path, execReason(err, path))
	case !utf8.Valid(out):
		return failf("Inventory %s contained characters that cannot be interpreted as UTF-8: invalid bytes", path)
	}
	v, err := pyyaml.JSON(string(out), value.KindSource)
	if err != nil {
		// Ansible shows the reason twice.
		return failf("failed to parse executable inventory script results from %s: %s. %s\n%s", path, err, err, stderr)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return failf("failed to parse executable inventory script results from %s: needs to be a json dict\n%s", path, stderr)
	}
	r := scriptReader{path: path, loader: from.o.Loader, tree: from.tree, hosts: value.NewDict()}
	return r.read(ctx, d)
}

// execReason words a failure to start as Python does.
func execReason(err error, path string) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return "[Errno 13] Permission denied: '" + path + "'"
	case errors.Is(err, os.ErrNotExist):
		return "[Errno 2] No such file or directory: '" + path + "'"
	case errors.Is(err, syscall.ENOEXEC):
		return "[Errno 8] Exec format error: '" + path + "'"
	}
	return err.Error()
}

// scriptReader reads what a script has printed.
type scriptReader struct {
	path   string
	loader *syntax.Loader
	tree   *tree
	hosts  *value.Dict // those that groups name, in order, as keys
	vars   *value.Dict // of _meta, nil if the script must run for each host
}

func (r *scriptReader) read(ctx context.Context, d *value.Dict) error {
	for i := range d.Len() {
		k, v := d.At(i)
		name := value.Printed(k)
		if name != "_meta" {
			if err := r.group(name, v); err != nil {
				return err
			}
			continue
		}
		m, ok := v.(*value.Dict)
		if !ok {
			continue
		}
		if hostvars, ok := m.Get("hostvars"); ok {
			if r.vars, ok = hostvars.(*value.Dict); !ok {
				return failf("Improperly formatted host information for %s: hostvars is no dictionary", r.path)
			}
		}
	}
	for i := range r.hosts.Len() {
		k, _ := r.hosts.At(i)
		name := value.Printed(k)
		vars, err := r.host(ctx, name)
		if err != nil {
			return err
		}
		if err := r.tree.populate([]string{name}, vars, nil, 0); err != nil {
			return err
		}
	}
	return nil
}

// host returns the variables of a host: those of _meta, or the script's answer.
func (r *scriptReader) host(ctx context.Context, name string) ([]setting, error) {
	if r.vars != nil {
		v, _ := r.vars.Get(name)
		return settings(value.OrNone(v))
	}
	out, _, err := runScript(ctx, r.path, "--host", name)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, failf("problem running %s --host %s (%s)", r.path, name, err)
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, nil
	}
	v, err := r.loader.ParseValue(r.path, out)
	if err != nil {
		return nil, failf("could not parse post variable response: %s --host %s, %s", r.path, name, out)
	}
	return settings(v)
}

func (r *scriptReader) group(name string, v value.Value) error {
	g, err := r.tree.addGroup(name)
	if err != nil {
		return err
	}
	d, ok := v.(*value.Dict)
	if !ok {
		d = value.NewDict()
		d.Set("hosts", v)
	} else if !hasAny(d, "hosts", "vars", "children") { // a host with its variables
		one := value.NewDict()
		one.Set("hosts", value.NewList(g.variable()))
		one.Set("vars", d)
		d = one
	}
	if hosts, ok := d.Get("hosts"); ok {
		l, ok := hosts.(*value.List)
		if !ok {
			return failf("You defined a group '%s' with bad data for the host list:\n %s", g.Name, value.Printed(d))
		}
		for _, item := range l.Items {
			host, ok := value.Text(item)
			if !ok {
				return failf("Invalid host name supplied, expected a string but got %s for %s", syntax.Class(item),
					value.Printed(item))
			}
			r.hosts.Set(host, value.None{})
			if _, err := r.tree.addHost(host, g, 0); err != nil {
				return err
			}
		}
	}
	return r.tree.groupRest(g, d)
}

func hasAny(d *value.Dict, keys ...string) bool {
	for _, k := range keys {
		if _, ok := d.Get(k); ok {
			return true
		}
	}
	return false
}

// groupRest reads the variables and children of a group as scripts give them.
func (t *tree) groupRest(g *Group, d *value.Dict) error {
	if v, ok := d.Get("vars"); ok {
		vars, ok := v.(*value.Dict)
		if !ok {
			return failf("You defined a group '%s' with bad data for variables:\n %s", g.Name, value.Printed(d))
		}
		for i := range vars.Len() {
			k, item := vars.At(i)
			if err := t.setVariable(g.Name, value.Printed(k), item); err != nil {
				return err
			}
		}
	}
	children, _ := d.Get("children")
	l, ok := value.OrNone(children).(*value.List)
	if !ok {
		return nil
	}
	for _, item := range l.Items {
		child, err := t.addGroup(value.Printed(item))
		if err != nil {
			return err
		}
		if err := t.addChild(g, child); err != nil {
			return err
		}
	}
	return nil
}

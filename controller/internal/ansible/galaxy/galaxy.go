// Package galaxy fetches, builds and checks roles and collections as ansible-galaxy does: from Galaxy servers (API v1
// for roles, v3 and v2 for collections), git, archives and directories, into the directories where plays look for
// them. It knows no flags and no settings; what it says goes to a Screen, in Ansible's words.
package galaxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/modules/py/value"
	"hark/playbook/jinja/pyyaml"
)

// Screen shows what is done. It is called from one goroutine.
type Screen interface {
	Say(text string)
	Warn(text string)
	Error(text string)
	// Verbose is shown from this many -v on.
	Verbose(level int, text string)
}

// Client is one call of the command. Its fields are set before it is used, and it is used by one goroutine.
type Client struct {
	Screen Screen
	// Errors gets git's progress and error messages. Nil drops them.
	Errors io.Writer
	// Servers are asked in this order; there is at least one.
	Servers []*Server
	// Temp is a directory for what is fetched, which the caller removes.
	Temp string
	// Insecure takes any certificate of hosts that are not Galaxy servers.
	Insecure bool
	// Offline asks no server.
	Offline bool
	Signing Signing

	fetched *downloads // nil before the first
}

// downloads returns what was fetched already.
func (c *Client) downloads() *downloads {
	if c.fetched == nil {
		c.fetched = &downloads{
			screen: c.Screen, errors: c.Errors, temp: c.Temp, insecure: c.Insecure,
			fetched: map[string]string{}, metas: map[string]*Meta{},
		}
	}
	return c.fetched
}

// failed is an error in Ansible's words.
type failed string

func (e failed) Error() string { return string(e) }

func failf(format string, a ...any) error { return failed(fmt.Sprintf(format, a...)) }

// OptionsError is a call that makes no sense. The command's help belongs to it.
type OptionsError string

func (e OptionsError) Error() string { return string(e) }

// SyntaxError is a file of a role that has another form than it must.
type SyntaxError string

func (e SyntaxError) Error() string { return string(e) }

// wait is a pause that the end of ctx cuts short.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// readYAML returns a file's only document.
func readYAML(path string) (value.Value, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseYAML(data)
}

// yamlWords returns a mistake in YAML as PyYAML words it.
func yamlWords(err error, path string) string {
	var e *pyyaml.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	at := func(m pyyaml.Mark) string {
		return fmt.Sprintf("  in \"b'%s'\", line %d, column %d", path, m.Line, m.Column)
	}
	var lines []string
	if e.Context != "" {
		lines = append(lines, e.Context)
		if e.ContextMark != (pyyaml.Mark{}) && e.ContextMark != e.Mark {
			lines = append(lines, at(e.ContextMark))
		}
	}
	return strings.Join(append(lines, e.Problem, at(e.Mark)), "\n")
}

func parseYAML(data []byte) (value.Value, error) {
	n, err := pyyaml.Load(data, pyyaml.Options{})
	if err != nil {
		return nil, err
	}
	return n.Value, nil
}

// parseJSON keeps the order of keys, in which Ansible walks them.
func parseJSON(data []byte) (value.Value, error) { return pyyaml.JSON(string(data), value.KindStr) }

// text returns a value as Python prints it; nothing and None are no text.
func text(v value.Value) string {
	if v == nil || value.IsNone(v) {
		return ""
	}
	s, err := value.ToStr(v)
	if err != nil {
		return ""
	}
	return s
}

func items(v value.Value) []value.Value {
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// child reports whether path is parent or lies beneath it, by the names only.
func child(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, strings.TrimSuffix(parent, "/")+"/")
}

// join returns where a name of an archive or a list comes to lie under dir; false if that is outside.
func join(dir, name string) (string, bool) {
	path := filepath.Join(dir, name)
	return path, !filepath.IsAbs(name) && child(path, filepath.Clean(dir))
}

package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hark/controller/internal/bootstrap"
	"hark/controller/internal/ssh"
	"hark/modules/py/shlex"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/vars"
)

// connection reads the connection variables of a host.
type connection struct {
	ctx  context.Context
	t    *templar.Templar
	vars *value.Dict
	err  error
}

// text is the first of some variables that is set, rendered.
func (c *connection) text(or string, names ...string) string {
	for _, name := range names {
		raw, ok := c.vars.Get(name)
		if !ok {
			continue
		}
		text, err := c.t.Text(c.ctx, raw)
		if err != nil {
			c.fail(fmt.Errorf("cannot render %s: %w", name, err))
			return ""
		}
		return text
	}
	return or
}

func (c *connection) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// truth is a variable that says yes or no.
func (c *connection) truth(or bool, names ...string) bool {
	switch strings.ToLower(c.text("", names...)) {
	case "":
		return or
	case "true", "yes", "on", "1", "y", "t":
		return true
	}
	return false
}

// words are the arguments that some variables hold.
func (c *connection) words(texts ...string) []string {
	var all []string
	for _, text := range texts {
		words, err := shlex.Split(text)
		if err != nil {
			c.fail(fmt.Errorf("cannot split %q into words: %w", text, err))
		}
		all = append(all, words...)
	}
	return all
}

// sshTargets tells how hosts are reached over ssh. A host whose variables make no sense has its error.
func (p *project) sshTargets(ctx context.Context, hosts []*inventory.Host) ([]bootstrap.Host, error) {
	out := make([]bootstrap.Host, len(hosts))
	for i, h := range hosts {
		d, err := p.inventory.Vars(h)
		if err != nil {
			return nil, err
		}
		d = vars.Combine(d, vars.HostMagic(h.Name, p.inventory.GroupNames(h), h.File(), h.Dir()), false)
		d = vars.Combine(d, p.extra, false)
		c := &connection{ctx: ctx, t: templar.New(templar.DictVars{Dict: d}, p.templates), vars: d}
		out[i] = p.sshHost(h.Name, c)
	}
	return out, nil
}

func (p *project) sshHost(name string, c *connection) bootstrap.Host {
	kind := c.text(p.o.connection, "ansible_connection")
	h := bootstrap.Host{Name: name}
	if agent := c.text("", "hark_agent"); agent != "" {
		h.Name = agent
	}
	common, extra := p.o.sshCommon, p.o.sshExtra
	if common == "" {
		common = p.cfg.Text("connection/ssh.ssh_common_args")
	}
	if extra == "" {
		extra = p.cfg.Text("connection/ssh.ssh_extra_args")
	}
	h.Target = ssh.Target{
		Host:     c.text(name, "ansible_ssh_host", "ansible_host"),
		User:     c.text(p.o.user, "ansible_ssh_user", "ansible_user"),
		KeyFile:  c.text(p.o.privateKey, "ansible_ssh_private_key_file", "ansible_private_key_file"),
		Password: c.text(p.o.passwords.connection, "ansible_ssh_password", "ansible_ssh_pass", "ansible_password"),
		Timeout:  time.Duration(p.o.timeout) * time.Second,
		AnyKey:   !c.truth(p.cfg.Bool("HOST_KEY_CHECKING"), "ansible_ssh_host_key_checking", "ansible_host_key_checking"),
		Args: c.words(c.text(p.cfg.Text("connection/ssh.ssh_args"), "ansible_ssh_args"), c.text(common, "ansible_ssh_common_args"),
			c.text(extra, "ansible_ssh_extra_args")),
	}
	if port := c.text("", "ansible_ssh_port", "ansible_port"); port != "" {
		n, err := strconv.Atoi(port)
		if err != nil {
			c.fail(fmt.Errorf("%q is not a port", port))
		}
		h.Target.Port = n
	}
	method := c.text(p.o.becomeMethod, "ansible_become_method")
	h.Become = bootstrap.Become{
		On: c.truth(p.o.become, "ansible_become"), Method: method,
		Exe:      c.text(p.cfg.Text("DEFAULT_BECOME_EXE"), "ansible_"+method+"_exe", "ansible_become_exe"),
		Flags:    c.text(p.cfg.Text("DEFAULT_BECOME_FLAGS"), "ansible_"+method+"_flags", "ansible_become_flags"),
		Password: c.text(p.o.passwords.become, "ansible_"+method+"_pass", "ansible_"+method+"_password", "ansible_become_pass", "ansible_become_password"),
	}
	if kind == "local" {
		c.fail(errLocal)
	}
	h.Err = c.err
	return h
}

package cli

import (
	"context"
	"fmt"
	"strconv"

	"hark/controller/config"
	"hark/controller/internal/bootstrap"
	"hark/modules/py/shlex"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/vars"
)

// connection reads the connection variables of a host.
type connection struct {
	// find gives a variable, rendered; false if it is not set.
	find func(name string) (string, bool, error)
	err  error
}

// text is the first of some variables that is set.
func (c *connection) text(or string, names ...string) string {
	for _, name := range names {
		text, ok, err := c.find(name)
		if err != nil {
			c.fail(fmt.Errorf("cannot render %s: %w", name, err))
			return ""
		}
		if ok {
			return text
		}
	}
	return or
}

// number is the same of a variable that holds a number.
func (c *connection) number(or int, names ...string) int {
	text := c.text("", names...)
	if text == "" {
		return or
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		c.fail(fmt.Errorf("%s is %q, which is not a number", names[len(names)-1], text))
	}
	return n
}

func (c *connection) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// truth is a variable that says yes or no.
func (c *connection) truth(or bool, names ...string) bool {
	if text := c.text("", names...); text != "" {
		return config.Truth(text)
	}
	return or
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
		t := templar.New(templar.DictVars{Dict: d}, p.templates)
		out[i] = p.sshHost(h.Name, &connection{find: func(name string) (string, bool, error) {
			raw, ok := d.Get(name)
			if !ok {
				return "", false, nil
			}
			text, err := t.Text(ctx, raw)
			return text, true, err
		}})
	}
	return out, nil
}

func (p *project) sshHost(name string, c *connection) bootstrap.Host {
	kind := c.text(p.o.connection, "ansible_connection")
	h := bootstrap.Host{Name: name, Target: p.sshTarget(name, c)}
	if agent := c.text("", "hark_agent"); agent != "" {
		h.Name = agent
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

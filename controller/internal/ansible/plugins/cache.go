package plugins

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"hark/modules/py/value"
)

//go:embed cache.py
var cacheServer string

// Cache is a fact cache plug-in, which keeps the facts of hosts from run to run as play.FactCache wants it. It needs
// an Ansible on this machine.
type Cache struct {
	Runner *Runner
	// Name is that of the setting fact_caching, Dirs are directories to look for it in before Ansible's own.
	Name string
	Dirs []string
	// Warn tells of facts that cannot be read; a run goes on without them.
	Warn func(text string)
}

// cachePatience is how long a cache may take to answer: it may be a service that is away.
const cachePatience = time.Minute

// Open reports whether the plug-in can be used.
func (c *Cache) Open() error {
	_, err := c.ask("open", "", nil)
	return err
}

// Load returns a host's facts, false if there are none or they are too old.
func (c *Cache) Load(host string) (*value.Dict, bool) {
	facts, err := c.ask("load", host, nil)
	if err != nil {
		c.Warn("cannot read the facts of " + host + ": " + err.Error())
	}
	d, ok := facts.(*value.Dict)
	return d, ok
}

// Store keeps a host's facts.
func (c *Cache) Store(host string, facts *value.Dict) error {
	if facts == nil {
		facts = value.NewDict()
	}
	_, err := c.ask("store", host, facts)
	return err
}

// Forget drops a host's facts.
func (c *Cache) Forget(host string) error {
	_, err := c.ask("forget", host, nil)
	return err
}

func (c *Cache) ask(op, host string, facts *value.Dict) (value.Value, error) {
	var given value.Value = value.None{}
	if facts != nil {
		given = facts
	}
	args, err := value.Encode(value.NewList(value.Str(op), value.Str(host), given))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cachePatience)
	defer cancel()
	raw, err := c.Runner.ask(ctx, request{Kind: "cache", Full: c.Name, Dirs: c.Dirs, Args: args}, Call{})
	var raised *value.Error
	switch {
	case errors.As(err, &raised):
		return nil, errors.New(raised.Msg)
	case err != nil:
		return nil, err
	}
	return value.Decode(raw, value.KindUnsafe)
}

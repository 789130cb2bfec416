package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"hark/modules/py/value"
	"hark/playbook/inventory"
	"hark/playbook/jinja"
)

// Inventory reads sources with inventory plug-ins. They need an Ansible on this machine, which they are made of.
type Inventory struct {
	Runner *Runner
	// Book is the playbook's directory, whose plug-ins and collections come first, "" for none.
	Book string
}

// Has implements inventory.Foreign.
func (i Inventory) Has(ctx context.Context, name string) bool {
	_, err := i.ask(ctx, name, value.None{}, value.None{})
	return err == nil
}

// Read implements inventory.Foreign.
func (i Inventory) Read(ctx context.Context, name, path string, present *value.Dict) (*value.Dict, error) {
	raw, err := i.ask(ctx, name, value.Str(path), present)
	var raised *value.Error
	switch {
	case errors.Is(err, jinja.ErrNoPlugin):
		return nil, inventory.ErrNoPlugin
	case errors.As(err, &raised):
		return nil, errors.New(raised.Msg)
	case err != nil:
		return nil, err
	}
	// What a plug-in does not mark as unsafe may hold templates, as in any source.
	v, err := value.Decode(raw, value.KindSource)
	if err != nil {
		return nil, fmt.Errorf("cannot read what the inventory plug-in %s gives: %w", name, err)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, inventory.ErrDeclined
	}
	return d, nil
}

func (i Inventory) ask(ctx context.Context, name string, args ...value.Value) (json.RawMessage, error) {
	raw, err := value.Encode(value.NewList(args...))
	if err != nil {
		return nil, err
	}
	q := request{Kind: "inventory", Full: name, Args: raw, Basedir: i.Book}
	if i.Book != "" {
		q.Dirs, q.Books = []string{filepath.Join(i.Book, "inventory_plugins")}, []string{i.Book}
	}
	return i.Runner.ask(ctx, q, Call{})
}

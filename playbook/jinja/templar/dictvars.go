package templar

import (
	"context"

	"hark/modules/py/value"
)

// DictVars are the variables of a dict. It implements Vars.
type DictVars struct{ *value.Dict }

// Raw returns the dict's entry.
func (v DictVars) Raw(_ context.Context, name string) (value.Value, bool, error) {
	raw, ok := v.Get(name)
	return raw, ok, nil
}

// Names returns the dict's keys.
func (v DictVars) Names(context.Context) []string {
	names := make([]string, 0, v.Len())
	for _, k := range v.Keys() {
		names = append(names, value.Printed(k))
	}
	return names
}

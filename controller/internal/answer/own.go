package answer

import (
	"context"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/search"
)

// OwnLookup runs lookups for what the controller itself renders: the names of plays, hosts and files. Files are looked for
// beside the playbook in dir.
func OwnLookup(cfg Config, dir string) func(ctx context.Context, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
	a, known := &Answerer{Config: cfg}, lookups()
	return func(ctx context.Context, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
		run := known[lookupNamed(name)]
		if run == nil {
			return nil, templar.ErrUnknownLookup
		}
		if kw == nil {
			kw = value.NewDict()
		}
		list, err := run(a, &lookupCall{ctx: ctx, terms: args, kw: kw, paths: []string{dir}, dir: search.Dir(dir), sub: "files"})
		if err != nil {
			return nil, err
		}
		return value.NewList(list...), nil
	}
}

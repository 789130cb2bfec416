package answer

import (
	"context"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/search"
)

// OwnTemplate reads template files for what the controller itself renders, among it the variables of other hosts that
// hostvars shows.
func OwnTemplate(cfg Config, dir string) func(name string) (path string, text value.Source, err error) {
	a := &Answerer{Config: cfg}
	return func(name string) (string, value.Source, error) {
		path := a.find(&lookupCall{paths: []string{dir}, dir: search.Dir(dir)}, "templates", name)
		if path == "" {
			return "", value.Source{}, value.Errorf("AnsibleError", "the template file %s could not be found for the lookup",
				name)
		}
		text, err := a.read(path)
		return path, value.SourceText(string(text)), err
	}
}

// OwnLookup runs lookups for what the controller itself renders: the names of plays, hosts and files. Files are
// looked for beside the playbook in dir.
func OwnLookup(cfg Config, dir string) func(ctx context.Context, name string, args []value.Value,
	kw *value.Dict) (value.Value, error) {
	a, known := &Answerer{Config: cfg}, lookups()
	return func(ctx context.Context, name string, args []value.Value, kw *value.Dict) (value.Value, error) {
		run := known[lookupNamed(name)]
		if run == nil {
			return nil, templar.ErrUnknownLookup
		}
		if kw == nil {
			kw = value.NewDict()
		}
		list, err := run(a, &lookupCall{ctx: ctx, terms: args, kw: kw, paths: []string{dir}, dir: search.Dir(dir),
			sub: "files"})
		if err != nil {
			return nil, err
		}
		return value.NewList(list...), nil
	}
}

package builtin

import (
	"context"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type getentArgs struct {
	Database string  `arg:"database,required" doc:"The database: passwd, group, hosts, services and what else the host has."`
	Key      *string `arg:"key" doc:"The entry to look for; without it all are listed."`
	Service  *string `arg:"service" doc:"The service of nsswitch to ask, instead of those configured."`
	Split    *string `arg:"split" doc:"What parts the fields; white space, or a colon in databases of accounts."`
	FailKey  bool    `arg:"fail_key,default=yes" doc:"Whether a key that is not there is a failure."`
}

// Getent is ansible.builtin.getent.
var Getent = modules.Define("ansible.builtin.getent", "Looks entries up in the host's databases", runGetent,
	modules.Operands("database", "key"),
	modules.StartsInCheck("getent"),
	modules.Documented(`- ansible.builtin.getent: {database: passwd, key: root}
- ansible.builtin.debug: {msg: "{{ ansible_facts.getent_passwd.root[4] }}"}
`,
		modules.Return{Name: "ansible_facts", Type: "dict", When: "always",
			Doc: "getent_ and the name of the database: the fields of each entry by its first one."},
	), modules.Is(modules.OnlyLooks))

func runGetent(ctx context.Context, env *modules.Env, a getentArgs) (modules.Result, error) {
	if a.Split != nil && *a.Split == "" {
		return modules.Fail("empty separator")
	}
	argv := []string{a.Database}
	if a.Key != nil {
		argv = append(argv, *a.Key)
	}
	if a.Service != nil {
		argv = append(argv, "-s", *a.Service)
	}
	out, err := tool.Host{Ctx: ctx, Env: env}.Run("getent", argv...)
	if err != nil {
		return modules.Result{}, err
	}
	const unknown = "One or more supplied key could not be found in the database."
	fact := "getent_" + a.Database
	switch {
	case out.Rc == 0:
		return modules.Result{Facts: value.DictOf(fact, entries(out.Stdout, a))}, nil
	case out.Rc == 2 && !a.FailKey && a.Key != nil:
		return modules.Result{Msg: unknown, Facts: value.DictOf(fact, value.DictOf(*a.Key, nil))}, nil
	case out.Rc == 1:
		return modules.Fail("Missing arguments, or database unknown.")
	case out.Rc == 2:
		return modules.Fail(unknown)
	case out.Rc == 3:
		return modules.Fail("Enumeration not supported on this database.")
	}
	return modules.Fail("Unexpected failure!")
}

// entries returns the other fields of each line by its first one, in the order of the database. A name that several
// lines have gets a list of them.
func entries(text string, a getentArgs) *value.Dict {
	tree, all := value.NewDict(), map[string][]any{}
	for _, line := range modules.Lines(text) {
		name, rest := record(line.(string), a)
		if all[name] = append(all[name], rest); len(all[name]) == 1 {
			tree.Put(name, rest)
		} else {
			tree.Put(name, all[name])
		}
	}
	return tree
}

func record(line string, a getentArgs) (name string, rest []any) {
	fields := strings.Fields(line)
	switch {
	case a.Split != nil:
		fields = strings.Split(line, *a.Split)
	case slices.Contains([]string{"passwd", "shadow", "group", "gshadow"}, a.Database):
		fields = strings.Split(line, ":")
	}
	rest = []any{}
	for i, field := range fields {
		if i == 0 {
			name = field
			continue
		}
		rest = append(rest, field)
	}
	return name, rest
}

package inventory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// racks is a plug-in that reads sources called racks.yml.
type racks struct{ data string }

func (r racks) Has(_ context.Context, name string) bool { return name == "acme.cloud.racks" }

func (r racks) Read(ctx context.Context, name, path string, _ *value.Dict) (*value.Dict, error) {
	switch {
	case !r.Has(ctx, name):
		return nil, ErrNoPlugin
	case filepath.Base(path) != "racks.yml":
		return nil, ErrDeclined
	case r.data == "":
		return nil, errors.New("there are no racks")
	}
	v, err := value.Decode([]byte(r.data), value.KindSource)
	return v.(*value.Dict), err
}

func TestForeignPlugins(t *testing.T) {
	const two = `{"hosts": {"a": {"n": 1}, "b": {}}, "groups": {"r": {"hosts": ["b"], "children": ["s"], "vars": {"x": ` +
		`"{{ n }}"}}, "s": {"hosts": ["a"]}}}`
	const source, enabled = "plugin: acme.cloud.racks\n", "acme.cloud.racks"
	for _, c := range []struct{ name, file, text, enabled, data, hosts, err string }{
		{name: "named by the source", file: "racks.yml", text: source, data: two, hosts: "b a"},
		{name: "enabled", file: "racks.yml", enabled: enabled, data: two, hosts: "b a"},
		{name: "does not want it", file: "other.yml", text: source,
			err: "could not be verified by inventory plugin 'acme.cloud.racks'"},
		{name: "unknown", file: "racks.yml", text: "plugin: a.b.c\n", err: "specifies unknown plugin 'a.b.c'"},
		{name: "fails", file: "racks.yml", text: source, err: "with auto plugin: there are no racks"},
		{name: "fails and is named as Python does", file: "racks.yml", enabled: enabled,
			err: "with ansible_collections.acme.cloud.plugins.inventory.racks plugin: "},
		{name: "is none", file: "racks.yml", enabled: "a.b.c,yaml", err: "Failed to load inventory plugin, skipping a.b.c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var warned []string
			o := Options{Sources: []string{path}, Loader: &syntax.Loader{}, Foreign: racks{c.data},
				Warn: func(text string) { warned = append(warned, text) }}
			if c.enabled != "" {
				o.Plugins = strings.Split(c.enabled, ",")
			}
			inv, err := Load(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(warned, "\n"); !strings.Contains(said, c.err) || c.err == "" && said != "" {
				t.Errorf("it warns %q", said)
			}
			hosts, err := inv.Match("r")
			if c.hosts != "" && (err != nil || strings.Join(namesOf(hosts), " ") != c.hosts) {
				t.Errorf("the hosts are %q, %v", namesOf(hosts), err)
			}
		})
	}
}

// witness is a plug-in that keeps what it is given.
type witness struct{ seen *value.Dict }

func (w *witness) Has(context.Context, string) bool { return true }

func (w *witness) Read(_ context.Context, _, _ string, present *value.Dict) (*value.Dict, error) {
	w.seen = present
	return value.NewDict(), nil
}

func TestForeignPluginsSeeTheSourcesBefore(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.yml"), filepath.Join(dir, "second.yml")
	for path, text := range map[string]string{first: "g: {hosts: {a: {n: 1}}, children: {k: {vars: {x: y}}}}\n",
		second: "plugin: a.b.c\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := &witness{}
	if _, err := Load(t.Context(), Options{Sources: []string{first, second}, Loader: &syntax.Loader{},
		Foreign: w}); err != nil {
		t.Fatal(err)
	}
	got, err := value.Encode(w.seen)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"hosts":{"a":{"n":1}},"groups":{"all":{"hosts":[],"children":["ungrouped"],"vars":{}},` +
		`"ungrouped":{"hosts":[],"children":[],"vars":{}},"g":{"hosts":["a"],"children":["k"],"vars":{}},"k":{"hosts":[],` +
		`"children":[],"vars":{"x":"y"}}}}`
	if string(got) != want {
		t.Errorf("it sees %s, want %s", got, want)
	}
}

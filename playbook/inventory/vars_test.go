package inventory

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hark/modules/py/value"
)

// files writes files below a new directory and gives its name.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVarsFileMustBeAMapping(t *testing.T) {
	for text, want := range map[string]string{
		"- a\n":  "failed to combine variables, expected dicts but got a 'dict' and a 'AnsibleSequence': \n{}\n[\"a\"]",
		"text\n": "failed to combine variables, expected dicts but got a 'dict' and a 'AnsibleUnicode': \n{}\n\"text\"",
		"5\n":    "failed to combine variables, expected dicts but got a 'dict' and a 'int': \n{}\n5",
		"# no\n": "",
		"[]\n":   "",
		"{a: 1":  "",
	} {
		dir := files(t, map[string]string{"hosts": "h\n", "group_vars/all": text})
		inv, err := Load(context.Background(), Options{Sources: []string{filepath.Join(dir, "hosts")}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = inv.Vars(inv.Host("h"))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if text == "{a: 1" { // no YAML at all
			if err == nil {
				t.Error("a broken file was read")
			}
			continue
		}
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestImplicitLocalhostHasTheVariablesOfAll(t *testing.T) {
	dir := files(t, map[string]string{"hosts": "h\n[all:vars]\na=1\n", "group_vars/all": "b: 2\n",
		"host_vars/localhost": "c: 3\n"})
	inv, err := Load(context.Background(), Options{Sources: []string{filepath.Join(dir, "hosts")}, Python: "/py"})
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := inv.Match("localhost")
	if err != nil || len(hosts) != 1 || !hosts[0].Implicit {
		t.Fatalf("matched %v, %v", hosts, err)
	}
	vars, err := inv.Vars(hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	got, err := value.Repr(vars)
	if want := "{'a': 1, 'b': 2, 'ansible_python_interpreter': '/py', 'ansible_connection': 'local', 'c': 3}"; got != want || err != nil {
		t.Errorf("got %s, want %s", got, want)
	}
	if all, _ := inv.Match("all"); len(all) != 1 {
		t.Errorf("all matches %d hosts: the implicit localhost is not one of them", len(all))
	}
}

func TestOrderOfHosts(t *testing.T) {
	inv, err := Load(context.Background(), Options{Sources: []string{"b,a,c,"}})
	if err != nil {
		t.Fatal(err)
	}
	for order, want := range map[string]string{"": "bac", "inventory": "bac", "reverse_inventory": "cab", "sorted": "abc",
		"reverse_sorted": "cba"} {
		hosts, err := Order(inv.Hosts(), order)
		got := ""
		for _, h := range hosts {
			got += h.Name
		}
		if got != want || err != nil {
			t.Errorf("%q gives %s, want %s (%v)", order, got, want, err)
		}
	}
	if hosts, err := Order(inv.Hosts(), "shuffle"); err != nil || len(hosts) != 3 {
		t.Errorf("shuffled to %d hosts, %v", len(hosts), err)
	}
	if _, err := Order(inv.Hosts(), "x"); err == nil || err.Error() != "Invalid 'order' specified for inventory hosts: x" {
		t.Errorf("got %v", err)
	}
}

func TestNoSourceIsAnErrorWhereAskedFor(t *testing.T) {
	for want, o := range map[string]Options{
		"No inventory was parsed, please check your configuration and options.": {FailUnparsed: true},
		"Completely failed to parse inventory source /nonexistent/x":            {FailAnyUnparsed: true},
	} {
		o.Sources = []string{"/nonexistent/x"}
		if _, err := Load(context.Background(), o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestMismatchIsWhatTheOptionsSay(t *testing.T) {
	var warnings []string
	for how, wantErr := range map[string]bool{"": false, "warning": false, "ignore": false, "error": true} {
		warnings = nil
		inv, err := Load(context.Background(), Options{Sources: []string{"a,"}, Mismatch: how,
			Warn: func(text string) { warnings = append(warnings, text) }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = inv.Match("nope")
		if (err != nil) != wantErr {
			t.Errorf("%q: error %v", how, err)
		}
		if warned := len(warnings) == 1; warned != (how == "" || how == "warning") {
			t.Errorf("%q: warned of %q", how, warnings)
		}
	}
}

func FuzzINI(f *testing.F) {
	for _, s := range []string{"[a]\nb[1:3] x=1\n[c:children]\na\n[a:vars]\ny='z'\n", "h x=\"a b\" # c\n", "[a:vars]\nx\n",
		"[::1]:2\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		inv, err := Load(context.Background(),
			Options{Sources: []string{filepath.Join(files(t, map[string]string{"hosts": s}), "hosts")},
				Plugins: []string{"ini"}})
		if err != nil {
			t.Fatalf("a bad source is a warning, not %v", err)
		}
		if _, err := inv.List(Output{}); err != nil {
			t.Error(err)
		}
	})
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"all:!g[0]", "~h.*", "h[1:2]", "*,&g", "[!a-c]x", "[", "::1"} {
		f.Add(s)
	}
	inv, err := Load(context.Background(), Options{Sources: []string{"h1,h2,g3,"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		hosts, err := inv.Match(s)
		if err != nil && err.Error() == "" {
			t.Errorf("%q fails without a reason", s)
		}
		seen := map[string]bool{}
		for _, h := range hosts {
			if seen[h.Name] {
				t.Errorf("%q gives %s twice", s, h.Name)
			}
			seen[h.Name] = true
		}
	})
}

func TestNoNameLeadsOutOfHostVars(t *testing.T) {
	dir := files(t, map[string]string{
		"hosts": "a/b\n../outside\n", "host_vars/a/b.yml": "x: inside\n", "outside.yml": "x: outside\n",
	})
	inv, err := Load(context.Background(), Options{Sources: []string{filepath.Join(dir, "hosts")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a/b": "inside", "../outside": ""} {
		vars, err := inv.Vars(inv.Host(name))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := vars.Get("x")
		if got, _ := value.Text(v); got != want {
			t.Errorf("%s has x=%q, want %q", name, got, want)
		}
	}
}

// FuzzSources reads whatever the other formats of inventories may hold.
func FuzzSources(f *testing.F) {
	for _, s := range []string{"all:\n  hosts:\n    a[1:3]: {x: 1}\n  children:\n    g: {vars: {y: 2}}\n",
		`{"all": {"hosts": {"a": null}}}`, "[g.hosts]\na = {x = 1}\n",
		"plugin: constructed\nstrict: true\ngroups: {g: x is defined}\n",
		"plugin: generator\nhosts: {name: '{{ a }}'}\nlayers: {a: [1, 2]}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"h.yml", "h.toml", "h.json"} {
			inv, err := Load(context.Background(),
				Options{Sources: []string{filepath.Join(files(t, map[string]string{name: s}), name)}})
			if err != nil {
				continue
			}
			if _, err := inv.List(Output{}); err != nil {
				t.Error(err)
			}
		}
	})
}

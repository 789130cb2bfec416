package inventory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// known are three agents: two that are there, of which one has facts.
func known(context.Context) ([]Agent, error) {
	vars := func(version string) *value.Dict {
		d := value.NewDict()
		d.Set("hark_version", value.UnsafeStr(version))
		return d
	}
	facts := value.NewDict()
	facts.Set("distribution", value.UnsafeStr("Debian"))
	facts.Set("memtotal_mb", value.Int(2048))
	return []Agent{
		{Name: "web1", Present: true, Vars: vars("1.0"), Facts: facts},
		{Name: "web2", Present: true, Vars: vars("{{ 1 }}")},
		{Name: "gone", Vars: vars("0.9")},
	}, nil
}

func loadAgents(t *testing.T, text string, agents func(context.Context) ([]Agent, error)) (*Inventory, error) {
	t.Helper()
	source := AgentsSource
	if text != "" {
		source = filepath.Join(t.TempDir(), "agents.yml")
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(t.Context(), Options{Sources: []string{source}, Loader: &syntax.Loader{}, Agents: agents,
		FailAnyUnparsed: true})
}

func namesOf(hosts []*Host) []string {
	var out []string
	for _, h := range hosts {
		out = append(out, h.Name)
	}
	return out
}

func TestAgentsMakeGroupsAndVariables(t *testing.T) {
	for _, c := range []struct{ name, text, pattern, want string }{
		{"without a file", "", "all", "web1 web2"},
		{"absent too", "plugin: hark\nabsent: true\n", "all", "web1 web2 gone"},
		{"keyed by a fact", "plugin: hark\nkeyed_groups: [{key: ansible_distribution, prefix: os}]\n", "os_Debian", "web1"},
		{"by a condition", "plugin: hark\ngroups: {small: ansible_facts.memtotal_mb < 4000}\n", "small", "web1"},
		{"by what the roster knows", "plugin: hark\ngroups: {old: hark_version == '1.0'}\n", "old", "web1"},
		{"what agents say is no template", "plugin: hark\ngroups: {one: hark_version == '1'}\n", "all:&one", ""},
	} {
		inv, err := loadAgents(t, c.text, known)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		hosts, err := inv.Match(c.pattern)
		if got := namesOf(hosts); err != nil || !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %s are %v (%v), want %s", c.name, c.pattern, got, err, c.want)
		}
	}
}

func TestAgentsThatCannotBeAskedAreAnError(t *testing.T) {
	_, err := loadAgents(t, "", func(context.Context) ([]Agent, error) { return nil, errors.New("no broker") })
	if err == nil {
		t.Error("no error")
	}
}

func TestMisspeltOptionIsToldOf(t *testing.T) {
	source := filepath.Join(t.TempDir(), "agents.yml")
	if err := os.WriteFile(source, []byte("plugin: hark\nkeyd_groups: [{key: ansible_distribution}]\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err := Load(t.Context(), Options{
		Sources: []string{source}, Loader: &syntax.Loader{}, Agents: known, FailAnyUnparsed: true,
		Warn: func(text string) { said = append(said, text) },
	})
	if text := strings.Join(said, "\n"); err == nil ||
		!strings.Contains(text, "the plug-in hark has no option 'keyd_groups': it has absent,") {
		t.Errorf("err = %v, said %s", err, text)
	}
}

// TestNoHostIsMissed: one is left out only where its own variables, or facts that are known whole, say so.
func TestNoHostIsMissed(t *testing.T) {
	inv, err := loadAgents(t, "plugin: hark\nabsent: true\n", func(context.Context) ([]Agent, error) {
		var out []Agent
		for _, name := range []string{"whole", "part", "none"} {
			out = append(out, Agent{Name: name, Present: true, Vars: value.NewDict()})
		}
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	facts := func(host string) *value.Dict {
		d := value.NewDict()
		switch host {
		case "none":
			return nil
		case "whole":
			d.Set("gather_subset", value.NewList(value.UnsafeStr("all")))
			d.Set("distribution", value.UnsafeStr("Debian"))
		case "part": // as a ping leaves them
			d.Set("discovered_interpreter_python", value.UnsafeStr("/usr/bin/python3"))
		}
		return d
	}
	for expr, want := range map[string]string{
		"ansible_distribution == 'Debian'":                                              "whole | part none",
		"ansible_distribution == 'Fedora'":                                              " | part none",
		"ansible_distribution is defined":                                               "whole | part none",
		"ansible_distribution is not defined":                                           " | part none",
		"ansible_distribution | default('') == 'Fedora'":                                " | part none",
		"ansible_facts.distribution | default('x') == 'Fedora'":                         " | part none",
		"ansible_facts['distribution'] is defined":                                      "whole | part none",
		"ansible_nonsense is defined":                                                   " | part none",
		"(ansible_facts | default({})).get('distribution') == 'Debian'":                 "whole | part none",
		"hostvars is defined":                                                           " | part none",
		"ansible_distribution.x.y == 1":                                                 " | whole part none",
		"inventory_hostname == 'none'":                                                  "none | ",
		"inventory_hostname == 'none' and ansible_distribution is defined":              " | none",
		"not ansible_x is defined and (inventory_hostname == 'none' or 'a and b' == 1)": " | none",
		"inventory_hostname == 'none' and ansible_a or ansible_b is defined":            " | part none",
		"inventory_hostname == 'whole' or ansible_os_family is defined":                 "whole | part none",
	} {
		sure, unsure, err := inv.Where(t.Context(), expr, facts)
		got := strings.Join(namesOf(sure), " ") + " | " + strings.Join(namesOf(unsure), " ")
		if err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", expr, got, err, want)
		}
	}
	for _, expr := range []string{"1 +", `ansible_distribution = "Debian"`} {
		if _, _, err := inv.Where(t.Context(), expr, facts); err == nil {
			t.Errorf("%s: an expression that cannot be read is no error", expr)
		}
	}
	empty, err := loadAgents(t, "", func(context.Context) ([]Agent, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := empty.Where(t.Context(), "1 +", facts); err == nil {
		t.Error("an expression that cannot be read is no error where there are no hosts")
	}
}

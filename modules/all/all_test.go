package all

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hark/modules"
)

func TestCatalogueIsWhole(t *testing.T) {
	r := modules.NewRegistry(Modules()...)
	for _, name := range []string{"copy", "ansible.builtin.template", "ansible.legacy.command", "yum", "ansible.builtin.dnf5"} {
		if _, ok := r.Get(name); !ok {
			t.Errorf("there is no %s", name)
		}
	}
	if _, ok := r.Get("no_such_module"); ok {
		t.Error("there is a module that there is not")
	}
}

func TestDeclarationsSayWhatTheyAre(t *testing.T) {
	for _, m := range Modules() {
		if strings.Count(m.Name, ".") < 2 || m.Doc == "" {
			t.Errorf("%s has no full name or no line about it: %q", m.Name, m.Doc)
		}
		if m.Examples == "" && !m.Foreign {
			t.Errorf("%s has no examples", m.Name)
		}
		var tasks []map[string]any
		if err := yaml.Unmarshal([]byte(m.Examples), &tasks); err != nil || m.Examples != "" && len(tasks) == 0 {
			t.Errorf("the examples of %s are no tasks: %v", m.Name, err)
		}
		for _, p := range m.Params {
			if p.Doc == "" && !p.Hidden && p.Name != "*" {
				t.Errorf("%s does not say what %s is", m.Name, p.Name)
			}
		}
	}
}

func TestForeignModulesSayWhy(t *testing.T) {
	r := modules.NewRegistry(missing(nil)...)
	m, ok := r.Get("yum")
	if !ok {
		t.Fatal("there is no yum")
	}
	res := m.Run(t.Context(), &modules.Env{}, map[string]any{"name": "x"})
	if !res.Failed || !strings.Contains(res.Msg, "ansible.builtin.yum is not native") {
		t.Errorf("%+v", res)
	}
}

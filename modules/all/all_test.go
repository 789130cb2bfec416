package all

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hark/modules"
)

// ofCore are the modules of ansible-core 2.14 to 2.19 for Linux.
func ofCore() []string {
	return strings.Fields(`add_host apt apt_key apt_repository assemble assert async_status blockinfile command copy cron deb822_repository debconf
		debug dnf dnf5 dpkg_selections expect fail fetch file find gather_facts get_url getent git group group_by hostname include_vars iptables
		known_hosts lineinfile mount_facts package package_facts pause ping pip raw reboot replace rpm_key script service service_facts set_fact
		set_stats setup shell slurp stat subversion systemd systemd_service sysvinit tempfile template unarchive uri user validate_argument_spec
		wait_for wait_for_connection yum yum_repository`)
}

func TestCatalogueIsWhole(t *testing.T) {
	r := modules.NewRegistry(Modules()...)
	for _, name := range append([]string{"ansible.builtin.template", "ansible.legacy.command", "ansible.builtin.dnf5"},
		ofCore()...) {
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
		for _, p := range m.Params() {
			if p.Doc == "" && !p.Hidden && p.Name != "*" {
				t.Errorf("%s does not say what %s is", m.Name, p.Name)
			}
		}
	}
}

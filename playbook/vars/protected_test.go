package vars

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// What Ansible's settings and plug-ins read of hosts' variables no host may set, nor what Ansible itself takes out
// of facts.
// The names are those of ansible-core 2.14.18: `vars` in its documentation, and the constants of clean_facts.
func TestProtectedAreAllOptionsOfAnsible(t *testing.T) {
	f, err := os.Open("testdata/options.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name := lines.Text()
		if n++; !(Protected{}).Has(name) {
			t.Errorf("%s may be set by hosts", name)
		}
	}
	if n < 100 {
		t.Errorf("%d names are too few", n)
	}
}

// Every variable of every keyword is protected, for each become method; of connections each variable that is named
// after one.
func TestProtectedFollowTheTables(t *testing.T) {
	for _, k := range plan.Keywords() {
		for _, method := range dialect.Methods() {
			for _, name := range k.Variables(method.FullName()) {
				if !(Protected{}).Refuses(name, value.NewDict()) {
					t.Errorf("%s of %s may be set by hosts", name, k.Name)
				}
			}
		}
	}
	for _, name := range dialect.AllBecomeVariables() {
		if !(Protected{}).Refuses(name, value.NewDict()) {
			t.Errorf("%s may be set by hosts", name)
		}
	}
	for _, connection := range plan.ConnectionPlugins() {
		if name := "ansible_" + connection + "_anything"; !(Protected{}).Has(name) {
			t.Errorf("%s may be set by hosts", name)
		}
	}
	for name := range ansibles() {
		if !(Protected{}).Refuses(name, value.NewDict()) {
			t.Errorf("%s may be set by hosts", name)
		}
	}
	if n := len(ansibles()); n < 100 {
		t.Errorf("%d variables of Ansible's plug-ins are too few", n)
	}
	weird := Protected{Documented: map[string]bool{"my_weird_var": true}}
	if !weird.Has("my_weird_var") || (Protected{}).Has("my_weird_var") {
		t.Error("what a plug-in documents may be set by hosts")
	}
	own := Protected{Connections: []string{"mine"}, Becomes: []string{"ours"}, Options: []string{"ansible_odd"}}
	for _, name := range []string{"ansible_mine_exe", "ansible_ours_pass", "ansible_odd"} {
		if !own.Has(name) || (Protected{}).Has(name) {
			t.Errorf("%s: %t, without the project %t", name, own.Has(name), (Protected{}).Has(name))
		}
	}
}

// What hosts find out about themselves they may say: all that setup returns on a machine, and facts of interfaces that
// are called as plug-ins are.
func TestFactsOfHostsAreNotProtected(t *testing.T) {
	for _, name := range strings.Fields(`packages services ansible_distribution ansible_user_id ansible_user_dir ansible_python
		ansible_python_version ansible_hostname ansible_host_x ansible_fqdn ansible_local ansible_env ansible_system
		ansible_system_vendor ansible_ssh_host_key_rsa_public ansible_ssh_host_key_ed25519_public_keytype ansible_eth0
		ansible_default_ipv4 ansible_date_time ansible_virtualization_type ansible_lsb ansible_net_hostname ansible_selinux
		discovered_interpreter_python ansible_lvm ansible_pkg_mgr ansible_service_mgr ansible_become harkness`) {
		if refused := (Protected{}).Refuses(name, value.Str("x")); refused != (name == "ansible_become") {
			t.Errorf("%s: %t", name, refused)
		}
	}
	facts := value.NewDict()
	facts.Set("ansible_podman_0", value.NewDict())
	facts.Set("ansible_ssh_bridge", value.NewDict())
	facts.Set("ansible_network_os", value.NewDict())
	facts.Set("ansible_podman_executable", value.Str("sh"))
	facts.Set("ansible_ssh_host_key_checking", value.Bool(false))
	facts.Set("hark_agent", value.Str("db1"))
	facts.Set("plain", value.Str("x"))
	clean, refused := (Protected{}).Facts(facts)
	want := []string{"ansible_network_os", "ansible_podman_executable", "ansible_ssh_host_key_checking", "hark_agent"}
	if !slices.Equal(refused, want) || clean.Len() != 3 || facts.Len() != 7 {
		t.Errorf("refused %q, left %v", refused, clean.Keys())
	}
	if same, none := (Protected{}).Facts(clean); same != clean || none != nil {
		t.Error("facts that are fine are copied")
	}
}

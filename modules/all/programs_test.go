package all_test

import (
	"slices"
	"testing"

	"hark/modules"
	"hark/modules/all"
)

// An argument that names a program or has one run is declared as such by each module that has it: hosts' policies go by that.
func TestArgumentsThatRunProgramsAreDeclared(t *testing.T) {
	known := []string{"validate", "executable", "unix_socket", "fact_path", "mount_binary", "rsync_path", "rsync_opts", "ssh_args", "ssh_opts", "extra_opts",
		"extra_args", "virtualenv", "virtualenv_command", "reboot_command", "test_command", "boot_time_command", "search_paths", "pv_options", "vg_options"}
	runs := []string{"ansible.builtin.command", "ansible.builtin.shell", "ansible.builtin.raw", "ansible.builtin.script"} // it is what they are for
	for _, m := range all.Modules() {
		for _, p := range m.Params() {
			if slices.Contains(known, p.Name) && !slices.Contains(m.Programs, p.Name) && !slices.Contains(runs, m.Name) {
				t.Errorf("%s: %s is not declared", m.Name, p.Name)
			}
		}
		for _, name := range append(slices.Clone(m.Programs), m.ProgramsByPath...) {
			if !slices.ContainsFunc(m.Params(), func(p modules.Param) bool { return p.Name == name }) {
				t.Errorf("%s has no parameter %s", m.Name, name)
			}
		}
	}
	for _, name := range []string{"command", "shell", "raw", "script", "expect", "pip", "apt", "dnf", "cron", "user", "git", "unarchive"} {
		i := slices.IndexFunc(all.Modules(), func(m *modules.Module) bool { return m.Name == "ansible.builtin."+name })
		if i < 0 || !all.Modules()[i].Runs {
			t.Errorf("%s is not marked as one by which any program can be run", name)
		}
	}
}

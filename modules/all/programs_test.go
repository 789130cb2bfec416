package all_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/all"
	"hark/modules/modtest"
)

// An argument that names a program or has one run is declared as such by each module that has it: hosts' policies go
// by that.
func TestArgumentsThatRunProgramsAreDeclared(t *testing.T) {
	known := []string{"validate", "executable", "unix_socket", "fact_path", "mount_binary", "rsync_path", "rsync_opts",
		"ssh_args", "ssh_opts", "extra_opts",
		"extra_args", "virtualenv", "virtualenv_command", "reboot_command", "test_command", "boot_time_command",
		"search_paths", "pv_options", "vg_options"}
	// it is what they are for
	runs := []string{"ansible.builtin.command", "ansible.builtin.shell", "ansible.builtin.raw", "ansible.builtin.script"}
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
	for _, name := range []string{"command", "shell", "raw", "script", "expect", "pip", "apt", "dnf", "cron", "user",
		"git", "unarchive"} {
		i := slices.IndexFunc(all.Modules(), func(m *modules.Module) bool { return m.Name == "ansible.builtin."+name })
		if i < 0 || !all.Modules()[i].Runs {
			t.Errorf("%s is not marked as one by which any program can be run", name)
		}
	}
}

// No value of an argument that becomes a word of a command line is an option there: the call fails before any program
// is started.
func TestOperandsAreNoOptions(t *testing.T) {
	for _, m := range all.Modules() {
		for _, name := range m.Operands {
			i := slices.IndexFunc(m.Params(), func(p modules.Param) bool { return p.Name == name })
			if i < 0 {
				t.Errorf("%s has no parameter %s", m.Name, name)
				continue
			}
			for what, v := range map[string]any{"a text": "-oProxyCommand=id", "a list": []any{"fine", "--config=x"}} {
				if p := m.Params()[i]; what == "a list" && p.Type != "list" && p.Type != "raw" {
					continue
				}
				args := required(m)
				if args[name] = v; name == "interface" {
					args["direction"] = "in"
				}
				env := &modules.Env{Check: true, Warn: func(string, ...any) {},
					Exec: func(_ context.Context, c modules.Command) (modules.Output, error) {
						t.Errorf("%s starts %v", m.Name, c.Argv)
						return modules.Output{}, nil
					}}
				if res := m.Run(t.Context(), env, modtest.Args(args)); !res.Failed ||
					!strings.Contains(res.Msg, "the value of "+name+" begins with a dash") {
					t.Errorf("%s with %v: %+v", m.Name, args, res)
				}
			}
		}
	}
}

// required are values for the arguments that a module needs.
func required(m *modules.Module) map[string]any {
	args := map[string]any{}
	maps.Copy(args, map[string]map[string]any{ // what rules ask for beyond that
		"ansible.builtin.service": {"state": "started"}, "ansible.builtin.sysvinit": {"state": "started"},
		"ansible.posix.sysctl":           {"value": "1"},
		"community.general.alternatives": {"path": "/x"}, "community.general.ufw": {"state": "enabled"},
	}[m.Name])
	for _, p := range m.Params() {
		switch {
		case !p.Required:
		case len(p.Choices) > 0:
			args[p.Name] = p.Choices[0]
		case p.Type == "bool":
			args[p.Name] = true
		case p.Type == "dict":
			args[p.Name] = map[string]any{}
		default:
			args[p.Name] = "x"
		}
	}
	return args
}

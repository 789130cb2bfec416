package vars

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// What a host's modules find out and its tasks return becomes its variables. Some variables decide things that the host
// must not decide: who reaches it and how, which user and program its tasks run as, which host is meant. Playbooks,
// inventories and settings may set these; hosts may not. This file has the one list of them, made of the tables that
// define such variables. Code that takes in what a host says checks it; nobody checks variables that are already there.

// Protected are the variables that no host may set, in a project with its own plug-ins. The zero value has those
// without a project.
type Protected struct {
	// Connections and Becomes are the names of the project's own plug-ins.
	Connections, Becomes []string
	// Options are variables that say how the controller reaches hosts.
	Options []string
	// Documented are variables that set options of plug-ins in Python, as their documentation says.
	Documented map[string]bool
}

// ProtectedIn returns those of the project of a play, where options are variables by which the controller reaches
// hosts.
func ProtectedIn(p *plan.Play, options []string) Protected {
	return Protected{Connections: p.Connections, Becomes: p.Becomes, Options: options}
}

// Has reports whether no host may set a variable, whatever its value is.
func (p Protected) Has(name string) bool { return p.exact(name) || p.of(name) }

// Refuses reports whether no host may set a variable to a value. A mapping with the name of a plug-in's option is no
// option: facts of network interfaces look like that, such as podman0 or ssh-bridge.
func (p Protected) Refuses(name string, v value.Value) bool {
	if p.exact(name) {
		return true
	}
	_, isDict := v.(*value.Dict)
	return !isDict && p.of(name)
}

// Facts divides what a module has returned as facts: what may become variables, and the names of what may not. It
// returns the facts unchanged if all may.
func (p Protected) Facts(facts *value.Dict) (clean *value.Dict, refused []string) {
	facts.Each(func(k, v value.Value) bool {
		if name, ok := value.Text(k); ok && p.Refuses(name, v) {
			refused = append(refused, name)
		}
		return true
	})
	if len(refused) == 0 {
		return facts, nil
	}
	clean = value.NewDict()
	facts.Each(func(k, v value.Value) bool {
		if name, ok := value.Text(k); !ok || !p.Refuses(name, v) {
			clean.SetKey(k, v)
		}
		return true
	})
	return clean, refused
}

// exact reports whether the tables name a variable.
func (p Protected) exact(name string) bool {
	return slices.Contains(p.Options, name) || p.Documented[name] || ansibles()[name] ||
		strings.HasPrefix(name, "hark_") || plan.Steers(name) || named()[name] ||
		interpreterOption().MatchString(name)
}

// of reports whether a name is that of an option of a plug-in.
func (p Protected) of(name string) bool {
	rest, ok := strings.CutPrefix(name, "ansible_")
	if !ok || hostKey().MatchString(name) {
		return false
	}
	is := func(plugin string) bool {
		after, ok := strings.CutPrefix(rest, plugin)
		return ok && strings.HasPrefix(after, "_")
	}
	return slices.ContainsFunc(optionPrefixes(), is) || slices.ContainsFunc(p.Connections, is) ||
		slices.ContainsFunc(p.Becomes, is)
}

//go:embed options.txt
var optionsText string

// ansibles are the variables that set options of plug-ins of ansible-core and of collections that come with Ansible.
var ansibles = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(optionsText) {
		if name := strings.TrimSpace(line); name != "" && name[0] != '#' {
			out[name] = true
		}
	}
	return out
})

var (
	interpreterOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ansible_.*_interpreter$`) })
	// hostKey matches facts about the keys of a host's sshd.
	hostKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^ansible_ssh_host_key_\w+_public(_keytype)?$`)
	})
)

// optionPrefixes begin, after "ansible_", the options of connections and become methods, each by its plug-in.
var optionPrefixes = sync.OnceValue(func() []string {
	prefixes := []string{"become", "scp", "sftp", "shell", "lookup_url"}
	for _, name := range plan.ConnectionPlugins() {
		prefixes = append(prefixes, name[strings.LastIndexByte(name, '.')+1:])
	}
	return prefixes
})

// named are the protected variables that no other table or rule has: options that many plug-ins share, magic variables,
// and what Ansible itself rejects from modules.
var named = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(sharedOptions + magicNames) {
		out[name] = true
	}
	for _, k := range plan.Keywords() {
		for _, name := range k.Variables("") {
			out[name] = true
		}
	}
	everything := Step{Role: &plan.Role{}, Environment: []plan.Expr{}, Search: []string{"/"}}
	magic := []*value.Dict{
		HostMagic(value.Str(""), nil, "", ""), PlayMagic(PlayInfo{Options: Options{Limit: "all"}}),
		stepMagic(everything, &Shared{}),
	}
	for _, d := range magic {
		d.Each(func(k, _ value.Value) bool {
			name, _ := value.Text(k)
			out[name] = true
			return true
		})
	}
	return out
})

const (
	// sharedOptions are the options of connections, shells and modules that are not named after one plug-in.
	sharedOptions = `
		ansible_password ansible_private_key_file ansible_timeout ansible_host_key_checking ansible_connection_user
		ansible_control_path ansible_control_path_dir ansible_sshpass_prompt ansible_module_compression ansible_rsync_path
		ansible_remote_tmp ansible_admin_users ansible_common_remote_group ansible_system_tmpdirs ansible_no_target_syslog
		ansible_interpreter_python_fallback ansible_python_module_rlimit_nofile ansible_win_async_startup_timeout
		ansible_command_timeout ansible_connect_timeout ansible_host_key_auto_add ansible_network_single_user_mode
		ansible_terminal_stdout_re ansible_terminal_stderr_re ansible_terminal_initial_prompt ansible_terminal_initial_answer
		ansible_terminal_initial_prompt_checkall ansible_terminal_inital_prompt_newline`
	// magicNames are computed when they are read, or mean something where results are examined.
	magicNames = `
		hostvars groups vars omit ansible_facts ansible_delegated_vars ansible_current_hosts ansible_failed_hosts add_host
		add_group`
)

package vars

import (
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/modules/result"
)

// factViews are the layers that a host's facts make.
type factViews struct {
	of         *value.Dict // the Facts that they were made from
	namespaced *value.Dict // the one variable ansible_facts
	injected   *value.Dict // the facts as variables of their own
	local      *value.Dict // ansible_local alone, which is a variable even without injection
}

// views makes the views when they are first used after a change.
func (h *Host) views() *factViews {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.facts == nil || h.facts.of != h.Facts {
		h.facts = &factViews{
			of: h.Facts, namespaced: single("ansible_facts", NamespaceFacts(h.Facts)),
			injected: CleanFacts(h.Facts), local: value.NewDict(),
		}
		if local, ok := h.Facts.Get("ansible_local"); ok {
			h.facts.local.Set("ansible_local", local)
		}
	}
	return h.facts
}

func single(name string, v value.Value) *value.Dict {
	d := value.NewDict()
	d.Set(name, v)
	return d
}

// NamespaceFacts is the value of ansible_facts: names lose the prefix ansible_, except ansible_local.
func NamespaceFacts(facts *value.Dict) *value.Dict {
	out := value.NewDict()
	facts.Each(func(k, v value.Value) bool {
		name, ok := value.Text(k)
		if ok && name != "ansible_local" && strings.HasPrefix(name, "ansible_") {
			out.SetKey(value.UnsafeStr(strings.TrimPrefix(name, "ansible_")), v)
		} else {
			out.SetKey(k, v)
		}
		return true
	})
	return out
}

// CleanFacts are the facts that may become variables: what a module returns must not change how Ansible
// reaches or enters a host, nor name an interpreter.
func CleanFacts(facts *value.Dict) *value.Dict {
	out := value.NewDict()
	facts.Each(func(k, v value.Value) bool {
		name, ok := value.Text(k)
		if !ok || !restricted(name) && !result.Internal(name) {
			out.SetKey(k, v)
		}
		return true
	})
	return out
}

var (
	connectionFact  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ansible_(local|paramiko_ssh|psrp|ssh|winrm)_`) })
	bridgeFact      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`_(bridge|gwbridge)$`) })
	interpreterFact = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ansible_.*_interpreter$`) })
)

func restricted(name string) bool {
	if strings.HasPrefix(name, "ansible_ssh_host_key_") {
		return false
	}
	switch name {
	case "ansible_connection", "ansible_module_compression", "ansible_shell_type", "ansible_shell_executable",
		"ansible_host", "ansible_user", "ansible_password", "ansible_port", "ansible_pipelining",
		"ansible_timeout", "ansible_private_key_file", "ansible_network_os", "ansible_connection_user",
		"ansible_scp_extra_args", "ansible_sftp_extra_args", "ansible_docker_extra_args", "ansible_become",
		"ansible_rsync_path", "ansible_playbook_python", "ansible_facts", "add_host", "add_group":
		return true
	}
	if connectionFact().MatchString(name) && !bridgeFact().MatchString(name) {
		return true
	}
	return strings.HasPrefix(name, "ansible_become_") || interpreterFact().MatchString(name)
}

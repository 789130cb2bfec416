package config

import (
	"slices"
	"strings"

	"hark/modules/dialect"
)

// Variables returns the variables of hosts that count more than what a setting of a plug-in says; the last of them
// that is set counts most.
func (s Setting) Variables() []string {
	kind, plugin, _ := strings.Cut(s.Plugin, "/")
	if list, ok := variableNames()[s.Plugin+"."+s.Name]; ok {
		return list
	}
	switch {
	case kind == "become":
		return becomeVariables(plugin, s.Name)
	case kind == "connection", kind == "shell":
		return names("ansible_" + s.Name)
	}
	return nil
}

// variableNames returns those that are not called as their setting.
func variableNames() map[string][]string {
	return map[string][]string{
		"connection/ssh.host_key_checking":    names("ansible_host_key_checking", "ansible_ssh_host_key_checking"),
		"connection/ssh.pipelining":           names("ansible_pipelining", "ansible_ssh_pipelining"),
		"connection/ssh.pkcs11_provider":      names("ansible_ssh_pkcs11_provider"),
		"connection/ssh.port":                 names("ansible_port", "ansible_ssh_port"),
		"connection/ssh.private_key_file":     names("ansible_private_key_file", "ansible_ssh_private_key_file"),
		"connection/ssh.reconnection_retries": names("ansible_ssh_retries"),
		"connection/ssh.remote_user":          names("ansible_user", "ansible_ssh_user"),
		"connection/ssh.timeout":              names("ansible_ssh_timeout"),
		"connection/ssh.use_tty":              names("ansible_ssh_use_tty"),
		"shell/sh.world_readable_temp":        names("ansible_shell_allow_world_readable_temp"),
	}
}

// becomeVariables returns those of an option of a become method.
func becomeVariables(method, name string) []string {
	m, ok := dialect.MethodNamed(method)
	if !ok {
		return nil
	}
	for _, o := range m.Others {
		if o.Name == name {
			return names(o.Variable)
		}
	}
	list := slices.Clone(m.Variables(dialect.BecomeOption(name)))
	slices.Reverse(list)
	return list
}

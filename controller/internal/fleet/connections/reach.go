// Package connections knows the ways to hosts: what the name of a connection means, and what variables, flags and
// settings make of it. It opens nothing (controller/internal/fleet/ssh, controller/internal/fleet/ephemeral).
package connections

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/fleet/ssh"
	"hark/modules/mask"
)

// Kind is what the name of a connection means.
type Kind int

// The kinds.
const (
	Smart Kind = iota // the host's agent, else ssh: "smart", or nothing said
	Here              // this process: local
	SSH               // ssh, by all its names
	Enter             // a program of this machine that enters the host: docker, podman, chroot, lxd
	// one that needs the connection plug-in of ansible-core: network_cli, httpapi, netconf, winrm, psrp
	Device
	Foreign // any other plug-in in Python
)

// KindOf returns the kind of a connection, by its full name or the one that it had before there were collections.
func KindOf(connection string) Kind {
	short := strings.TrimPrefix(connection, "ansible.builtin.")
	switch {
	case short == "" || short == "smart":
		return Smart
	case short == "local":
		return Here
	case short == "ssh" || isParamiko(connection):
		return SSH
	case entry(connection) != nil:
		return Enter
	case slices.Contains(devices, strings.TrimPrefix(short, "ansible.netcommon.")):
		return Device
	}
	return Foreign
}

// Ways returns the names of the connections of all other kinds.
func Ways() []string {
	var names []string
	for _, short := range []string{"smart", "local", "ssh", "paramiko", "paramiko_ssh"} {
		names = append(names, short, "ansible.builtin."+short)
	}
	for full := range entries() {
		names = append(names, full, full[strings.LastIndexByte(full, '.')+1:])
	}
	slices.Sort(names)
	return names
}

// devices are the connections to what can have no agent.
var devices = []string{"network_cli", "httpapi", "netconf", "winrm", "psrp"}

func isParamiko(connection string) bool {
	name := strings.TrimPrefix(connection, "ansible.builtin.")
	return name == "paramiko" || name == "paramiko_ssh"
}

// Settings are what flags and settings say of connections: what holds where a host's variables are silent.
type Settings struct {
	Connection, User, KeyFile, Password string
	Port                                int
	// Timeout is what connecting may take in seconds, Retries how often it is tried again.
	Timeout, Retries int
	// Executable is the ssh to use; Prompt and Provider are as in ssh.Target.
	Executable, Prompt, Provider string
	HostKeyChecking              bool
	// Args, CommonArgs and ExtraArgs are those of ssh, in one text each.
	Args, CommonArgs, ExtraArgs string
	// ControlPath is where the user wants connections to be shared, "" if he did not say; ControlDir the directory
	// for that, ControlDirSet that he named it.
	ControlPath, ControlDir string
	ControlDirSet           bool
	// Home is what ~ means in ControlDir.
	Home string
	// Hidden takes passwords, and may be nil.
	Hidden *mask.Masker
}

// Target describes how a host is reached whose connection is of the kinds Smart, SSH or Enter.
func (s *Settings) Target(host string, v *Variables) ssh.Target {
	if enter := entry(v.Text(s.Connection, "ansible_connection")); enter != nil {
		return ssh.Target{Host: host, Enter: enter(host, v)}
	}
	return s.SSH(host, v)
}

// SSH describes how a host is reached over ssh.
func (s *Settings) SSH(host string, v *Variables) ssh.Target {
	kind := v.Text(s.Connection, "ansible_connection")
	// of are the names of a variable, those of paramiko first where the connection is that.
	of := func(suffix string, names ...string) []string {
		if suffix == "" || !isParamiko(kind) {
			return names
		}
		return append([]string{"ansible_paramiko_" + suffix}, names...)
	}
	t := ssh.Target{
		Host:    v.Text(host, of("host", "ansible_ssh_host", "ansible_host")...),
		Port:    v.Number(s.Port, "ansible_ssh_port", "ansible_port"),
		User:    v.Text(s.User, of("user", "ansible_ssh_user", "ansible_user")...),
		KeyFile: v.Text(s.KeyFile, "ansible_ssh_private_key_file", "ansible_private_key_file"),
		Password: v.Text(s.Password, of("password",
			of("pass", "ansible_ssh_password", "ansible_ssh_pass", "ansible_password")...)...),
		Prompt:      v.Text(s.Prompt, "ansible_sshpass_prompt"),
		Provider:    v.Text(s.Provider, "ansible_ssh_pkcs11_provider"),
		Executable:  v.Text(s.Executable, "ansible_ssh_executable"),
		ControlPath: s.controlPath(v),
		AnyKey: !v.Truth(s.HostKeyChecking, of("host_key_checking",
			"ansible_ssh_host_key_checking", "ansible_host_key_checking")...),
		Timeout: time.Duration(v.Number(s.Timeout, "ansible_ssh_timeout")) * time.Second,
		Retries: v.Number(s.Retries, "ansible_ssh_retries"),
		Args:    v.Words(v.Text(s.Args, "ansible_ssh_args")),
		LastArgs: slices.Concat(
			v.Words(v.Text(s.CommonArgs, "ansible_ssh_common_args")),
			v.Words(v.Text(s.ExtraArgs, "ansible_ssh_extra_args")),
		),
	}
	s.Hidden.Add(t.Password)
	return t
}

// Names returns the variables that Target may read.
func (s *Settings) Names() []string {
	var names []string
	for _, kind := range append([]string{"ssh", "paramiko"}, slices.Sorted(maps.Keys(entries()))...) {
		s.Target("", &Variables{Find: func(name string) (string, bool, error) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			return kind, name == "ansible_connection", nil
		}})
	}
	return names
}

// Describe words the way to a host.
func Describe(t ssh.Target) string {
	if len(t.Enter) > 0 {
		return "by " + t.Enter[0]
	}
	text := "over ssh: "
	if t.User != "" {
		text += t.User + "@"
	}
	text += t.Host
	if t.Port != 0 {
		text += fmt.Sprintf(" port %d", t.Port)
	}
	return text
}

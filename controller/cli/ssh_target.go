package cli

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/ssh"
)

// isSSH tells the connections that are ssh: Ansible's own two, under all their names, and what decides between them.
func isSSH(connection string) bool {
	return connection == "smart" || strings.TrimPrefix(connection, "ansible.builtin.") == "ssh" || isParamiko(connection)
}

func isParamiko(connection string) bool {
	name := strings.TrimPrefix(connection, "ansible.builtin.")
	return name == "paramiko" || name == "paramiko_ssh"
}

// sshTarget tells how a host is reached over ssh: by its variables, else by flags, else by settings.
func (p *project) sshTarget(name string, c *connection) ssh.Target {
	kind := c.text(p.o.connection, "ansible_connection")
	// of are the names of a variable, those of paramiko first where the connection is that.
	of := func(suffix string, names ...string) []string {
		if suffix == "" || !isParamiko(kind) {
			return names
		}
		return append([]string{"ansible_paramiko_" + suffix}, names...)
	}
	t := ssh.Target{
		Host:        c.text(name, of("host", "ansible_ssh_host", "ansible_host")...),
		Port:        c.number(p.cfg.Int("DEFAULT_REMOTE_PORT"), "ansible_ssh_port", "ansible_port"),
		User:        c.text(p.o.user, of("user", "ansible_ssh_user", "ansible_user")...),
		KeyFile:     c.text(p.o.privateKey, "ansible_ssh_private_key_file", "ansible_private_key_file"),
		Password:    c.text(p.o.passwords.connection, of("password", of("pass", "ansible_ssh_password", "ansible_ssh_pass", "ansible_password")...)...),
		Prompt:      c.text(p.cfg.Text("connection/ssh.sshpass_prompt"), "ansible_sshpass_prompt"),
		Provider:    c.text(p.cfg.Text("connection/ssh.pkcs11_provider"), "ansible_ssh_pkcs11_provider"),
		Executable:  c.text(p.cfg.Text("connection/ssh.ssh_executable"), "ansible_ssh_executable"),
		ControlPath: p.controlPath(c),
		AnyKey: !c.truth(p.cfg.Bool("connection/ssh.host_key_checking"), of("host_key_checking",
			"ansible_ssh_host_key_checking", "ansible_host_key_checking")...),
		Timeout: time.Duration(c.number(p.sshTimeout(), "ansible_ssh_timeout")) * time.Second,
		Retries: c.number(p.cfg.Int("connection/ssh.reconnection_retries"), "ansible_ssh_retries"),
		Args: slices.Concat(
			c.words(c.text(p.cfg.Text("connection/ssh.ssh_args"), "ansible_ssh_args")),
			c.words(c.text(cmp.Or(p.o.sshCommon, p.cfg.Text("connection/ssh.ssh_common_args")), "ansible_ssh_common_args")),
			c.words(c.text(cmp.Or(p.o.sshExtra, p.cfg.Text("connection/ssh.ssh_extra_args")), "ansible_ssh_extra_args")),
		),
	}
	return t
}

// sshTimeout is the time that connecting may take, in seconds: the flag, else the setting of ssh, which is the common one by itself.
func (p *project) sshTimeout() int {
	if p.o.timeout != p.cfg.Int("DEFAULT_TIMEOUT") {
		return p.o.timeout
	}
	return p.cfg.Int("connection/ssh.timeout")
}

// controlPath is where the user wants connections to be shared, "" if he did not say. The directory is made.
func (p *project) controlPath(c *connection) string {
	path := c.text(p.cfg.Text("connection/ssh.control_path"), "ansible_control_path")
	dir := c.text("", "ansible_control_path_dir")
	if dir == "" && (path != "" || p.cfg.IsSet("connection/ssh.control_path_dir")) {
		dir = p.cfg.Text("connection/ssh.control_path_dir")
	}
	if dir != "" {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(os.Getenv("HOME"), rest)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			c.fail(fmt.Errorf("cannot make the directory of connections: %v", err))
		}
	}
	if path == "" && dir != "" {
		return filepath.Join(dir, "%C")
	}
	return strings.NewReplacer("%%", "%", "%(directory)s", dir).Replace(path)
}

// reachNames are the variables that target may read.
func (p *project) reachNames() []string {
	var names []string
	for _, kind := range append([]string{"ssh", "paramiko"}, slices.Sorted(maps.Keys(entries()))...) {
		p.target("", &connection{find: func(name string) (string, bool, error) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			return kind, name == "ansible_connection", nil
		}})
	}
	return names
}

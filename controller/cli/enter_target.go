package cli

import (
	"slices"
	"strings"

	"hark/controller/internal/ssh"
)

// entries are the connections that a program of this machine opens, without ssh: by the plug-in's full name, what makes the program's arguments.
func entries() map[string]func(host string, c *connection) []string {
	return map[string]func(string, *connection) []string{
		"community.docker.docker":  enterDocker,
		"containers.podman.podman": enterPodman,
		"community.general.chroot": enterChroot,
		"community.general.lxd":    enterLXD,
	}
}

// entry finds the program of a connection, by its full name or by the one that it had before there were collections.
func entry(connection string) func(host string, c *connection) []string {
	for name, enter := range entries() {
		if connection == name || connection == name[strings.LastIndexByte(name, '.')+1:] {
			return enter
		}
	}
	return nil
}

// target tells how a host is reached that is reached as c says.
func (p *project) target(host string, c *connection) ssh.Target {
	kind := c.text(p.o.connection, "ansible_connection")
	if enter := entry(kind); enter != nil {
		return ssh.Target{Host: host, Enter: enter(host, c)}
	}
	return p.sshTarget(host, c)
}

func enterDocker(host string, c *connection) []string {
	name := c.text(host, "ansible_docker_host", "ansible_host")
	user := c.text("", "ansible_docker_user", "ansible_user")
	extra := c.words(c.text("", "ansible_docker_extra_args"))
	return slices.Concat([]string{"docker"}, extra, []string{"exec"}, asUser(user), []string{"-i", name, "/bin/sh", "-c"})
}

func enterPodman(host string, c *connection) []string {
	name := c.text(host, "ansible_podman_host", "ansible_host")
	program := c.text("podman", "ansible_podman_executable")
	extra := c.words(c.text("", "ansible_podman_extra_args"))
	return slices.Concat([]string{program}, extra, []string{"exec"}, asUser(c.text("", "ansible_user")), []string{"-i", name, "/bin/sh", "-c"})
}

func asUser(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"--user", name}
}

func enterChroot(host string, c *connection) []string {
	return []string{c.text("chroot", "ansible_chroot_exe"), c.text(host, "ansible_host"), "/bin/sh", "-c"}
}

func enterLXD(host string, c *connection) []string {
	argv := []string{"lxc"}
	if project := c.text("", "ansible_lxd_project"); project != "" {
		argv = append(argv, "--project", project)
	}
	name := c.text("local", "ansible_lxd_remote") + ":" + c.text(host, "ansible_lxd_host", "ansible_host")
	return append(argv, "exec", name, "--", "/bin/sh", "-c")
}

package connections

import (
	"slices"
	"strings"
)

// entries returns the connections that a program of this machine opens, without ssh: by the plug-in's full name, what
// makes the program's arguments.
func entries() map[string]func(host string, v *Variables) []string {
	return map[string]func(string, *Variables) []string{
		"community.docker.docker":  enterDocker,
		"containers.podman.podman": enterPodman,
		"community.general.chroot": enterChroot,
		"community.general.lxd":    enterLXD,
	}
}

// entry finds the program of a connection, by its full name or by the one that it had before there were collections.
func entry(connection string) func(host string, v *Variables) []string {
	for name, enter := range entries() {
		if connection == name || connection == name[strings.LastIndexByte(name, '.')+1:] {
			return enter
		}
	}
	return nil
}

func enterDocker(host string, v *Variables) []string {
	name := v.Text(host, "ansible_docker_host", "ansible_host")
	user := v.Text("", "ansible_docker_user", "ansible_user")
	extra := v.Words(v.Text("", "ansible_docker_extra_args"))
	return slices.Concat([]string{"docker"}, extra, []string{"exec"}, asUser(user), []string{"-i", name, "/bin/sh", "-c"})
}

func enterPodman(host string, v *Variables) []string {
	name := v.Text(host, "ansible_podman_host", "ansible_host")
	program := v.Text("podman", "ansible_podman_executable")
	extra := v.Words(v.Text("", "ansible_podman_extra_args"))
	return slices.Concat([]string{program}, extra, []string{"exec"}, asUser(v.Text("", "ansible_user")),
		[]string{"-i", name, "/bin/sh", "-c"})
}

func asUser(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"--user", name}
}

func enterChroot(host string, v *Variables) []string {
	return []string{v.Text("chroot", "ansible_chroot_exe"), v.Text(host, "ansible_host"), "/bin/sh", "-c"}
}

func enterLXD(host string, v *Variables) []string {
	argv := []string{"lxc"}
	if project := v.Text("", "ansible_lxd_project"); project != "" {
		argv = append(argv, "--project", project)
	}
	name := v.Text("local", "ansible_lxd_remote") + ":" + v.Text(host, "ansible_lxd_host", "ansible_host")
	return append(argv, "exec", name, "--", "/bin/sh", "-c")
}

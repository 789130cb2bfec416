package connections

import (
	"slices"
	"strings"
	"testing"
)

// TestConnectionsThatEnter are opened by a program of this machine, as the variables of the host say.
func TestConnectionsThatEnter(t *testing.T) {
	var s Settings
	for _, tc := range []struct{ vars, want string }{
		{"ansible_connection=docker", "docker exec -i box /bin/sh -c"},
		{"ansible_connection=community.docker.docker ansible_host=other ansible_user=joe ansible_docker_extra_args=-H|tcp://far",
			"docker -H tcp://far exec --user joe -i other /bin/sh -c"},
		{"ansible_connection=community.docker.docker ansible_host=other ansible_docker_host=third", "docker exec -i third /bin/sh -c"},
		{"ansible_connection=containers.podman.podman ansible_user=joe ansible_podman_executable=/opt/podman", "/opt/podman exec --user joe -i box /bin/sh -c"},
		{"ansible_connection=chroot ansible_host=/srv/root", "chroot /srv/root /bin/sh -c"},
		{"ansible_connection=community.general.lxd", "lxc exec local:box -- /bin/sh -c"},
		{"ansible_connection=lxd ansible_lxd_remote=far ansible_lxd_project=web", "lxc --project web exec far:box -- /bin/sh -c"},
	} {
		v := &Variables{Find: func(name string) (string, bool, error) {
			for _, kv := range strings.Fields(tc.vars) {
				if k, v, _ := strings.Cut(kv, "="); k == name {
					return strings.ReplaceAll(v, "|", " "), true, nil
				}
			}
			return "", false, nil
		}}
		if got := strings.Join(s.Target("box", v).Enter, " "); got != tc.want || v.Err != nil {
			t.Errorf("%s: %q, %v", tc.vars, got, v.Err)
		}
	}
	if entry("ssh") != nil || entry("community.general.jail") != nil {
		t.Error("what is not entered is")
	}
}

// TestKindsOfConnections: names of before there were collections mean the same as full ones.
func TestKindsOfConnections(t *testing.T) {
	for name, want := range map[string]Kind{
		"": Smart, "smart": Smart, "ansible.builtin.smart": Smart, "local": Here, "ansible.builtin.local": Here,
		"ssh": SSH, "ansible.builtin.ssh": SSH, "paramiko": SSH, "paramiko_ssh": SSH, "ansible.builtin.paramiko_ssh": SSH,
		"docker": Enter, "community.docker.docker": Enter, "containers.podman.podman": Enter, "community.general.chroot": Enter, "lxd": Enter,
		"network_cli": Device, "ansible.netcommon.network_cli": Device, "httpapi": Device, "netconf": Device, "winrm": Device, "ansible.builtin.psrp": Device,
		"kubectl": Foreign, "community.general.jail": Foreign, "acme.x.docker": Foreign,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("%q: %d, not %d", name, got, want)
		}
	}
}

// TestPathsOfSharedConnections: a path's %(directory)s is the directory of the settings, which alone shares nothing.
func TestPathsOfSharedConnections(t *testing.T) {
	home := t.TempDir()
	for _, tc := range []struct {
		s    Settings
		vars map[string]string
		want string
	}{
		{Settings{ControlDir: "~/cp"}, nil, ""},
		{Settings{ControlDir: "~/cp", ControlDirSet: true}, nil, home + "/cp/%C"},
		{Settings{ControlDir: "~/cp", ControlPath: "%(directory)s/%%h"}, nil, home + "/cp/%h"},
		{Settings{ControlDir: "~/cp"}, map[string]string{"ansible_control_path": "/x/%%r"}, "/x/%r"},
		{Settings{ControlDir: "~/cp"}, map[string]string{"ansible_control_path_dir": "~/other"}, home + "/other/%C"},
	} {
		tc.s.Home = home
		v := Of(tc.vars)
		if got := tc.s.Target("h", v).ControlPath; got != tc.want || v.Err != nil {
			t.Errorf("%+v, %v: %q, %v", tc.s, tc.vars, got, v.Err)
		}
	}
}

// TestWhatMakesNoSenseIsAnError of the host, with the variable's name.
func TestWhatMakesNoSenseIsAnError(t *testing.T) {
	for name, want := range map[string]string{
		"ansible_port": `ansible_port is "x'", which is not a number`, "ansible_ssh_common_args": `cannot split "x'" into words`,
	} {
		v := Of(map[string]string{name: "x'"})
		if (&Settings{}).Target("h", v); v.Err == nil || !strings.Contains(v.Err.Error(), want) {
			t.Errorf("%s: %v", name, v.Err)
		}
	}
}

// TestWaysAreTheConnectionsOfHarkItself: what is none of them takes a plug-in in Python.
func TestWaysAreTheConnectionsOfHarkItself(t *testing.T) {
	for _, name := range Ways() {
		if kind := KindOf(name); kind == Device || kind == Foreign {
			t.Errorf("%s takes a plug-in in Python", name)
		}
	}
	for _, name := range []string{"winrm", "ansible.builtin.psrp", "ansible.netcommon.network_cli", "kubectl", "acme.tools.tunnel"} {
		if kind := KindOf(name); kind != Device && kind != Foreign || slices.Contains(Ways(), name) {
			t.Errorf("%s takes no plug-in in Python", name)
		}
	}
}

package cli

import (
	"strings"
	"testing"
)

// TestConnectionsThatEnter are opened by a program of this machine, as the variables of the host say.
func TestConnectionsThatEnter(t *testing.T) {
	p := &project{o: &options{}}
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
		c := &connection{find: func(name string) (string, bool, error) {
			for _, kv := range strings.Fields(tc.vars) {
				if k, v, _ := strings.Cut(kv, "="); k == name {
					return strings.ReplaceAll(v, "|", " "), true, nil
				}
			}
			return "", false, nil
		}}
		if got := strings.Join(p.target("box", c).Enter, " "); got != tc.want || c.err != nil {
			t.Errorf("%s: %q, %v", tc.vars, got, c.err)
		}
	}
	if entry("ssh") != nil || entry("community.general.jail") != nil {
		t.Error("what is not entered is")
	}
}

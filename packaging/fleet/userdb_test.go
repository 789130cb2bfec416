//go:build fleet

package fleet

import (
	"strings"
	"testing"
)

// userdbPlay has a user of systemd's userdb, with libc's getent and without it.
const userdbPlay = `
- hosts: h1
  gather_facts: false
  tasks:
    - {file: {path: /home/homed, state: directory, owner: homed, group: homed}, register: dir}
    - {shell: id -un; id -G; echo $HOME $SHELL, become: true, become_user: homed, register: asked}
    - command: mv /usr/bin/getent /usr/bin/getent.away
    - {shell: id -un; id -G; echo $HOME $SHELL, become: true, become_user: homed, register: alone}
    - {copy: {content: x, dest: ~homed/x, owner: homed, group: homed}, register: file}
    - command: mv /usr/bin/getent.away /usr/bin/getent
    - assert:
        that:
          - asked.stdout_lines == ["homed", "61000", "/home/homed /bin/sh"]
          - alone.stdout_lines == asked.stdout_lines
          - "[dir.owner, dir.group, file.owner, file.group, file.dest] == ['homed', 'homed', 'homed', 'homed', '/home/homed/x']"
`

// TestUsersOfUserdb are those of every program of the host.
func TestUsersOfUserdb(t *testing.T) {
	fleetOf(t, 1)
	m := machine("h1")
	was := m.sh(t, `cat /etc/nsswitch.conf
sed -i 's/^passwd:.*/passwd: files systemd/; s/^group:.*/group: files systemd/' /etc/nsswitch.conf
mkdir -p /etc/userdb && cd /etc/userdb
echo '{"userName":"homed","uid":61000,"gid":61000,"realName":"At Home","homeDirectory":"/home/homed","shell":"/bin/sh","disposition":"regular"}' >homed.user
echo '{"groupName":"homed","gid":61000}' >homed.group
ln -sf homed.user 61000.user; ln -sf homed.group 61000.group
systemctl start systemd-userdbd.socket`)
	defer func() {
		m.sh(t, "[ ! -e /usr/bin/getent.away ] || mv /usr/bin/getent.away /usr/bin/getent; rm -rf /etc/userdb /home/homed")
		if err := m.put("/etc/nsswitch.conf", 0o644, []byte(was+"\n")); err != nil {
			t.Error(err)
		}
	}()
	dir := project(t, nil, map[string]string{"inventory": "h1\n", "play.yml": userdbPlay})
	got := site.control.hark(t, dir, "play", "-i", "inventory", "play.yml")
	if got.code != 0 || !strings.Contains(got.out, "failed=0") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.errors)
	}
}

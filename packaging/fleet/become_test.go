//go:build fleet

package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A login is a way to a host from which tasks become others.
type login struct {
	name, vars string
	// except are targets that the way does not lead to, in Ansible neither.
	except []string
	// ours are ways for which ansible-core alone has no plug-in.
	ours bool
}

// logins are the ways of the matrix. deploy may use sudo with its password, ops without; drew may use doas with its
// password, dana without.
func logins() []login {
	return []login{
		{name: "root", vars: "ansible_user=root"},
		{name: "sudo", vars: "ansible_user=ops"},
		{name: "sudo_password", vars: "ansible_user=deploy login_password=deploy"},
		{name: "su", vars: "ansible_user=ops ansible_become_method=su", except: []string{"shy"}}, // su gives shells of no login to root alone
		{name: "doas", vars: "ansible_user=dana ansible_become_method=community.general.doas", ours: true},
		{name: "doas_password", vars: "ansible_user=drew ansible_become_method=community.general.doas login_password=drew", ours: true},
	}
}

// targets are whom tasks become, and what they say of themselves there: name, groups, home, umask.
func targets() map[string]string {
	return map[string]string{
		"root": "root root /root", "plain": "plain plain club /home/plain", "shy": "shy shy /nonexistent", "ldapu": "ldapu ldapg ldapx /home/ldapu",
	}
}

// people makes the users of the matrix. ldapu is known to a directory alone.
const people = `
for u in plain drew dana; do id $u >/dev/null 2>&1 || useradd -m -s /bin/bash $u; done
id shy >/dev/null 2>&1 || useradd -M -d /nonexistent -s /usr/sbin/nologin shy
getent group club >/dev/null || groupadd club
usermod -aG club plain
printf 'permit nopass dana\npermit drew\n' >/etc/doas.conf; chmod 400 /etc/doas.conf
sed -i 's/^passwd:.*/passwd: files extrausers/; s/^group:.*/group: files extrausers/; s/^shadow:.*/shadow: files extrausers/' /etc/nsswitch.conf
mkdir -p /var/lib/extrausers /home/ldapu
echo 'ldapu:x:70001:70001:LDAP User:/home/ldapu:/bin/bash' >/var/lib/extrausers/passwd
printf 'ldapg:x:70001:\nldapx:x:70002:ldapu\n' >/var/lib/extrausers/group
printf 'ldapu:%s:19000:0:99999:7:::\n' "$(echo ldapu | python3 -c 'import crypt; print(crypt.crypt(input(), crypt.mksalt()))')" >/var/lib/extrausers/shadow
chown 70001:70001 /home/ldapu; chown root:shadow /var/lib/extrausers/shadow; chmod 640 /var/lib/extrausers/shadow
printf 'root:root\nplain:plain\ndrew:drew\ndana:dana\nshy:shy\n' | chpasswd
`

const matrixPlay = `
- hosts: all
  gather_facts: false
  tasks:
    - shell: echo "$(id -un) $(id -Gn) $HOME"; cd "$HOME" 2>/dev/null || cd /; umask
      become: true
      become_user: "{{ item }}"
      vars: {ansible_become_password: "{{ item if ansible_become_method | default('') == 'su' else login_password | default(omit) }}"}
      loop: [%s]
      register: r
      ignore_errors: true
    - debug: msg="{{ inventory_hostname }} {{ item.item }} {{ item.stdout_lines | default(['failed']) | first }};"
      loop: "{{ r.results }}"
      loop_control: {label: "{{ item.item }}"}
`

var told = regexp.MustCompile(`"msg": "(.*);"`)

// matrix gives what the hosts of the inventory said of themselves, one line for each login and target.
func matrix(out string) []string {
	var lines []string
	for _, m := range told.FindAllStringSubmatch(out, -1) {
		lines = append(lines, m[1])
	}
	slices.Sort(lines)
	return lines
}

// wanted is what is to be said by those logins.
func wanted(all []login) []string {
	var lines []string
	for _, l := range all {
		for name, is := range targets() {
			if slices.Contains(l.except, name) {
				is = "failed"
			}
			lines = append(lines, l.name+" "+name+" "+is)
		}
	}
	slices.Sort(lines)
	return lines
}

// matrixProject is a project in which each login is a host of its name, which is h1.
func matrixProject(t *testing.T, all []login, more string) string {
	t.Helper()
	text, err := tool("inventory", "root").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, vars, _ := strings.Cut(strings.ReplaceAll(string(text), "ansible_user=root\n", ""), "[fleet:vars]")
	var hosts strings.Builder
	for _, l := range all {
		fmt.Fprintf(&hosts, "%s ansible_host=%s.101 %s %s\n", l.name, net(), l.vars, more)
	}
	var names []string
	for name := range targets() {
		names = append(names, name)
	}
	return project(t, nil, map[string]string{"inventory": hosts.String() + "\n[all:vars]" + vars, "play.yml": fmt.Sprintf(matrixPlay, strings.Join(names, ", "))})
}

// conditions are how hosts can be, with what makes them so and what undoes it.
func conditions() map[string][2]string {
	return map[string][2]string{
		"as they are":        {":", ":"},
		"noexec tmp":         {"mount -o remount,noexec /tmp", "mount -o remount,exec /tmp"},
		"tiny tmp":           {"mount -t tmpfs -o size=1M,mode=1777 tiny /tmp", "umount -l /tmp"},
		"a tmp of one's own": {"install -d -m 700 -o ops /tmp/own; echo TMPDIR=/tmp/own >>/etc/environment", "sed -i /TMPDIR/d /etc/environment"},
		"umask 077":          {"echo 'session optional pam_umask.so umask=077' >>/etc/pam.d/common-session", "sed -i '/pam_umask/d' /etc/pam.d/common-session"},
		"no sftp":            {"sed -i 's/^Subsystem/#Subsystem/' /etc/ssh/sshd_config; systemctl reload ssh", "sed -i 's/^#Subsystem/Subsystem/' /etc/ssh/sshd_config; systemctl reload ssh"},
		"requiretty":         {"echo 'Defaults requiretty' >/etc/sudoers.d/tty", "rm /etc/sudoers.d/tty"},
	}
}

// TestBecomeMatrixOverSSH: whoever is logged in, and however the host is, tasks become whom they name, and nothing is
// left.
func TestBecomeMatrixOverSSH(t *testing.T) {
	m := machine("h1")
	m.sh(t, people)
	want := wanted(logins())
	for name, change := range conditions() {
		t.Run(name, func(t *testing.T) {
			m.sh(t, change[0])
			defer m.sh(t, change[1])
			dir := matrixProject(t, logins(), "")
			got := site.control.hark(t, dir, "play", "--ephemeral", "--agent-binary", site.control.bin+"/hark-agent", "-i", "inventory", "play.yml")
			compare(t, want, matrix(got.out))
			if left := m.traces(t); left != "" {
				t.Errorf("on the host there is\n%s", left)
			}
		})
	}
}

// TestBecomeMatrixIsAnsibles: ansible-core becomes the same by the ways that it has.
func TestBecomeMatrixIsAnsibles(t *testing.T) {
	m := machine("h1")
	m.sh(t, people)
	theirs := slices.DeleteFunc(logins(), func(l login) bool { return l.ours })
	dir := matrixProject(t, theirs, "")
	got := ansible(t, dir, "root", "-i", "inventory", "play.yml")
	compare(t, wanted(theirs), matrix(got.out))
}

// TestBecomeMatrixOverAgents: agents that run as root and as an ordinary user.
func TestBecomeMatrixOverAgents(t *testing.T) {
	fleetOf(t, 1)
	m := machine("h1")
	m.sh(t, people)
	for user, vars := range map[string]string{"root": "", "ops": ""} {
		t.Run(user, func(t *testing.T) {
			all := []login{{name: user, vars: vars}}
			dir := matrixProject(t, all, "hark_agent="+agentOf(t, m, user)+" ansible_user="+user)
			got := site.control.hark(t, dir, "play", "-i", "inventory", "play.yml")
			compare(t, wanted(all), matrix(got.out))
		})
	}
}

// TestBecomeMatrixInADirectory: in a root directory that is entered with chroot, as in a container.
func TestBecomeMatrixInADirectory(t *testing.T) {
	machine("h1").sh(t, people)
	all := []login{{name: "directory", vars: "ansible_user=root"}}
	dir := matrixProject(t, all, "")
	enter := filepath.Join(dir, "enter") // chroot's place is taken by what enters the host
	if err := os.WriteFile(enter, []byte("#!/bin/sh\nshift\nexec "+fleetScript(t)+" exec h1 \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got := site.control.hark(t, dir, "play", "--ephemeral", "--agent-binary", site.control.bin+"/hark-agent", "-i", "inventory",
		"-e", "ansible_connection=community.general.chroot ansible_chroot_exe="+enter, "play.yml")
	compare(t, wanted(all), matrix(got.out))
}

// fleetScript is the path of the fleet script.
func fleetScript(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("fleet")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// compare compares lines of the matrix.
func compare(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

//go:build fleet

package fleet

import (
	"strings"
	"testing"
)

// residentPlay changes in one task what a process reads when it begins, and looks in the next task whether it counts.
// The host has a server of its own, at one of two addresses. Each word is what a process that begins after the change
// has.
const residentPlay = `
- hosts: h1
  gather_facts: false
  tasks:
    - shell: |
        for a in 127.0.0.11 127.0.0.12; do
          mkdir -p /run/served/$a && echo $a >/run/served/$a/at
          systemd-run -q --unit served-$a python3 -m http.server -b $a -d /run/served/$a 8099
        done
    - wait_for: {host: "{{ item }}", port: 8099, timeout: 20}
      loop: [127.0.0.11, 127.0.0.12]

    - {name: a host that is not there, uri: {url: "http://moved.test:8099/at", timeout: 5}, register: early, failed_when: early.status == 200}
    - lineinfile: {path: /etc/hosts, line: 127.0.0.11 moved.test}
    - {name: a host that was added, uri: {url: "http://moved.test:8099/at", return_content: true}, register: added}
    - lineinfile: {path: /etc/hosts, regexp: moved.test, line: 127.0.0.12 moved.test}
    - {name: a host that moved, uri: {url: "http://moved.test:8099/at", return_content: true}, register: moved}
    - {name: a host that moved, get_url: {url: "http://moved.test:8099/at", dest: /run/got}}
    - {command: cat /run/got, register: got}
    - lineinfile: {path: /etc/hosts, line: 127.0.0.11 waited.test}
    - wait_for: {host: waited.test, port: 8099, timeout: 5}
    - lineinfile: {path: /etc/hosts, regexp: "(moved|waited).test", state: absent}
    - {name: a host that is gone, wait_for: {host: moved.test, port: 8099, timeout: 1}, register: gone, failed_when: gone is not failed}
    - assert: {that: [added.content == "127.0.0.11\n", moved.content == "127.0.0.12\n", got.stdout == "127.0.0.12"]}

    - {command: readlink /etc/localtime, register: zone}
    - file: {src: /usr/share/zoneinfo/Asia/Tokyo, dest: /etc/localtime, state: link, force: true}
    - setup: gather_subset=!all,!min,date_time
    - {command: date +%H:%M, register: date}
    - assert: {that: [ansible_date_time.tz == "JST", ansible_date_time.tz_offset == "+0900"]}
    - assert: {that: "date.start[11:16] == date.stdout or date.end[11:16] == date.stdout"}
    - file: {src: "{{ zone.stdout }}", dest: /etc/localtime, state: link, force: true}

    - shell: userdel -rf late; groupdel more; useradd -m late; groupadd more
      failed_when: false
    - {shell: id -Gn; echo $HOME, become: true, become_user: late, register: before}
    - shell: gpasswd -a late more; mv /home/late /srv/late; sed -i 's,/home/late,/srv/late,' /etc/passwd
    - {shell: id -Gn; echo $HOME, become: true, become_user: late, register: after}
    - {copy: {content: x, dest: /tmp/of-late, group: more}, become: true, become_user: late}
    - {copy: {dest: /etc/security/limits.d/late.conf, content: "root soft nofile 999\n"}}
    - {shell: "ulimit -n; echo $SHELL", register: root_limited}
    - {file: {path: /etc/security/limits.d/late.conf, state: absent}}
    - {shell: ulimit -n, become: true, become_user: late, register: unlimited}
    - {shell: "ulimit -n; echo $SHELL", register: root_unlimited}
    - {shell: ulimit -n, async: 20, poll: 1, register: job}
    - assert:
        that:
          - root_limited.stdout_lines == ["999", "/bin/bash"]
          - unlimited.stdout == "1024" and job.stdout == "1024"
          - root_unlimited.stdout_lines == ["1024", "/bin/bash"]
    - shell: userdel -rf late; useradd -u 4711 -m late
    - {shell: id -u; echo $HOME, become: true, become_user: late, register: again}
    - assert:
        that:
          - before.stdout_lines == ["late", "/home/late"]
          - after.stdout_lines == ["late more", "/srv/late"]
          - again.stdout_lines == ["4711", "/home/late"]

    - shell: grep -q sneaky /var/lib/extrausers/passwd || echo 'sneaky:x:70077:70001::/home/sneaky:/bin/sh' >>/var/lib/extrausers/passwd
    - {file: {path: /run/got, owner: sneaky}, register: owned}
    - shell: sed -i 's/^sneaky/sly/' /var/lib/extrausers/passwd
    - {stat: {path: /run/got}, register: renamed}
    - replace: {path: /etc/nsswitch.conf, regexp: "files extrausers", replace: "files"}
    - {stat: {path: /run/got}, register: without}
    - replace: {path: /etc/nsswitch.conf, regexp: "^(passwd|group|shadow):.*", replace: '\1: files extrausers'}
    - shell: sed -i '/^sly/d' /var/lib/extrausers/passwd
    - assert: {that: [owned.owner == "sneaky", renamed.stat.pw_name == "sly", without.stat.pw_name | default("") == ""]}
    - shell: systemctl stop served-127.0.0.11 served-127.0.0.12; rm -rf /run/served /run/got /tmp/of-late; userdel -rf late; groupdel more
`

// TestAResidentAgentReadsWhatANewProcessWould: files of the system that one task changes count for the next.
func TestAResidentAgentReadsWhatANewProcessWould(t *testing.T) {
	fleetOf(t, 1)
	m := machine("h1")
	m.sh(t, people)
	dir := project(t, nil, map[string]string{"inventory": "h1\n", "play.yml": residentPlay})
	defer func() { // a play that failed leaves them
		m.sh(t, "systemctl stop served-127.0.0.11 served-127.0.0.12 2>/dev/null; sed -i '/moved.test/d; /waited.test/d' /etc/hosts; rm -rf /run/served; true")
	}()
	got := site.control.hark(t, dir, "play", "-i", "inventory", "play.yml")
	if got.code != 0 || !strings.Contains(got.out, "failed=0") {
		t.Errorf("code %d\n%s%s", got.code, got.out, got.errors)
	}
}

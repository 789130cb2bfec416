//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ofController are expressions whose values are the controller's, whichever host a task is for: Ansible renders there.
// Those that tell the time are such that two runs within a minute agree.
func ofController() []string {
	return []string{
		`'%Y-%m-%d %H:%M:%S %Z %z %s' | strftime(0)`,
		`'%H:%M %Z %z' | strftime(1700000000)`,
		`'%c %s %Z' | strftime(1720000000, utc=true)`,
		`'%H:%M' | strftime(1700000000.5)`,
		`'%Z %z' | strftime == now().astimezone().strftime('%Z %z')`,
		`((now() - now(utc=true)).total_seconds() / 60) | round | int`,
		`((now().timestamp() | int) - (lookup('pipe', 'date +%s') | int)) | abs < 100`,
		`now(fmt='%Z|%z|') ~ now().strftime('%Z|%z|')`,
		`('2020-07-01 00:00:00' | to_datetime).timestamp()`,
		`('2020-07-01 00:00:00' | to_datetime).astimezone().isoformat()`,
		`('2020-01-01 12:00:00' | to_datetime).strftime('%s')`,
		`('2020-01-01 12:00:00' | to_datetime).date().strftime('%s')`,
		`(('2020-03-29 12:00:00' | to_datetime) + (('1' | to_datetime('%d')) - ('2' | to_datetime('%d')))).timestamp()`,
		`('2020-01-01 12:00:00 +0300' | to_datetime('%Y-%m-%d %H:%M:%S %z')).astimezone().isoformat()`,
		`('2020-07-01 JST' | to_datetime('%Y-%m-%d %Z')).isoformat()`,
		`'~/x' | expanduser`,
		`'$HOME/${LANG}/$TZ' | expandvars`,
		`'some' | realpath`,
		`'/etc' | relpath`,
		`(playbook_dir ~ '/*.yml') | fileglob | map('basename') | list`,
		`lookup('fileglob', '*.yml') | basename`,
		`lookup('env', 'HOME') ~ lookup('env', 'TZ') ~ lookup('env', 'LANG')`,
		`lookup('pipe', 'pwd; hostname; echo $HOME $TZ; date +%z')`,
		`lookup('file', 'only-here')`,
		`lookup('first_found', ['none', 'only-here']) | basename`,
		`(playbook_dir ~ '/only-here') is file`,
		`'only-here' is exists`,
		`playbook_dir ~ ' ' ~ inventory_dir ~ ' ' ~ inventory_file`,
		`ansible_config_file | default('none')`,
		`['b', 'A', 'a', 'B', 'é', 'Z'] | sort`,
		`100 | random(seed=inventory_hostname)`,
		`[1, 2, 3, 4, 5] | shuffle(seed='x')`,
		`lookup('template', 'about.j2')`,
		`lookup('vars', 'inventory_hostname') ~ lookup('varnames', '^playbook_dir$')`,
	}
}

// TestWhatIsTheControllersIsSoOnEveryHost plays all of them over agents that differ from the controller in time zone,
// home, environment, working directory and, for root, the name of the host, and beside Ansible, which plays them here.
func TestWhatIsTheControllersIsSoOnEveryHost(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/share/zoneinfo/Asia/Tokyo"); err != nil {
		t.Skip("no zones here: ", err)
	}
	hosts := []string{"h1", "h2"}
	f := startFleet(t, hosts...)
	elsewhere := map[string][]string{
		"h1": {"TZ=America/New_York", "HOME=/var", "LANG=de_DE.UTF-8", "LC_ALL=C", "USER=nobody", "LOGNAME=nobody"},
		"h2": {"TZ=Europe/Moscow", "HOME=/usr", "LANG=C", "USER=daemon", "LOGNAME=daemon"},
	}
	for _, h := range hosts {
		f.move(t, h, elsewhere[h])
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var all strings.Builder
	for _, x := range ofController() {
		all.WriteString("{{ " + x + " }}\n")
	}
	write("site.yml", "- hosts: all\n  gather_facts: false\n  tasks:\n"+
		"  - template: {src: all.j2, dest: \"{{ out }}/{{ inventory_hostname }}\"}\n"+
		"  - command: echo {{ '%H:%M' | strftime(0) }} {{ '~' | expanduser }} {{ lookup('env', 'TZ') }}\n    register: told\n"+
		"  - copy: {content: \"{{ told.stdout }}\", dest: \"{{ out }}/{{ inventory_hostname }}-command\"}\n"+
		"    when: \"('%H:%M' | strftime(0)) == '09:00' and (playbook_dir ~ '/only-here') is file\"\n")
	write("all.j2", all.String())
	write("only-here", "here\n")
	write("about.j2", "{{ ansible_managed }} {{ template_host }} {{ template_uid }} {{ template_mtime }} "+
		"{{ template_mtime.timestamp() }} {{ ((template_run_date - now(utc=true)).total_seconds() / 60) | round | int }}")
	if err := os.Chtimes(filepath.Join(dir, "about.j2"), time.Time{}, time.Unix(1700000000, 123456000)); err != nil {
		t.Fatal(err)
	}
	write("inventory", "h1\nh2\n")
	write("ansible.cfg", "[defaults]\ninventory = inventory\nansible_managed = of {file} {host} {uid} %Y-%m-%d %H:%M:%S %Z\n")

	tell := func(out string, args ...string) map[string]string {
		if err := os.Mkdir(out, 0o777); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(args[0], append(args[1:], "-e", "out="+out, "site.yml")...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), append(f.env(), "TZ=Asia/Tokyo", "LANG=C.UTF-8", "ANSIBLE_NOCOLOR=1")...)
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
		told := map[string]string{}
		files, _ := filepath.Glob(filepath.Join(out, "*"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			told[filepath.Base(file)] = string(text)
		}
		return told
	}
	want := tell(filepath.Join(t.TempDir(), "ansible"), "ansible-playbook", "-c", "local")
	got := tell(filepath.Join(t.TempDir(), "hark"), filepath.Join(built(t), "hark"), "play")
	if len(want) != 2*len(hosts) {
		t.Errorf("Ansible has written %d files", len(want))
	}
	for name, text := range want {
		lines, have := strings.Split(text, "\n"), strings.Split(got[name], "\n")
		for i, line := range lines {
			switch {
			case i >= len(have):
				t.Errorf("%s: ends before line %d; Ansible has %q", name, i, line)
			case line != have[i]:
				t.Errorf("%s, line %d: %q, Ansible has %q", name, i, have[i], line)
			}
		}
	}
}

// move starts the agent of a host again with another environment, in another directory and, if it may, under another
// name of the machine.
func (f *fleet) move(t *testing.T, host string, environ []string) {
	t.Helper()
	bin := built(t)
	old := f.agents[host]
	_ = old.Process.Signal(os.Interrupt)
	_ = old.Wait()
	args := []string{filepath.Join(bin, "hark-agent"), "run", "--state-dir", filepath.Join(f.work, host)}
	if exec.Command("unshare", "--uts", "true").Run() == nil {
		args = append([]string{"unshare", "--uts", "sh", "-c", `hostname "$0" && exec "$@"`, "host-" + host}, args...)
	}
	args = append([]string{"env", "-C", "/"}, append(environ, args...)...)
	f.agents[host] = start(t, f.work, host, args[0], args[1:]...)
	f.present(t, bin, host)
}

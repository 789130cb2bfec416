//go:build fleet

package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// job is what `hark jobs list --json` tells of a job.
type job struct {
	Agent, ID, Task, State, Why string
	Over                        bool
	Began, Ended                time.Time
}

// jobs are the jobs of a host by the name of their task.
func (c *control) jobs(t *testing.T, m machine) map[string]job {
	t.Helper()
	got := c.hark(t, t.TempDir(), "jobs", "list", "-i", string(m)+",", "--json")
	if got.code != 0 {
		t.Fatalf("hark jobs list: %d\n%s%s", got.code, got.out, got.errors)
	}
	var list []job
	if err := json.Unmarshal([]byte(got.out), &list); err != nil {
		t.Fatalf("hark jobs list: %v\n%s", err, got.out)
	}
	byTask := map[string]job{}
	for _, j := range list {
		byTask[j.Task] = j
	}
	return byTask
}

// background starts a shell script as a job of a host and gives the job. The task's name tells its jobs apart.
func background(t *testing.T, m machine, task, script string, limit int) job {
	t.Helper()
	dir := project(t, []machine{m}, map[string]string{"site.yml": fmt.Sprintf(`
- hosts: all
  gather_facts: false
  tasks:
    - name: %s
      shell: %q
      async: %d
      poll: 0
`, task, script, limit)})
	if got := site.control.hark(t, dir, "play", "-i", "inventory", "site.yml"); got.code != 0 {
		t.Fatalf("the job was not started: %s%s", got.out, got.errors)
	}
	j := site.control.jobs(t, m)[task]
	if j.State != "running" {
		t.Fatalf("the job is %+v", j)
	}
	return j
}

// ended waits for the end of a job and gives its line.
func ended(t *testing.T, m machine, j job) string {
	t.Helper()
	return site.control.hark(t, t.TempDir(), "jobs", "wait", "-i", string(m)+",", j.ID).out
}

// TestJobsOutliveTheAgent: restarted, killed and upgraded, it adopts them, and their results are there for every user
// and run.
func TestJobsOutliveTheAgent(t *testing.T) {
	m := fleetOf(t, 1)[0]
	m.sh(t, "rm -f /run/go; mkfifo /run/go")
	j := background(t, m, "patient", "echo begun; read x </run/go; echo went on", 600)
	shim := m.sh(t, "pgrep -f '[h]ark-agent job .*"+j.ID+"'")
	for what, script := range map[string]string{
		"restart": "systemctl restart hark-agent",
		"kill":    "kill -KILL $(systemctl show hark-agent -p MainPID --value)",
		"upgrade": "cp /usr/bin/hark-agent /usr/bin/hark-agent.new && mv /usr/bin/hark-agent.new /usr/bin/hark-agent && systemctl restart hark-agent",
	} {
		before := m.sh(t, "systemctl show hark-agent -p MainPID --value")
		m.sh(t, script)
		await(t, "after "+what+" there is another agent", func() bool {
			now := m.sh(t, "systemctl show hark-agent -p MainPID --value")
			return now != before && now != "0"
		})
		present(t, m)
		answers(t, m)
		if now := site.control.jobs(t, m)["patient"]; now.State != "running" {
			t.Fatalf("after %s the job is %+v", what, now)
		}
		if now := m.sh(t, "pgrep -f '[h]ark-agent job .*"+j.ID+"'"); now != shim {
			t.Errorf("after %s it is process %s, it was %s", what, now, shim)
		}
	}
	m.sh(t, "echo >/run/go")
	if said := ended(t, m, j); !strings.Contains(said, "finished") {
		t.Errorf("the job ended so: %s", said)
	}
	dir := project(t, []machine{m}, map[string]string{"site.yml": fmt.Sprintf(`
- hosts: all
  gather_facts: false
  become: true
  become_user: nobody
  tasks:
    - async_status:
        jid: %s
      register: r
    - debug:
        msg: "{{ r.finished }} {{ r.stdout }}"
`, j.ID)})
	if got := site.control.hark(t, dir, "play", "-i", "inventory", "site.yml"); !strings.Contains(got.out, `1 begun\nwent on`) {
		t.Errorf("nobody reads %s%s", got.out, got.errors)
	}
}

// TestLimitsHoldWithoutTheAgent: also for a child that has left group and session and takes no TERM.
func TestLimitsHoldWithoutTheAgent(t *testing.T) {
	m := fleetOf(t, 1)[0]
	script := `setsid sh -c 'trap "" TERM; echo $$ >/run/deserter; while :; do sleep 1; done' & sleep 600`
	j := background(t, m, "limited", script, 6)
	await(t, "the child is there", func() bool { _, err := m.try(nil, "test -s /run/deserter"); return err == nil })
	m.sh(t, "systemctl stop hark-agent")
	t.Cleanup(func() { m.sh(t, "systemctl start hark-agent") })
	await(t, "nothing of the job lives", func() bool {
		_, err := m.try(nil, "kill -0 $(cat /run/deserter) || pgrep -f '[h]ark-agent job .*"+j.ID+"'")
		return err != nil
	})
	m.sh(t, "systemctl start hark-agent")
	present(t, m)
	answers(t, m)
	now := site.control.jobs(t, m)["limited"]
	if took := now.Ended.Sub(now.Began); now.State != "timedout" || took < 6*time.Second || took > 8*time.Second {
		t.Errorf("after %s the job is %+v", took, now)
	}
}

// TestAJobWhoseProcessIsKilledLeavesNothing: systemd lets the agent know what belongs to it, even a child that has
// thrown away group, session, parent and environment.
func TestAJobWhoseProcessIsKilledLeavesNothing(t *testing.T) {
	m := fleetOf(t, 1)[0]
	j := background(t, m, "killed", `(env -i setsid sh -c 'echo $$ >/run/orphan; exec sleep 600' &) ; sleep 600`, 600)
	await(t, "the child is there", func() bool { _, err := m.try(nil, "test -s /run/orphan"); return err == nil })
	if group := m.sh(t, "cat /proc/$(cat /run/orphan)/cgroup"); !strings.Contains(group, j.ID) {
		t.Errorf("the child is in %s", group)
	}
	m.sh(t, "kill -KILL $(pgrep -f '[h]ark-agent job .*"+j.ID+"')")
	if said := ended(t, m, j); !strings.Contains(said, "lost") {
		t.Errorf("the job ended so: %s", said)
	}
	if out, err := m.try(nil, "kill -0 $(cat /run/orphan)"); err == nil {
		t.Errorf("the child still lives %s", out)
	}
}

// TestAJobThatForksWithoutEndIsEnded: nobody who looks at processes one by one gets hold of one that is another
// whenever he looks. A control group can be removed only when nothing lives in it.
func TestAJobThatForksWithoutEndIsEnded(t *testing.T) {
	m := fleetOf(t, 1)[0]
	j := background(t, m, "comet", `trap "" TERM; comet() { comet & }; comet; sleep 600`, 4)
	group := "/sys/fs/cgroup$(systemctl show hark-agent -p ControlGroup --value)/jobs/" + j.ID
	m.sh(t, "test -d "+group)
	if said := ended(t, m, j); !strings.Contains(said, "timedout") {
		t.Errorf("the job ended so: %s", said)
	}
	if _, err := m.try(nil, "test ! -e "+group); err != nil {
		t.Errorf("in the group of the job live %s", m.sh(t, "cat "+group+"/cgroup.procs"))
	}
}

// TestJobsAreLostWithTheirHost, and it is said why.
func TestJobsAreLostWithTheirHost(t *testing.T) {
	m := fleetOf(t, 1)[0]
	j := background(t, m, "doomed", "sleep 600", 600)
	m.verb(t, "reboot")
	present(t, m)
	answers(t, m)
	if now := site.control.jobs(t, m)["doomed"]; now.State != "lost" || !strings.Contains(now.Why, "host") {
		t.Errorf("the job is %+v", now)
	}
	got := site.control.hark(t, t.TempDir(), "jobs", "wait", "-i", string(m)+",", j.ID)
	if got.code != 2 {
		t.Errorf("hark jobs wait: %d %s%s", got.code, got.out, got.errors)
	}
}

// interruptible is a play whose command does not end by itself, with a section that cleans up.
const interruptible = `
- hosts: all
  gather_facts: false
  tasks:
    - block:
        - name: endless
          shell: echo $$ >/run/endless; trap '' TERM; while :; do sleep 1; done
        - name: never
          command: touch /run/never
      always:
        - name: clean up
          shell: echo cleaned >/run/cleaned
`

// begun starts the play on hosts and waits until its command runs on all of them.
func begun(t *testing.T, hosts []machine) *process {
	t.Helper()
	each(t, hosts, func(m machine) error {
		_, err := m.try(nil, "rm -f /run/endless /run/never /run/cleaned")
		return err
	})
	p := site.control.start(t, project(t, hosts, map[string]string{"site.yml": interruptible}), "play", "-i", "inventory", "site.yml")
	for _, m := range hosts {
		await(t, "the command runs on "+string(m), func() bool { _, err := m.try(nil, "test -s /run/endless"); return err == nil })
	}
	return p
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// TestCancelEndsTheRunEverywhere: at once, with what it cleans up and its recap.
func TestCancelEndsTheRunEverywhere(t *testing.T) {
	hosts := fleetOf(t, 3)
	p := begun(t, hosts)
	at := time.Now()
	p.signal(t, os.Interrupt)
	got := p.wait(t)
	if took := time.Since(at); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if got.code != 99 || !strings.Contains(got.errors, "User interrupted execution") {
		t.Errorf("code %d, %s", got.code, got.errors)
	}
	for _, m := range hosts {
		if left, err := m.try(nil, "kill -0 $(cat /run/endless) || test -e /run/never"); err == nil {
			t.Errorf("on %s something goes on %s", m, left)
		}
		if text := m.sh(t, "cat /run/cleaned"); text != "cleaned" {
			t.Errorf("%s was not cleaned up", m)
		}
		if !strings.Contains(recap(got.out)[string(m)], "failed=1") {
			t.Errorf("the recap has no %s:\n%s", m, got.out)
		}
	}
}

// TestTwoInterruptsDetach: what still goes on, which is what cleans up, is finished without the controller.
func TestTwoInterruptsDetach(t *testing.T) {
	m := fleetOf(t, 1)[0]
	m.sh(t, "rm -f /run/cleaned /run/begun /run/cleaning /run/let-go; mkfifo /run/let-go")
	p := site.control.start(t, project(t, []machine{m}, map[string]string{"site.yml": `
- hosts: all
  gather_facts: false
  tasks:
    - block:
        - shell: touch /run/begun; sleep 600
      always:
        - shell: touch /run/cleaning; read x </run/let-go; touch /run/cleaned
`}), "play", "-i", "inventory", "site.yml")
	await(t, "the command runs", func() bool { _, err := m.try(nil, "test -e /run/begun"); return err == nil })
	p.signal(t, os.Interrupt)
	await(t, "it cleans up", func() bool { _, err := m.try(nil, "test -e /run/cleaning"); return err == nil })
	time.Sleep(200 * time.Millisecond) // sooner it would be taken for an echo of the first
	p.signal(t, os.Interrupt)
	if got := p.wait(t); got.code != 99 {
		t.Errorf("code %d: %s%s", got.code, got.out, got.errors)
	}
	m.sh(t, "timeout 20 sh -c 'echo >/run/let-go'")
	await(t, "it is cleaned up", func() bool { _, err := m.try(nil, "test -e /run/cleaned"); return err == nil })
}

// TestLostControllerDisturbsNobody: what it began is finished, and the next run has the host at once.
func TestLostControllerDisturbsNobody(t *testing.T) {
	m := fleetOf(t, 1)[0]
	m.sh(t, "rm -f /run/finished /run/begun /run/let-go; mkfifo /run/let-go")
	dir := project(t, []machine{m}, map[string]string{"site.yml": `
- hosts: all
  gather_facts: false
  tasks:
    - shell: touch /run/begun; read x </run/let-go; touch /run/finished
`, "next.yml": `
- hosts: all
  gather_facts: false
  tasks:
    - command: echo not disturbed
      register: r
    - debug: var=r.stdout
`})
	p := site.control.start(t, dir, "play", "-i", "inventory", "site.yml")
	await(t, "the command runs", func() bool { _, err := m.try(nil, "test -e /run/begun"); return err == nil })
	p.signal(t, syscall.SIGKILL)
	p.wait(t)
	if got := site.control.hark(t, dir, "play", "-i", "inventory", "next.yml"); got.code != 0 || !strings.Contains(got.out, "not disturbed") {
		t.Errorf("the next run: %d %s%s", got.code, got.out, got.errors)
	}
	m.sh(t, "timeout 20 sh -c 'echo >/run/let-go'")
	await(t, "the step in hand is finished", func() bool { _, err := m.try(nil, "test -e /run/finished"); return err == nil })
}

// TestLeaseOfALostControllerRunsOut: a host that waits at a barrier leaves the play when nobody has spoken to it for
// the lease, and keeps nothing of it; one that is in the middle of a step ends that first.
func TestLeaseOfALostControllerRunsOut(t *testing.T) {
	hosts := fleetOf(t, 2)
	t.Setenv("HARK_LEASE", "5")
	for _, m := range hosts {
		m.sh(t, "rm -f /run/begun /run/let-go /run/finished /run/next; mkfifo /run/let-go; rm -f /var/lib/hark/sessions/*")
	}
	p := site.control.start(t, project(t, hosts, map[string]string{"site.yml": `
- hosts: all
  gather_facts: false
  tasks:
    - shell: touch /run/begun; [ "$(hostname)" = h1 ] || read x </run/let-go; touch /run/finished
    - command: touch /run/next
`}), "play", "-i", "inventory", "site.yml")
	await(t, "h1 waits for h2", func() bool {
		_, one := hosts[0].try(nil, "test -e /run/finished")
		_, two := hosts[1].try(nil, "test -e /run/begun")
		return one == nil && two == nil
	})
	p.signal(t, syscall.SIGKILL)
	p.wait(t)
	since := hosts[0].sh(t, "date +%s")
	sessions := func(m machine) string { return m.sh(t, "ls /var/lib/hark/sessions") }
	await(t, "h1 has left the play", func() bool {
		return strings.Contains(hosts[0].sh(t, "journalctl -u hark-agent -o cat --since @"+since), "the controller has gone away")
	})
	if sessions(hosts[1]) == "" {
		t.Error("h2 has forgotten the step that it is in")
	}
	hosts[1].sh(t, "timeout 20 sh -c 'echo >/run/let-go'")
	await(t, "h2 has ended its step", func() bool { _, err := hosts[1].try(nil, "test -e /run/finished"); return err == nil })
	for _, m := range hosts {
		if _, err := m.try(nil, "test -e /run/next"); err == nil {
			t.Errorf("%s went on without a controller", m)
		}
	}
	answers(t, hosts...)
}

// TestAnAdoptedJobEndsItsTask: the agent is killed while a task waits for its job. The agent that adopts the job
// tells how it ended, the host goes on behind the task, and the handlers that were notified before run.
func TestAnAdoptedJobEndsItsTask(t *testing.T) {
	hosts := fleetOf(t, 2)
	each(t, hosts, func(m machine) error {
		_, err := m.try(nil, "rm -f /run/adopted /run/goes-on; if [ $(hostname) = h2 ]; then touch /run/goes-on; fi")
		return err
	})
	dir := project(t, hosts, map[string]string{"site.yml": `
- hosts: all
  gather_facts: false
  tasks:
    - shell: "true"
      notify: told before
    - shell: "echo began >>/run/adopted; while [ ! -e /run/goes-on ]; do sleep 0.1; done; echo ended by $HARK_JOB"
      async: 120
      poll: 1
      register: r
      failed_when: r.ansible_job_id not in r.stdout
    - debug:
        msg: "{{ r.stdout }} {{ r.rc }}"
  handlers:
    - name: told before
      debug:
        msg: handled
`})
	p := site.control.start(t, dir, "play", "-i", "inventory", "site.yml")
	await(t, "the job has begun", func() bool { _, err := machine("h1").try(nil, "test -e /run/adopted"); return err == nil })
	await(t, "the task waits for it", func() bool { return strings.Contains(p.out.String(), "ASYNC POLL on h1") })
	machine("h1").sh(t, "pkill -KILL -f '^/usr/bin/hark-agent run'")
	machine("h1").sh(t, "sleep 1; touch /run/goes-on")
	got := p.wait(t)
	if got.code != 0 || recap(got.out)["h1"] != recap(got.out)["h2"] || !strings.HasPrefix(recap(got.out)["h1"], "ok=4 changed=2 ") || !strings.Contains(got.out, "ended by") {
		t.Errorf("exit code %d, recap of h1: %s", got.code, recap(got.out)["h1"])
	}
	if began := machine("h1").sh(t, "grep -c began /run/adopted"); began != "1" {
		t.Errorf("the job began %s times", began)
	}
}

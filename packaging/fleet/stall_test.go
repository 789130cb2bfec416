//go:build fleet

package fleet

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The requests of Linux's FUSE that matter here, and the size of their headers.
const (
	fuseInit       = 26
	fuseInHeader   = 40
	fuseOutHeader  = 16
	fuseInitAnswer = 64
)

// stall mounts a file system that answers nothing on a host: what touches it hangs, and no signal ends it (state D),
// as with a network file system whose server is dead. All is let go when the test ends.
func stall(t *testing.T, m machine, at string) {
	t.Helper()
	// Not through os.File: the kernel cannot poll the device before a file system is mounted.
	dev, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := tool("exec", string(m), "sh", "-c", "mkdir -p "+at+" && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 stall "+at)
	passed := os.NewFile(uintptr(dev), "/dev/fuse")
	cmd.ExtraFiles = []*os.File{passed}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot mount: %v\n%s", err, out)
	}
	request := make([]byte, 256<<10)
	n, err := syscall.Read(dev, request)
	if err != nil || n < fuseInHeader || binary.NativeEndian.Uint32(request[4:]) != fuseInit {
		t.Fatalf("the kernel does not begin: %v", err)
	}
	answer := make([]byte, fuseOutHeader+fuseInitAnswer)
	binary.NativeEndian.PutUint32(answer, uint32(len(answer)))
	copy(answer[8:16], request[8:16]) // which request it answers
	binary.NativeEndian.PutUint32(answer[16:], 7)
	binary.NativeEndian.PutUint32(answer[20:], 31)
	binary.NativeEndian.PutUint32(answer[16+20:], 4096) // the largest write
	if _, err := syscall.Write(dev, answer); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for { // a request that was read can no longer be taken back
			if _, err := syscall.Read(dev, request); err != nil && err != syscall.EINTR {
				return
			}
		}
	}()
	t.Cleanup(func() {
		m.sh(t, "umount -f -l "+at) // whoever waits is told that nobody is there, and so is the reader
		<-over
		passed.Close()
	})
}

// TestProcessThatCannotBeEndedHoldsNothing: at its time-out, and as a job at its limit, it is named and left behind;
// the play goes on, and other hosts never waited.
func TestProcessThatCannotBeEndedHoldsNothing(t *testing.T) {
	hosts := fleetOf(t, 2)
	m := hosts[0]
	stall(t, m, "/run/stalled")
	dir := project(t, hosts, map[string]string{"site.yml": `
- hosts: h1
  gather_facts: false
  tasks:
    - name: stuck
      command: cat /run/stalled/x
      timeout: 2
      register: r
      ignore_errors: true
    - debug: var=r.msg
    - name: stuck job
      command: cat /run/stalled/y
      async: 2
      poll: 1
      register: j
      ignore_errors: true
    - debug: var=j
    - name: after
      command: touch /run/after-stall
`})
	m.sh(t, "rm -f /run/after-stall")
	began := time.Now()
	got := site.control.hark(t, dir, "play", "-i", "inventory", "site.yml")
	if took := time.Since(began); got.code != 0 || took > patience {
		t.Errorf("code %d after %s", got.code, took)
	}
	if n := strings.Count(got.out, "cannot be ended: it is in state D"); n < 2 {
		t.Errorf("the results name %d stuck processes", n)
	}
	m.sh(t, "test -e /run/after-stall && pgrep -f 'cat /run/stalled'")
	jobs := site.control.hark(t, dir, "jobs", "list", "-i", "h1,", "--json")
	var list []job
	if err := json.Unmarshal([]byte(jobs.out), &list); err != nil {
		t.Fatal(err)
	}
	for _, j := range list {
		if j.Task == "stuck job" && j.State == "running" {
			t.Errorf("the job goes on: %+v", j)
		}
	}
}

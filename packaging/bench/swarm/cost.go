package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// cost is what a work took: processor time of each side, memory in KB: the controller's most, what broker and agents
// have at its end, and the bytes that controller and broker have written, to their connections and files.
type cost struct {
	wall, controller, broker, swarm  time.Duration
	controllerKB, brokerKB, agentsKB int64
	controllerWrote, brokerWrote     int64
}

func (r row) String() string {
	n := max(1, r.results)
	if r.results == 0 {
		n = r.agents
	}
	each := func(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()*1000/float64(n)) }
	return fmt.Sprintf("| %d | %s | %.1f | %.2f (%s) | %.2f (%s) | %.2f (%s) | %d | %d | %d | %.1f | %.1f |", r.agents,
		r.work, r.wall.Seconds(),
		r.controller.Seconds(), each(r.controller), r.broker.Seconds(), each(r.broker), r.swarm.Seconds(), each(r.swarm),
		r.controllerKB>>10, r.brokerKB>>10, r.agentsKB>>10, float64(r.controllerWrote)/1e6, float64(r.brokerWrote)/1e6)
}

// around measures broker and agents while f runs.
func (s *site) around(f func() error) (cost, error) {
	broker, swarm, began := spent(s.broker.Process.Pid), spent(s.swarm.Process.Pid), time.Now()
	wrote := written(s.broker.Process.Pid)
	err := f()
	return cost{
		wall: time.Since(began), broker: spent(s.broker.Process.Pid) - broker, swarm: spent(s.swarm.Process.Pid) - swarm,
		brokerKB: resident(s.broker.Process.Pid), agentsKB: resident(s.swarm.Process.Pid),
		brokerWrote: written(s.broker.Process.Pid) - wrote,
	}, err
}

// spent is the processor time of a process so far.
func spent(pid int) time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(after)
	var user, system int64
	if len(f) > 12 {
		_, _ = fmt.Sscan(f[11]+" "+f[12], &user, &system) // 0 if they are none
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on all that hark runs on
	return time.Duration(user+system) * tick
}

// resident is the memory of a process in KB.
func resident(pid int) (kb int64) { return figure(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:") }

// written is how many bytes a process has written so far, to files and connections.
func written(pid int) int64 { return figure(fmt.Sprintf("/proc/%d/io", pid), "wchar:") }

// figure is the number behind a name in a file of /proc, 0 if it is not there.
func figure(path, name string) (n int64) {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}

// connections is how many sockets a process has open.
func connections(pid int) int {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	names, _ := os.ReadDir(dir)
	n := 0
	for _, f := range names {
		if to, err := os.Readlink(dir + "/" + f.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

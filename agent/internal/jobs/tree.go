package jobs

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// grace is the time between TERM and KILL.
	grace = 800 * time.Millisecond
	// resistance is how long a process may take to end after KILL until it is left behind.
	resistance = 2 * time.Second
	// patience is how long a module may take to return after it was told to stop and its processes have ended.
	patience = time.Second
	// sweepFirst and sweepLast are the shortest and longest pause between two looks at a tree that is being ended.
	sweepFirst, sweepLast = 5 * time.Millisecond, 100 * time.Millisecond
)

// marker is in the environment of every process of a job, so that they are found when the job's process is gone.
func marker(id string) string { return "HARK_JOB=" + id }

// descendants returns the processes below a process. The kernel's lists of children are quick, but may miss one while
// another ends.
func descendants(root int) []stat {
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		return scan(root)
	}
	var all []stat
	queue := []int{root}
	for len(queue) > 0 {
		below := children(queue[0])
		queue = append(queue[1:], below...)
		for _, pid := range below {
			if s := readStat(pid); s.lives() {
				all = append(all, s)
			}
		}
	}
	return all
}

// children returns the processes that the kernel lists as children of one, in the lists of its threads.
func children(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var pids []int
	for _, thread := range threads {
		list, _ := os.ReadFile(dir + thread.Name() + "/children") // it may have ended
		for _, word := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(word); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// scan finds the processes below a process among all.
func scan(root int) []stat {
	children := map[int][]stat{}
	for _, pid := range processes() {
		if s := readStat(pid); s.lives() {
			children[s.parent] = append(children[s.parent], s)
		}
	}
	var all []stat
	queue := []int{root}
	for len(queue) > 0 {
		below := children[queue[0]]
		queue = queue[1:]
		for _, s := range below {
			all = append(all, s)
			queue = append(queue, s.pid)
		}
	}
	return all
}

// marked returns the processes of a job that no longer has a process of its own.
func marked(id string) []stat {
	var all []stat
	for _, pid := range processes() {
		if pid == os.Getpid() {
			continue
		}
		if slices.Contains(strings.Split(environ(pid), "\x00"), marker(id)) {
			if s := readStat(pid); s.lives() {
				all = append(all, s)
			}
		}
	}
	return all
}

// end ends all processes that find returns, those of a control group, and those that they start meanwhile: TERM, grace,
// KILL. It returns those that could not be ended. Without grace they get no TERM.
func end(find func() []stat, group string, grace time.Duration) []stat {
	began, pause := time.Now(), sweepFirst
	if grace > 0 {
		signalAll(find(), syscall.SIGTERM)
	}
	for empty := false; ; {
		left := find()
		switch spent := time.Since(began); {
		case empty && len(left) == 0 || spent > grace+resistance:
			return left
		case spent >= grace:
			killGroup(group)
			signalAll(left, syscall.SIGKILL)
		}
		empty = len(left) == 0 // once more, to be sure
		time.Sleep(pause)
		pause = min(sweepLast, pause*3/2)
	}
}

func signalAll(all []stat, sig syscall.Signal) {
	for _, s := range all {
		_ = syscall.Kill(s.pid, sig) // it may have ended by itself
	}
}

// bury reaps the zombies of processes that were left to this one, and gives those that it passes over. The children
// that Go waits for lead sessions of their own: those are left to it, unless they were passed over the last time too.
func bury(passed map[int]bool) map[int]bool {
	next := map[int]bool{}
	for _, pid := range processes() {
		s := readStat(pid)
		if s.state != "Z" || s.parent != os.Getpid() {
			continue
		}
		if s.sid == pid && !passed[pid] {
			next[pid] = true
			continue
		}
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	return next
}

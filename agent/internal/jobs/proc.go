package jobs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of start times in /proc: USER_HZ, the same on every Linux that Go runs on.
const ticksPerSecond = 100

// stat is what /proc says of a process.
type stat struct {
	name, state  string
	pid, parent  int
	sid          int
	ticks        uint64
	reallyExists bool
	// size is the size of its memory in bytes, 0 for kernel threads; code is where its program ends there, stack where its
	// stack begins.
	size, code, stack uint64
}

// readStat reads /proc/PID/stat.
func readStat(pid int) stat {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	from, to := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if err != nil || from < 0 || to < from {
		return stat{}
	}
	// The name may hold anything. After it come state, ppid, pgrp, session and, as the 20th, the start time.
	f := strings.Fields(string(raw[to+1:]))
	if len(f) < 26 {
		return stat{}
	}
	s := stat{name: string(raw[from+1 : to]), state: f[0], pid: pid, reallyExists: true}
	s.parent, _ = strconv.Atoi(f[1])
	s.sid, _ = strconv.Atoi(f[3])
	s.ticks, _ = strconv.ParseUint(f[19], 10, 64)
	s.size, _ = strconv.ParseUint(f[20], 10, 64)
	s.code, _ = strconv.ParseUint(f[24], 10, 64)
	s.stack, _ = strconv.ParseUint(f[25], 10, 64)
	return s
}

// environ returns the environment of a process, "" if it has none or this process may not read it. A process seems to
// have none during execve, which takes long on a busy machine; environ then asks again.
func environ(pid int) string {
	for limit := time.Now().Add(resistance); ; time.Sleep(time.Millisecond) {
		before := readStat(pid)
		raw, err := readAtOnce("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || len(raw) > 0 {
			return string(raw)
		}
		after := readStat(pid)
		same := after.code != 0 && after.code == before.code && after.stack == before.stack
		if same || after.size == 0 || time.Now().After(limit) {
			return ""
		}
	}
}

// readAtOnce reads a file with a single read. The kernel returns the environment of the program that ran when the file
// was opened, and no more of it after an execve: a second read may return nothing, and the text would end in its
// middle.
func readAtOnce(path string) ([]byte, error) {
	for room := 8 << 10; ; room *= 4 {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		raw := make([]byte, room)
		n, err := f.Read(raw)
		_ = f.Close()
		if n < room {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return raw[:n], err
		}
	}
}

// hostEnds reports whether systemd is ending all processes (it is then systemd-shutdown). A command may be ended before
// the process of its job is; that is no failure of its own.
func hostEnds() bool {
	name, err := os.ReadFile("/proc/1/comm")
	return err == nil && string(bytes.TrimSpace(name)) == "systemd-shutdow" // the kernel keeps 15 bytes
}

// lives reports whether the process exists and is not a zombie.
func (s stat) lives() bool { return s.reallyExists && s.state != "Z" && s.state != "X" }

// ticksOf returns the start time of a process in clock ticks since boot, 0 if there is none (or only its zombie).
func ticksOf(pid int) uint64 {
	if s := readStat(pid); s.lives() {
		return s.ticks
	}
	return 0
}

// processes returns the ids of all processes.
func processes() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

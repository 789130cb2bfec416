package procx

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// signalSession signals the leader's group and, one by one, those of the session who left the group.
func signalSession(sid int, sig syscall.Signal) {
	_ = syscall.Kill(-sid, sig)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if pgrp, session, ok := groupOf(pid); ok && session == sid && pgrp != sid {
			_ = syscall.Kill(pid, sig)
		}
	}
}

// groupOf reads the process group and session of a process.
func groupOf(pid int) (pgrp, session int, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	// The name in parentheses may hold anything; after it come state, ppid, pgrp, session.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 {
		return 0, 0, false
	}
	pgrp, err1 := strconv.Atoi(string(fields[2]))
	session, err2 := strconv.Atoi(string(fields[3]))
	return pgrp, session, err1 == nil && err2 == nil
}

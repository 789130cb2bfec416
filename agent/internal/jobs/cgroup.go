package jobs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// groups makes a control group for each job below that of the agent's service, if that was delegated to it (Delegate=yes). A job
// then counts as itself and is found whole even when its process was killed. The zero value makes none.
type groups struct{ dir string }

// ownGroups finds where this process may make groups: below the group of its service, in the unified hierarchy or, where systemd
// uses none, in its own.
func ownGroups() groups {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return groups{}
	}
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		part := strings.SplitN(line, ":", 3)
		if len(part) != 3 || part[1] != "" && part[1] != "name=systemd" || !strings.HasSuffix(part[2], ".service") {
			continue // not of a service: nobody has delegated it
		}
		for _, mount := range []string{"", "unified", "systemd"} {
			dir := filepath.Join("/sys/fs/cgroup", mount, part[2])
			if contains(dir, os.Getpid()) && os.MkdirAll(filepath.Join(dir, "jobs"), 0o755) == nil {
				return groups{filepath.Join(dir, "jobs")}
			}
		}
	}
	return groups{}
}

// enter makes the group of a job and puts its process there; "" if that cannot be.
func (g groups) enter(id string, pid int) string {
	if g.dir == "" {
		return ""
	}
	dir := filepath.Join(g.dir, id)
	if os.Mkdir(dir, 0o755) != nil {
		return ""
	}
	if os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0) != nil {
		_ = os.Remove(dir)
		return ""
	}
	return dir
}

// members are the processes of a group.
func members(dir string) []stat {
	if dir == "" {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil
	}
	var all []stat
	for _, word := range strings.Fields(string(raw)) {
		pid, err := strconv.Atoi(word)
		if s := readStat(pid); err == nil && s.lives() {
			all = append(all, s)
		}
	}
	return all
}

func contains(dir string, pid int) bool {
	for _, s := range members(dir) {
		if s.pid == pid {
			return true
		}
	}
	return false
}

// dissolve removes the group of a job that is over. One in which something lives on, which the job left behind, stays.
func dissolve(dir string) {
	if dir != "" {
		_ = os.Remove(dir)
	}
}

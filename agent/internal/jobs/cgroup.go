package jobs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// groups makes a control group for each job below that of the agent's service, if that was delegated to it
// (Delegate=yes). A job is then accounted for separately, and found whole even when its process was killed. The zero
// value makes none.
type groups struct{ dir string }

// ownGroups finds where this process may make groups: below the group of its service, in the unified hierarchy or,
// where systemd uses none, in its own.
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

// enter makes the group of a job and puts its process there. It returns "" if that is not possible.
func (g groups) enter(id string, pid int) string {
	if g.dir == "" {
		return ""
	}
	dir := filepath.Join(g.dir, id)
	if os.Mkdir(dir, 0o755) != nil {
		return ""
	}
	if put(dir, pid) != nil {
		_ = os.Remove(dir)
		return ""
	}
	return dir
}

// members returns the processes of a group and of the groups below it.
func members(dir string) []stat {
	if dir == "" {
		return nil
	}
	var all []stat
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != procsFile {
			return nil // a group may be removed meanwhile
		}
		raw, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(raw)) {
			pid, err := strconv.Atoi(word)
			if s := readStat(pid); err == nil && s.lives() {
				all = append(all, s)
			}
		}
		return nil
	})
	return all
}

// killGroup kills all processes of a group at once, even those that fork faster than anybody can look. This process
// leaves the group first. Where the kernel cannot do that (before 5.14, the old hierarchy) it does nothing, and end
// kills them one by one.
func killGroup(dir string) {
	kill := filepath.Join(dir, "cgroup.kill")
	if _, err := os.Stat(kill); dir == "" || err != nil {
		return
	}
	if contains(dir, os.Getpid()) && put(filepath.Dir(dir), os.Getpid()) != nil {
		return
	}
	_ = os.WriteFile(kill, []byte("1"), 0) // else they are killed one by one
}

// procsFile lists the processes of a group; a process whose id is written to it enters.
const procsFile = "cgroup.procs"

func put(dir string, pid int) error {
	return os.WriteFile(filepath.Join(dir, procsFile), []byte(strconv.Itoa(pid)), 0)
}

func contains(dir string, pid int) bool {
	for _, s := range members(dir) {
		if s.pid == pid {
			return true
		}
	}
	return false
}

// dissolve removes the group of a job that has ended. A group with a process that the job left behind stays.
func dissolve(dir string) {
	if dir != "" {
		_ = os.Remove(dir)
	}
}

// Package localtime knows the time zone of this machine as a process that starts now would have it: package time
// reads it once, and a process that lives for months would go on with the zone of its first day.
package localtime

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// path is the zone of the machine: a file, or a link to one.
const path = "/etc/localtime"

// Zone is the zone of this process's TZ, or of the machine.
func Zone() *time.Location {
	if name, ok := os.LookupEnv("TZ"); ok {
		return named(name)
	}
	return ofMachine.zone()
}

// In is a time in that zone.
func In(t time.Time) time.Time { return t.In(Zone()) }

// Now is the time in that zone.
func Now() time.Time { return In(time.Now()) }

// named is the zone of a TZ, which may be the path of a file. One that cannot be read is UTC, as libc has it.
func named(name string) *time.Location {
	name = strings.TrimPrefix(name, ":")
	if strings.HasPrefix(name, "/") {
		f := file{path: name}
		return f.zone()
	}
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.UTC
}

// file is a file of a zone, which is read again when it is another.
type file struct {
	path string

	mu   sync.Mutex
	is   string         // which file was read; guarded by mu
	kept *time.Location // guarded by mu
}

var ofMachine = file{path: path}

func (f *file) zone() *time.Location {
	f.mu.Lock()
	defer f.mu.Unlock()
	is := identity(f.path)
	if is == f.is && f.kept != nil {
		return f.kept
	}
	f.is, f.kept = is, time.UTC
	if data, err := os.ReadFile(f.path); err == nil {
		if zone, err := time.LoadLocationFromTZData("Local", data); err == nil {
			f.kept = zone
		}
	}
	return f.kept
}

// identity tells a file from all that were, or will be, at its path.
func identity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	link, _ := os.Readlink(path)
	id := fmt.Sprint(link, " ", info.Size(), " ", info.ModTime().UnixNano())
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		id += fmt.Sprint(" ", sys.Dev, " ", sys.Ino)
	}
	return id
}

// Package localtime knows the time zone of this machine as a process that starts now would have it: package time
// reads it once, and a process that lives for months would go on with the zone of its first day.
package localtime

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// path is the zone of the machine: a file, or a link to one.
const path = "/etc/localtime"

// Zone returns the zone of this process's TZ, or of the machine.
func Zone() *time.Location { return current().location }

// Data returns that zone as a file of it has it (TZif), for other machines: they may not have the file, or another
// one.
func Data() []byte { return current().data }

// In returns a time in that zone.
func In(t time.Time) time.Time { return t.In(Zone()) }

// Now returns the time in that zone.
func Now() time.Time { return In(time.Now()) }

// Of returns a zone from the data of a file.
func Of(data []byte) (*time.Location, error) { return time.LoadLocationFromTZData("Local", data) }

// zone is a zone with the data that it was read from.
type zone struct {
	location *time.Location
	data     []byte
}

func current() zone {
	if name, ok := os.LookupEnv("TZ"); ok {
		return named(name)
	}
	return ofMachine.zone()
}

// named returns the zone of a TZ, which may be the path of a file or a rule. One that is neither is UTC, as libc has
// it.
func named(name string) zone {
	name = strings.TrimPrefix(name, ":")
	if strings.HasPrefix(name, "/") {
		f := file{path: name}
		return f.zone()
	}
	if name != "" && filepath.IsLocal(name) {
		for _, dir := range directories() {
			if z, ok := read(filepath.Join(dir, name)); ok {
				return z
			}
		}
	}
	if z, ok := ruled(name); ok {
		return z
	}
	return utc()
}

// directories returns where zones have files by their names.
func directories() []string {
	var dirs []string
	if dir := os.Getenv("TZDIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	return append(dirs, "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo")
}

func read(path string) (zone, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return zone{}, false
	}
	location, err := Of(data)
	return zone{location, data}, err == nil
}

func utc() zone { return zone{time.UTC, ofRule("UTC0")} }

// ruled returns the zone of a rule as POSIX has it, CET-1CEST or <+03>-3.
func ruled(rule string) (zone, bool) {
	data := ofRule(rule)
	location, err := Of(data)
	if err != nil {
		return zone{}, false
	}
	name, _ := time.Unix(0, 0).In(location).Zone()
	return zone{location, data}, name != unruled
}

// unruled is the abbreviation in a file of a rule that nobody understands.
const unruled = "-00"

// ofRule returns a file of a zone that has nothing but a rule (RFC 9636).
func ofRule(rule string) []byte {
	const oneType, noTimes = "\x00\x00\x00\x01", "\x00\x00\x00\x00"
	const counts = noTimes + noTimes + noTimes + noTimes + oneType + "\x00\x00\x00\x04"
	const part = "TZif2" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + counts + // the head
		"\x00\x00\x00\x00\x00\x00" + unruled + "\x00" // the type and its abbreviation
	return []byte(part + part + "\n" + rule + "\n")
}

// file is a file of a zone, which is read again when it is another.
type file struct {
	path string

	mu   sync.Mutex
	is   string // which file was read; guarded by mu
	kept zone   // guarded by mu
}

var ofMachine = file{path: path}

func (f *file) zone() zone {
	f.mu.Lock()
	defer f.mu.Unlock()
	is := identity(f.path)
	if is == f.is && f.kept.location != nil {
		return f.kept
	}
	f.is, f.kept = is, utc()
	if z, ok := read(f.path); ok {
		f.kept = z
	}
	return f.kept
}

// identity distinguishes a file from all that were, or will be, at its path.
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

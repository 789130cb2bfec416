package general

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/osrelease"
	"hark/modules/internal/host/tool"
)

const zoneDir = "/usr/share/zoneinfo/"

var (
	plainZone   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S+)`) })
	suseZone    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^TIMEZONE\s*=\s*"?([^"\s]+)"?`) })
	redhatZone  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ZONE\s*=\s*"?([^"\s]+)"?`) })
	clockUTC    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^UTC\s*=\s*(\S+)`) })
	adjtimeKind = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(UTC|LOCAL)\s*$`) })
	linkedZone  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/(?:usr/share|etc)/zoneinfo/(.*)`) })
)

// fileClock edits the files of a host without systemd.
type fileClock struct {
	ctx                 context.Context
	env                 *modules.Env
	root                string
	zoneFile, clockFile string
	zoneLine            *regexp.Regexp // finds the zone in a line of zoneFile
	zoneFormat          string
	// apply are the commands that make a zone the host's once the file names it.
	apply func(zone string) [][]string
}

func newFileClock(ctx context.Context, env *modules.Env, root string) (*fileClock, error) {
	if _, err := tool.Find(env, "hwclock"); err != nil {
		return nil, err
	}
	c := &fileClock{ctx: ctx, env: env, root: root, zoneFile: "/etc/timezone", zoneLine: plainZone(), zoneFormat: "%s\n"}
	c.apply = func(zone string) [][]string {
		return [][]string{{"cp", "--remove-destination", root + zoneDir + zone, root + "/etc/localtime"}}
	}
	switch name := osrelease.Distribution(); {
	case env.LookPath("dpkg-reconfigure") != "":
		c.clockFile = "/etc/default/rcS"
		c.apply = func(zone string) [][]string {
			return [][]string{{"ln", "-sf", root + zoneDir + zone, root + "/etc/localtime"},
				{"dpkg-reconfigure", "--frontend", "noninteractive", "tzdata"}}
		}
	case name == "Alpine":
		c.clockFile = "/etc/conf.d/hwclock"
		c.apply = func(zone string) [][]string { return [][]string{{"setup-timezone", "-z", zone}} }
	case name == "Gentoo":
		c.clockFile = "/etc/conf.d/hwclock"
	default:
		c.sysconfig(strings.Contains(strings.ToLower(name), "sles"))
	}
	return c, nil
}

// sysconfig is how distributions of Red Hat and SUSE keep the zone; the key in the file tells them apart.
func (c *fileClock) sysconfig(suse bool) {
	c.zoneFile, c.clockFile = "/etc/sysconfig/clock", "/etc/sysconfig/clock"
	if lines, err := c.lines(c.zoneFile); err == nil && lines != nil {
		suse = slices.ContainsFunc(lines,
			func(l string) bool { return strings.HasPrefix(strings.ReplaceAll(l, " ", ""), "TIMEZONE=") })
	}
	c.zoneLine, c.zoneFormat = redhatZone(), "ZONE=\"%s\"\n"
	if suse {
		c.zoneLine, c.zoneFormat = suseZone(), "TIMEZONE=\"%s\"\n"
	}
	st, err := os.Lstat(c.root + "/etc/localtime")
	if link := err == nil && st.Mode()&fs.ModeSymlink != 0; c.env.LookPath("tzdata-update") != "" && !link {
		c.apply = func(string) [][]string { return [][]string{{"tzdata-update"}} }
	}
}

// lines returns those of a file; there are none if it is missing.
func (c *fileClock) lines(path string) ([]string, error) {
	raw, err := os.ReadFile(c.root + path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the configuration file %q: %w", path, err)
	}
	return strings.SplitAfter(string(raw), "\n"), nil
}

// find returns what a line of a file says.
func (c *fileClock) find(path string, re *regexp.Regexp, otherwise string) (string, error) {
	lines, err := c.lines(path)
	for _, line := range lines {
		if m := re.FindStringSubmatch(line); m != nil {
			return m[1], nil
		}
	}
	return otherwise, err
}

func (c *fileClock) now(key, planned string) (string, error) {
	if key == "hwclock" {
		return c.hardware(planned)
	}
	zone, err := c.find(c.zoneFile, c.zoneLine, "n/a")
	if err != nil || zone != planned {
		return zone, err
	}
	return c.localtime(zone), nil
}

// localtime returns the zone that /etc/localtime stands for, given the one that the configuration names.
func (c *fileClock) localtime(zone string) string {
	path := c.root + "/etc/localtime"
	if target, err := os.Readlink(path); err == nil {
		if _, err := os.Stat(path); err != nil {
			return "n/a"
		}
		return first(linkedZone(), target, "n/a")
	}
	have, err := os.ReadFile(path)
	want, wantErr := os.ReadFile(c.root + zoneDir + zone)
	if err != nil || wantErr != nil || !bytes.Equal(have, want) {
		return "n/a"
	}
	return zone
}

// hardware returns what the configuration says of the hardware clock; only if that is as planned, /etc/adjtime
// counts.
func (c *fileClock) hardware(planned string) (string, error) {
	text, err := c.find(c.clockFile, clockUTC(), "n/a")
	if err != nil {
		return "", err
	}
	kept := text
	if text != "n/a" {
		utc, err := modules.Bool(text)
		if err != nil {
			return "", err
		}
		if kept = "local"; utc {
			kept = "UTC"
		}
	}
	if kept != planned {
		return kept, nil
	}
	kind, err := c.find("/etc/adjtime", adjtimeKind(), "UTC")
	if kind == "LOCAL" {
		kind = "local"
	}
	return kind, err
}

func (c *fileClock) set(key, value string) (string, error) {
	if key == "hwclock" {
		return c.setHardware(value)
	}
	said, err := c.edit(c.zoneFile, c.zoneLine, fmt.Sprintf(c.zoneFormat, value))
	for _, words := range c.apply(value) {
		if err != nil {
			return "", err
		}
		_, err = must(c.ctx, c.env, words[0], words[1:]...)
	}
	return said, err
}

func (c *fileClock) setHardware(value string) (string, error) {
	option, line := "--utc", "UTC=yes\n"
	if value == "local" {
		option, line = "--localtime", "UTC=no\n"
	}
	said, err := c.edit(c.clockFile, clockUTC(), line)
	if err == nil {
		_, err = must(c.ctx, c.env, "hwclock", "--systohc", option)
	}
	return said + "\nexecuted `" + c.env.LookPath("hwclock") + " --systohc " + option + "`", err
}

// edit puts a line where the first that matches stood, or first of all, and drops the others that match.
func (c *fileClock) edit(path string, re *regexp.Regexp, line string) (string, error) {
	lines, err := c.lines(path)
	if err != nil {
		return "", err
	}
	at := max(0, slices.IndexFunc(lines, re.MatchString))
	all := len(lines)
	lines = slices.DeleteFunc(lines, re.MatchString)
	deleted := all - len(lines)
	text := strings.Join(slices.Insert(lines, at, line), "")
	w, err := fsx.Stage(c.root+path, false)
	if err != nil {
		return "", err
	}
	defer w.Discard()
	if _, err := w.Write([]byte(text)); err != nil {
		return "", err
	}
	return fmt.Sprintf("Added 1 line and deleted %d line(s) on %s", deleted, path), w.Commit(false)
}

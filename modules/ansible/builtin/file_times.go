package builtin

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"hark/modules/internal/fsx"
	"hark/modules/internal/hostfs"
	"hark/modules/internal/oserr"
	"hark/modules/py/localtime"
)

// stamp is a time to give to a file: none (keep), now, or a time.
type stamp struct {
	now  bool
	at   time.Time
	some bool
}

// timeToSet reads a time argument; by default touch sets now and all else keeps.
func timeToSet(arg *string, format, state string) (stamp, error) {
	switch {
	case arg == nil && state == "touch", arg != nil && *arg == "now":
		return stamp{now: true}, nil
	case arg == nil, *arg == "preserve":
		return stamp{}, nil
	}
	at, err := strptime(*arg, format)
	if err != nil {
		return stamp{}, fsx.Failed(fmt.Sprintf("Error while obtaining timestamp for time %s using format %s: %s", *arg,
			format, err))
	}
	return stamp{at: at, some: true}, nil
}

// setTimes gives a file its times; true if anything is to change.
func setTimes(path string, mtime, atime stamp, check bool, d *fsx.Delta) (bool, error) {
	if mtime == (stamp{}) && atime == (stamp{}) {
		return false, nil
	}
	fail := func(err error) (bool, error) {
		return false, fsx.Failed("Error while updating modification or access time: "+oserr.Bytes(err, path), "path", path)
	}
	st, err := fsx.Stat(path, true)
	if err != nil {
		return fail(err)
	}
	now := time.Now()
	wasA, wasM, _ := fsx.Times(st)
	m, a := mtime.resolve(wasM, now), atime.resolve(wasA, now)
	if m == wasM && a == wasA {
		return false, nil
	}
	if !check {
		times := []unix.Timespec{unix.Timespec(a), unix.Timespec(m)}
		if mtime.now && atime.now {
			times = nil // without times the kernel lets those write who do not own the file
		}
		if err := hostfs.SetTimes(path, times); err != nil {
			return fail(err)
		}
	}
	if m != wasM {
		d.Note("mtime", fsx.Seconds(wasM), fsx.Seconds(m))
	}
	if a != wasA {
		d.Note("atime", fsx.Seconds(wasA), fsx.Seconds(a))
	}
	return true, nil
}

func (s stamp) resolve(was syscall.Timespec, now time.Time) syscall.Timespec {
	switch {
	case s.now:
		return syscall.NsecToTimespec(now.UnixNano())
	case s.some:
		return syscall.NsecToTimespec(s.at.UnixNano())
	}
	return was
}

// strptime reads a local time in a format of Python's time.strptime, the numeric directives and names of
// months.
func strptime(text, format string) (time.Time, error) {
	mismatch := fmt.Errorf("time data '%s' does not match format '%s'", text, format)
	f := map[byte]int{'Y': 1900, 'm': 1, 'd': 1}
	for _, part := range strings.Split(strings.ReplaceAll(format, "%%", ""), "%")[1:] {
		if part != "" && !strings.ContainsRune("aAbBcdfGHIjmMpsSUuVwWxXyYzZ", rune(part[0])) {
			return time.Time{}, fmt.Errorf("'%c' is a bad directive in format '%s'", part[0], format)
		}
	}
	rest := text
	for i := 0; i < len(format); i++ {
		c := format[i]
		if c != '%' || i+1 == len(format) {
			if rest == "" || rest[0] != c {
				return time.Time{}, mismatch
			}
			rest = rest[1:]
			continue
		}
		i++
		var ok bool
		if rest, ok = directive(format[i], rest, f); !ok {
			return time.Time{}, mismatch
		}
	}
	if rest != "" {
		return time.Time{}, fmt.Errorf("unconverted data remains: %s", rest)
	}
	if at, ok := f['s']; ok {
		return time.Unix(int64(at), 0), nil
	}
	if f['p'] == 12 {
		f['H'] = f['H']%12 + 12
	}
	if j, ok := f['j']; ok {
		return time.Date(f['Y'], 1, j, f['H'], f['M'], f['S'], 0, localtime.Zone()), nil
	}
	t := time.Date(f['Y'], time.Month(f['m']), f['d'], f['H'], f['M'], f['S'], 0, localtime.Zone())
	if t.Day() != f['d'] {
		return time.Time{}, fmt.Errorf("day is out of range for month")
	}
	return t, nil
}

// directive reads one directive from the front of text into f.
func directive(c byte, text string, f map[byte]int) (string, bool) {
	number := func(key byte, width, low, high int) (string, bool) {
		n := 0
		for n < width && n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		v, err := strconv.Atoi(text[:n])
		if err != nil || v < low || v > high {
			return text, false
		}
		f[key] = v
		return text[n:], true
	}
	switch c {
	case 'Y':
		return number('Y', 4, 0, 9999)
	case 'y':
		rest, ok := number('Y', 2, 0, 99)
		if f['Y'] += 1900; f['Y'] < 1969 {
			f['Y'] += 100
		}
		return rest, ok
	case 'm':
		return number('m', 2, 1, 12)
	case 'd':
		return number('d', 2, 1, 31)
	case 'H':
		return number('H', 2, 0, 23)
	case 'I':
		return number('H', 2, 1, 12)
	case 'M':
		return number('M', 2, 0, 59)
	case 'S':
		return number('S', 2, 0, 61)
	case 'j':
		return number('j', 3, 1, 366)
	case 's':
		return number('s', 19, 0, math.MaxInt)
	case 'p':
		if len(text) < 2 {
			return text, false
		}
		word := strings.ToUpper(text[:2])
		if word == "PM" {
			f['p'] = 12
		}
		return text[2:], word == "AM" || word == "PM"
	case 'b', 'B':
		return month(text, f)
	case '%':
		return strings.CutPrefix(text, "%")
	}
	return text, false
}

func month(text string, f map[byte]int) (string, bool) {
	for m := time.January; m <= time.December; m++ {
		for _, name := range []string{m.String(), m.String()[:3]} {
			if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
				f['m'] = int(m)
				return text[len(name):], true
			}
		}
	}
	return text, false
}

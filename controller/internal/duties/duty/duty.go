// Package duty reads duties.yml, the plays that the hosts of a project are held to, and knows when each host's turn
// is. It is told the time and asks no clock, runs nothing and speaks with nobody: what is done about a duty is the
// keeper's (controller/internal/duties/keeper).
package duty

import (
	"strconv"
	"strings"
	"time"

	"hark/controller/internal/runs/rollout"
	"hark/playbook/syntax"
)

// FileName is the file of a project that has its duties.
const FileName = "duties.yml"

// Mode is what a duty may do to its hosts.
type Mode string

// The modes.
const (
	Check   Mode = "check"   // look, and report what would change
	Enforce Mode = "enforce" // change
)

// Duty is a play that hosts are held to.
type Duty struct {
	Name string
	// Play is the playbook, relative to the project; Hosts is a pattern as --limit takes it.
	Play, Hosts string
	Schedule    Schedule
	Mode        Mode
	// CatchUp is for how long a host may have been away and still gets, when it comes back, what it missed; 0 is not
	// at all.
	CatchUp time.Duration
	// Together plays all hosts in one run; TogetherSaid says that the file sets it.
	Together, TogetherSaid bool
	// AtOnce is how many hosts may be at the duty at a time.
	AtOnce int
	// StopAt is how many of the hosts may fail in a slot until the duty pauses itself; zero is all.
	StopAt rollout.Share
	// AfterChanges are the stages of a new commit: how many hosts get it in the first interval, in the second, and so
	// on. None is all at once.
	AfterChanges rollout.Stages
	// Extra, Tags and SkipTags are those of the play, as -e, --tags and --skip-tags take them.
	Extra, Tags, SkipTags []string
	// Notify is who is notified of the duty; nil is who is notified of the project.
	Notify *Notify
	// Ignore are the names of tasks whose changes are no drift, as written, with the role before them as it is shown.
	Ignore []string
	// Place is where the duty stands.
	Place syntax.Place
}

// Flags returns the flags of a turn's run that the duty has.
func (d *Duty) Flags() []string {
	var all []string
	for _, of := range []struct {
		flag   string
		values []string
	}{{"-e", d.Extra}, {"--tags", d.Tags}, {"--skip-tags", d.SkipTags}} {
		for _, v := range of.values {
			all = append(all, of.flag, v)
		}
	}
	return all
}

// DefaultAtOnce is how many hosts are at a duty at a time whose file does not say.
const DefaultAtOnce = 50

// What files do not say.
const (
	defaultCatchUp = 72 * time.Hour
	defaultStopAt  = 5 // percent, of duties that enforce
	defaultAtSplay = 10 * time.Minute
)

// Span reads a time such as 90s, 30m, 1h30m, 7d or 2w, of at least a second and at most ten years.
func Span(text string) (time.Duration, bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour,
		'w': 7 * 24 * time.Hour}
	const most = 10 * 366 * 24 * time.Hour
	total := time.Duration(0)
	for rest := text; rest != ""; {
		i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if i <= 0 {
			return 0, false
		}
		n, err := strconv.ParseInt(rest[:i], 10, 32)
		unit := units[rest[i]]
		if err != nil || unit == 0 || time.Duration(n) > most/unit {
			return 0, false
		}
		total += time.Duration(n) * unit
		rest = rest[i+1:]
	}
	return total, total >= time.Second && total <= most
}

// SpanText writes a time as Span reads it.
func SpanText(d time.Duration) string {
	var b strings.Builder
	for _, u := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + u.name)
			d -= n * u.size
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}

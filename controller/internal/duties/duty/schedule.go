package duty

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Schedule is when a duty is done: once for each host in each slot, at a moment of the host's own.
type Schedule struct {
	// Every is the length of a slot; slots begin at its multiples since 1970. 0 is once a day, At.
	Every time.Duration
	At    Clock
	// Once is the only time at which the duty is done; it has one slot, which lasts for as long as Over says.
	Once time.Time
	Over time.Duration
	// Splay is over how much of a slot, from its first moment that the window allows, the hosts are spread.
	Splay time.Duration
	// Window is outside which nothing begins, also when catching up; nil is always.
	Window *Window
}

// Clock is a time of the day somewhere.
type Clock struct {
	Minute int // of the day
	Zone   *time.Location
}

// String returns the time and its zone.
func (c Clock) String() string {
	text := fmt.Sprintf("%02d:%02d", c.Minute/60, c.Minute%60)
	if c.Zone != time.Local {
		text += " " + c.Zone.String()
	}
	return text
}

// Slot is a stretch of time in which each host has one turn: from Start to before End.
type Slot struct{ Start, End time.Time }

// ID names the slot among those of its duty.
func (s Slot) ID() int64 { return s.Start.Unix() }

// period returns how long slots are, 0 if that is not known. A day with a change of clocks is shorter or longer than
// that.
func (s Schedule) period() time.Duration {
	if s.Every > 0 {
		return s.Every
	}
	if s.At.Zone != nil {
		return 24 * time.Hour
	}
	return 0
}

// Never returns a time that does not come.
func Never() time.Time { return time.Unix(1<<40, 0) }

// onceSlot returns the slot of a time where there is one turn: that of the turn, and what is before and behind it.
func (s Schedule) onceSlot(t time.Time) Slot {
	end := s.Once.Add(s.Over)
	switch {
	case t.Before(s.Once):
		return Slot{time.Time{}, s.Once}
	case t.Before(end):
		return Slot{s.Once, end}
	}
	return Slot{end, Never()}
}

// Slot returns the one that a time lies in.
func (s Schedule) Slot(t time.Time) Slot {
	if !s.Once.IsZero() {
		return s.onceSlot(t)
	}
	if s.Every > 0 {
		seconds := int64(s.Every / time.Second)
		n := t.Unix() / seconds
		if t.Unix()%seconds < 0 {
			n--
		}
		start := time.Unix(n*seconds, 0).UTC()
		return Slot{start, start.Add(s.Every)}
	}
	start := s.At.on(t)
	if t.Before(start) {
		return Slot{s.At.on(previousDay(t, s.At.Zone)), start}
	}
	return Slot{start, s.At.on(nextDay(t, s.At.Zone))}
}

// Next returns the slot behind another.
func (s Schedule) Next(slot Slot) Slot { return s.Slot(slot.End) }

// Moment returns when the host's turn comes in a slot. The place is the host's, from 0 to below 1 (Places). It is
// false if the window leaves nothing of the slot.
func (s Schedule) Moment(slot Slot, place float64) (time.Time, bool) {
	if !s.Once.IsZero() && !slot.Start.Equal(s.Once) {
		return time.Time{}, false
	}
	open := s.open(slot)
	total := time.Duration(0)
	for _, o := range open {
		total += o.End.Sub(o.Start)
	}
	if total <= 0 {
		return time.Time{}, false
	}
	after := time.Duration(place * float64(min(total, s.Splay)))
	for _, o := range open {
		if length := o.End.Sub(o.Start); after >= length {
			after -= length
			continue
		}
		return o.Start.Add(after), true
	}
	return open[len(open)-1].End.Add(-time.Nanosecond), true // what floats make of a place next to 1
}

// open returns the parts of a slot that the window leaves.
func (s Schedule) open(slot Slot) []Slot {
	if s.Window == nil {
		return []Slot{slot}
	}
	return s.Window.within(slot)
}

// Allowed reports whether something may begin at a time.
func (s Schedule) Allowed(t time.Time) bool {
	return s.Window == nil || len(s.Window.within(Slot{t, t.Add(time.Nanosecond)})) > 0
}

// After returns the host's first turn behind a time, and the slot that it is of. The window opens within a fortnight,
// so there is one, but for a duty that is done once: behind its turn is only a time that does not come.
func (s Schedule) After(t time.Time, place float64) (time.Time, Slot) {
	if !s.Once.IsZero() {
		slot := s.onceSlot(t)
		if t.Before(s.Once) {
			slot = s.onceSlot(s.Once)
		}
		if at, ok := s.Moment(slot, place); ok && at.After(t) {
			return at, slot
		}
		return Never(), slot
	}
	slot := s.Slot(t)
	for {
		at, ok := s.Moment(slot, place)
		if ok && at.After(t) {
			return at, slot
		}
		slot = s.Next(slot)
		if s.Window != nil {
			slot = s.Slot(s.Window.opens(slot.Start))
		}
	}
}

// Places gives each host of a duty its place in the slots: evenly, in an order that is the duty's own, and the same
// each time as long as the hosts are the same. With one more host or one less the others move by no more than one
// place.
func Places(duty string, ids []string) map[string]float64 {
	type hashed struct {
		id  string
		sum [sha256.Size]byte
	}
	order := make([]hashed, len(ids))
	for i, id := range ids {
		order[i] = hashed{id, sha256.Sum256([]byte(duty + "\x00" + id))}
	}
	slices.SortFunc(order, func(a, b hashed) int { return slices.Compare(a.sum[:], b.sum[:]) })
	places := make(map[string]float64, len(ids))
	for i, h := range order {
		places[h.id] = float64(i) / float64(len(order))
	}
	return places
}

// on returns the clock's time on the day of t, there. Where clocks are put forward over it, it is when they are;
// where it comes twice, it is the first.
func (c Clock) on(t time.Time) time.Time {
	y, m, d := t.In(c.Zone).Date()
	first, _ := wall(y, m, d, c.Minute, c.Zone)
	return first
}

// wall returns the moment at which the clocks of a zone show a minute of a day, the first and the last where it comes
// twice. Where clocks are put forward over it, it is when they are.
func wall(y int, m time.Month, d, minute int, zone *time.Location) (first, last time.Time) {
	utc := time.Date(y, m, d, 0, minute, 0, 0, time.UTC)
	_, before := utc.Add(-24 * time.Hour).In(zone).Zone()
	_, after := utc.Add(24 * time.Hour).In(zone).Zone()
	first = utc.Add(-time.Duration(max(before, after)) * time.Second).In(zone)
	last = utc.Add(-time.Duration(min(before, after)) * time.Second).In(zone)
	switch is, was := shows(last, utc), shows(first, utc); {
	case is && was:
	case was:
		last = first
	case is:
		first = last
	default:
		first, _ = last.ZoneBounds()
		last = first
	}
	return first, last
}

// shows reports whether the clocks of a moment's zone show what another moment has as UTC.
func shows(at, as time.Time) bool {
	_, offset := at.Zone()
	return at.Add(time.Duration(offset) * time.Second).Equal(as)
}

func nextDay(t time.Time, zone *time.Location) time.Time     { return day(t, zone, 1) }
func previousDay(t time.Time, zone *time.Location) time.Time { return day(t, zone, -1) }

// day is noon of a day near that of t.
func day(t time.Time, zone *time.Location, by int) time.Time {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d+by, 12, 0, 0, 0, zone)
}

// parseMoment reads "2026-12-01 03:00" or "2026-12-01 03:00 Europe/Berlin".
func parseMoment(text string) (time.Time, error) {
	day, clock, _ := strings.Cut(text, " ")
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return d, fmt.Errorf("%q is no day: write YYYY-MM-DD", day)
	}
	c, err := parseClock(strings.TrimSpace(clock))
	if err != nil {
		return d, err
	}
	y, m, n := d.Date()
	first, _ := wall(y, m, n, c.Minute, c.Zone)
	return first, nil
}

// parseClock reads "03:00" or "03:00 Europe/Berlin".
func parseClock(text string) (Clock, error) {
	at, zone, _ := strings.Cut(text, " ")
	loc, err := zoneOf(zone)
	if err != nil {
		return Clock{}, err
	}
	minute, err := minuteOf(at)
	if err == nil && minute == dayMinutes {
		err = fmt.Errorf("%q is the next day's 00:00", at)
	}
	return Clock{Minute: minute, Zone: loc}, err
}

const dayMinutes = 24 * 60

// minuteOf reads HH:MM up to 24:00.
func minuteOf(text string) (int, error) {
	h, m, ok := strings.Cut(text, ":")
	hours, okH := number(h, 24)
	minutes, okM := number(m, 59)
	if !ok || !okH || !okM || hours*60+minutes > dayMinutes {
		return 0, fmt.Errorf("%q is no time of the day; write HH:MM in quotes, since YAML takes 13:00 for a number", text)
	}
	return hours*60 + minutes, nil
}

// number reads one or two digits.
func number(text string, most int) (int, bool) {
	if len(text) < 1 || len(text) > 2 {
		return 0, false
	}
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n <= most
}

// zoneOf returns a time zone by name, "" being that of this machine.
func zoneOf(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return time.Local, nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %q", name)
	}
	return loc, nil
}

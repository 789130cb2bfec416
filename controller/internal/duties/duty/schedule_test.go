package duty

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// plans are schedules as files have them, with what their windows are for someone who only looks at the clock on the
// wall there.
func plans() []plan {
	office := func(t time.Time) bool {
		return t.Weekday() >= time.Monday && t.Weekday() <= time.Friday && t.Hour() >= 1 && t.Hour() < 5
	}
	night := func(t time.Time) bool { return t.Hour() >= 22 || t.Hour() < 2 || t.Hour() == 2 && t.Minute() < 30 }
	always := func(time.Time) bool { return true }
	return []plan{
		{"every: 30m", "Europe/Berlin", always},
		{"every: 30m, splay: 10m", "Europe/Berlin", always},
		{"every: 7h, window: Mon-Fri 01:00-05:00 Europe/Berlin", "Europe/Berlin", office},
		{"every: 45m, window: Mon-Fri 01:00-05:00 America/New_York", "America/New_York", office},
		{"every: 2h, window: '22:00-02:30 Europe/Berlin'", "Europe/Berlin", night},
		{"every: 14d, window: 'Sun 02:00-03:00 Europe/Berlin'", "Europe/Berlin",
			func(t time.Time) bool { return t.Weekday() == time.Sunday && t.Hour() == 2 }},
		{"at: '02:30 Europe/Berlin', splay: 1h", "Europe/Berlin", always},
		{"at: '00:00 Australia/Lord_Howe', window: '22:00-02:30 Australia/Lord_Howe', splay: 20h", "Australia/Lord_Howe",
			night},
		{"every: 1m", "Africa/Casablanca", always},
	}
}

type plan struct {
	text, zone string
	open       func(local time.Time) bool
}

func (p plan) schedule(t *testing.T) Schedule {
	t.Helper()
	all, err := read(t, "- {name: x, play: a.yml, hosts: all, mode: check, "+p.text+"}")
	if err != nil {
		t.Fatal(err)
	}
	return all[0].Schedule
}

// months have a change of clocks in the zones above, there and back, and the turn of a year.
func months() []time.Time {
	return []time.Time{
		time.Date(2026, 10, 10, 3, 7, 11, 5, time.UTC), time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 12, 20, 23, 59, 59, 0, time.UTC),
	}
}

const month = 30 * 24 * time.Hour

func TestEachHostHasOneTurnInEachSlotWithinItsWindow(t *testing.T) {
	for _, p := range plans() {
		s := p.schedule(t)
		zone, _ := time.LoadLocation(p.zone)
		for _, from := range months() {
			for _, place := range []float64{0, 0.25, 0.5, 1 - 1.0/10_000, math.Nextafter(1, 0)} {
				turns := walk(t, p, s, zone, from, place)
				slots := 0
				for slot := s.Slot(from); slot.Start.Before(from.Add(month)); slot = s.Next(slot) {
					if !slot.Start.Before(slot.End) || !s.Slot(slot.Start).Start.Equal(slot.Start) {
						t.Fatalf("%s: the slot %v to %v does not hold its first moment", p.text, slot.Start, slot.End)
					}
					at, ok := s.Moment(slot, place)
					if !ok || !at.After(from) || !at.Before(from.Add(month)) {
						continue
					}
					slots++
					if turns[slot.ID()] != at {
						t.Fatalf("%s, place %v: the turn of the slot of %v is %v, and not found by the clock (%v)", p.text, place,
							slot.Start, at, turns[slot.ID()])
					}
				}
				if slots != len(turns) || slots == 0 {
					t.Fatalf("%s, place %v: %d turns in %d slots", p.text, place, len(turns), slots)
				}
			}
		}
	}
}

// walk goes from turn to turn for a month and gives them by their slots.
func walk(t *testing.T, p plan, s Schedule, zone *time.Location, from time.Time, place float64) map[int64]time.Time {
	t.Helper()
	turns := map[int64]time.Time{}
	for at, slot := s.After(from, place); at.Before(from.Add(month)); at, slot = s.After(at, place) {
		if _, twice := turns[slot.ID()]; twice {
			t.Fatalf("%s, place %v: a second turn in the slot of %v, at %v", p.text, place, slot.Start, at)
		}
		if at.Before(slot.Start) || !at.Before(slot.End) {
			t.Fatalf("%s, place %v: the turn at %v is not in its slot %v to %v", p.text, place, at, slot.Start, slot.End)
		}
		if !p.open(at.In(zone)) || !s.Allowed(at) {
			t.Fatalf("%s, place %v: the turn at %v is outside the window", p.text, place, at.In(zone))
		}
		turns[slot.ID()] = at
	}
	return turns
}

func TestAllowedIsWhatTheClockOnTheWallSays(t *testing.T) {
	for _, p := range plans() {
		s := p.schedule(t)
		zone, _ := time.LoadLocation(p.zone)
		for _, from := range months() {
			for at := from; at.Before(from.Add(month)); at = at.Add(7 * time.Minute) {
				_, before := at.Add(-3 * time.Hour).In(zone).Zone()
				_, after := at.Add(3 * time.Hour).In(zone).Zone()
				if open := p.open(at.In(zone)); s.Allowed(at) && !open || open && before <= after && !s.Allowed(at) {
					t.Fatalf("%s: at %v allowed is %v", p.text, at.In(zone), s.Allowed(at))
				}
			}
		}
	}
}

func TestNoSecondHasMoreThanThreeTimesTheMeanOfStarts(t *testing.T) {
	var ids []string
	for i := range 3000 {
		ids = append(ids, fmt.Sprintf("agent%05d", i))
	}
	places := Places("base", ids)
	for _, p := range plans() {
		s := p.schedule(t)
		for slot, from := s.Slot(months()[0]),
			months()[0]; slot.Start.Before(from.Add(2 * 24 * time.Hour)); slot = s.Next(slot) {
			seconds := map[int64]int{}
			first, last, hosts := int64(math.MaxInt64), int64(0), 0
			for _, place := range places {
				if at, ok := s.Moment(slot, place); ok {
					hosts++
					seconds[at.Unix()]++
					first, last = min(first, at.Unix()), max(last, at.Unix())
				}
			}
			if hosts == 0 {
				continue
			}
			mean := float64(hosts) / float64(max(1, len(seconds)))
			if spread := s.Splay; s.Window == nil && last-first < int64(spread/time.Second)-2 {
				t.Fatalf("%s: all hosts within %d s of a splay of %v", p.text, last-first, spread)
			}
			for second, n := range seconds {
				if float64(n) > max(1, 3*mean) {
					t.Fatalf("%s: %d of %d hosts in the second %d, the mean is %.1f", p.text, n, hosts, second, mean)
				}
			}
		}
	}
}

func TestPlacesStayWhenHostsComeAndGo(t *testing.T) {
	var ids []string
	for i := range 1000 {
		ids = append(ids, fmt.Sprint("a", i))
	}
	before, after := Places("base", ids), Places("base", append(ids[1:], "new1", "new2"))
	for _, id := range ids[1:] {
		if math.Abs(before[id]-after[id]) > 3.0/1000 {
			t.Fatalf("%s went from %v to %v", id, before[id], after[id])
		}
	}
	other := Places("ntp", ids)
	same := 0
	for _, id := range ids {
		if math.Abs(before[id]-other[id]) < 0.01 {
			same++
		}
	}
	if same > 60 {
		t.Fatalf("%d of 1000 hosts have the same place for two duties", same)
	}
}

func TestClocksThatAreChanged(t *testing.T) {
	berlin, _ := time.LoadLocation("Europe/Berlin")
	c := Clock{Minute: 2*60 + 30, Zone: berlin}
	for _, x := range []struct{ day, want string }{
		{"2026-03-28T12:00:00Z", "2026-03-28T01:30:00Z"},
		{"2026-03-29T12:00:00Z", "2026-03-29T01:00:00Z"}, // there is no 02:30 that day: it is 03:00
		{"2026-10-25T12:00:00Z", "2026-10-25T00:30:00Z"}, // there are two: it is the first
		{"2026-10-26T12:00:00Z", "2026-10-26T01:30:00Z"},
	} {
		day, _ := time.Parse(time.RFC3339, x.day)
		if got := c.on(day).UTC().Format(time.RFC3339); got != x.want {
			t.Errorf("02:30 on %s is %s, want %s", x.day, got, x.want)
		}
	}
}

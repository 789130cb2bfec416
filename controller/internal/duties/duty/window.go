package duty

import (
	"fmt"
	"slices"
	"strings"
	"time"

	_ "time/tzdata" // minimal systems and images have no zones of their own
)

// Window is a part of the week: some days, from one time of the day to another, there. A window over midnight belongs
// to the day on which it begins. When clocks are put back it is as narrow as it can be understood.
type Window struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes of the day; to may be 24:00, and before from it is the next day's
	zone     *time.Location
}

// parseWindow reads "Mon-Fri 01:00-05:00 Europe/Berlin". Without days it is every day, without a zone this machine's.
func parseWindow(text string) (*Window, error) {
	fields := strings.Fields(text)
	w := &Window{days: [7]bool{true, true, true, true, true, true, true}}
	if len(fields) > 0 && !strings.Contains(fields[0], ":") {
		days, err := parseDays(fields[0])
		if err != nil {
			return nil, err
		}
		w.days, fields = days, fields[1:]
	}
	if len(fields) == 0 || len(fields) > 2 {
		return nil, fmt.Errorf("there must be a time such as 01:00-05:00")
	}
	from, to, ok := strings.Cut(fields[0], "-")
	if !ok {
		return nil, fmt.Errorf("%q is not from one time of the day to another", fields[0])
	}
	var err error
	if w.from, err = minuteOf(from); err != nil {
		return nil, err
	}
	if w.to, err = minuteOf(to); err != nil {
		return nil, err
	}
	if w.from == w.to || w.from == dayMinutes {
		return nil, fmt.Errorf("%q holds no time", fields[0])
	}
	w.zone, err = zoneOf(strings.Join(fields[1:], " "))
	return w, err
}

// parseDays reads Mon-Fri or Mon,Wed,Sat-Sun.
func parseDays(text string) (days [7]bool, err error) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, ok := strings.Cut(part, "-")
		if !ok {
			last = first
		}
		from, to := weekday(first), weekday(last)
		if from < 0 || to < 0 {
			return days, fmt.Errorf("%q are no days: Mon, Tue, Wed, Thu, Fri, Sat, Sun", part)
		}
		for d := from; ; d = (d + 1) % 7 {
			days[d] = true
			if d == to {
				break
			}
		}
	}
	return days, nil
}

func weekday(name string) int {
	return slices.IndexFunc([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"},
		func(d string) bool { return strings.EqualFold(d, name) })
}

// on returns the window of a day: that of noon's.
func (w *Window) on(noon time.Time) (Slot, bool) {
	y, m, d := noon.Date()
	if !w.days[noon.Weekday()] {
		return Slot{}, false
	}
	last := d
	if w.to <= w.from {
		last++
	}
	_, from := wall(y, m, d, w.from, w.zone)
	to, _ := wall(y, m, last, w.to, w.zone)
	return Slot{from, to}, from.Before(to) // the clocks may have been put over all of it
}

// within returns the parts of a stretch of time that lie in the window.
func (w *Window) within(s Slot) []Slot {
	var parts []Slot
	for noon := previousDay(s.Start, w.zone); noon.Before(s.End.Add(24 * time.Hour)); noon = nextDay(noon, w.zone) {
		o, ok := w.on(noon)
		if !ok || !o.Start.Before(s.End) || !s.Start.Before(o.End) {
			continue
		}
		if o.Start.Before(s.Start) {
			o.Start = s.Start
		}
		if s.End.Before(o.End) {
			o.End = s.End
		}
		parts = append(parts, o)
	}
	return parts
}

// opens is t if it lies in the window, else when the window opens next.
func (w *Window) opens(t time.Time) time.Time {
	const longest = 15 * 24 * time.Hour // a day of the week whose window the clocks were put over, and the next
	parts := w.within(Slot{t, t.Add(longest)})
	if len(parts) == 0 {
		return t.Add(longest)
	}
	return parts[0].Start
}

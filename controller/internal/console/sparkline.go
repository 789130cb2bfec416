package console

import (
	"fmt"
	"time"

	"hark/controller/internal/runs/record"
)

// sparkline is a row of bars: how many runs began in each part of the time that the list covers, and how many of them
// ended badly.
type sparkline struct {
	Width   int
	Bars    []bar
	Label   string
	Caption string
}

type bar struct {
	X, Y, H    int
	BadY, BadH int
	Title      string
}

// sparkBars is the number of bars.
const sparkBars = 24

// spark draws the runs of the last day by the hour, or of the last weeks by the day if the last day had none.
func (s *Server) spark(entries []record.Entry) sparkline {
	now := s.Now()
	if len(entries) == 0 {
		return sparkline{}
	}
	step, word, form := time.Hour, "in 24 hours", "2 Jan 15:00"
	if now.Sub(entries[0].Head.At) > sparkBars*time.Hour {
		step, word, form = 24*time.Hour, "in 24 days", "2 Jan"
	}
	end := now.Truncate(step).Add(step)
	var all, bad [sparkBars]int
	total, failed, most := 0, 0, 0
	for i := range entries {
		e := &entries[i]
		at := sparkBars - 1 - int(end.Sub(e.Head.At)/step)
		if at < 0 || at >= sparkBars {
			continue
		}
		all[at]++
		total++
		most = max(most, all[at])
		if e.Failed() {
			bad[at]++
			failed++
		}
	}
	const high, wide = 22, 8
	x := sparkline{Width: sparkBars * wide, Caption: fmt.Sprintf("%s %s", plural(total, "run"), word)}
	x.Label = fmt.Sprintf("%s %s, %d of them failed", plural(total, "run"), word, failed)
	for i := range all {
		b := bar{X: i * wide, Title: fmt.Sprintf("%s: %s, %d failed", end.Add(time.Duration(i-sparkBars)*step).Format(form),
			plural(all[i], "run"), bad[i])}
		if all[i] > 0 {
			b.H = max(2, high*all[i]/most)
		}
		if bad[i] > 0 {
			b.BadH = max(2, high*bad[i]/most)
		}
		b.Y, b.BadY = high+2-b.H, high+2-b.BadH
		x.Bars = append(x.Bars, b)
	}
	return x
}

// plural returns a number of things in words.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return withThousands(n) + " " + what + "s"
}

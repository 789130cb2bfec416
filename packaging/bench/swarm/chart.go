package main

import (
	"fmt"
	"strconv"
	"strings"
)

// bar is a number of the page: what the work took with so many agents.
type bar struct {
	agents string
	value  float64
}

// bars are those of a work in a column of the page's table, counted from 1.
func bars(page, work string, column int) []bar {
	var all []bar
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) <= column || strings.TrimSpace(cells[2]) != work {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(cells[column]), 64); err == nil {
			all = append(all, bar{strings.TrimSpace(cells[1]), value})
		}
	}
	return all
}

// chartText draws the figures of a page: seconds of three works and the broker's memory, a bar for each number of
// agents. Bars of one group have one scale.
func chartText(page string) string {
	const label, width, most, height, gap = 300, 860, 440, 14, 16
	groups := []struct {
		title, unit string
		bars        []bar
	}{
		{"a broadcast (ping)", "s", bars(page, "ping", 3)},
		{"20 tasks in lockstep", "s", bars(page, "20 tasks in lockstep", 3)},
		{"until all are back, broker restarted", "s", bars(page, "broker restarted", 3)},
		{"memory of the broker, in lockstep", "MB", bars(page, "20 tasks in lockstep", 8)},
	}
	var t strings.Builder
	y := gap
	for _, g := range groups {
		largest := 0.0
		for _, b := range g.bars {
			largest = max(largest, b.value)
		}
		for i, b := range g.bars {
			title := ""
			if i == 0 {
				title = g.title + ", "
			}
			long := max(1, most*b.value/largest)
			fmt.Fprintf(&t, `<text x="%d" y="%d" text-anchor="end">%s%s agents</text>`+"\n", label-8, y+height-3, title,
				b.agents)
			fmt.Fprintf(&t,
				`<rect x="%d" y="%d" width="%.0f" height="%d" fill="#1a7f37"/><text x="%.0f" y="%d">%g %s</text>`+"\n",
				label, y, long, height-2, label+long+5, y+height-3, b.value, g.unit)
			y += height
		}
		y += gap
	}
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n"+
			`<rect width="100%%" height="100%%" fill="#fff"/>`+"\n%s</svg>\n", width, y, t.String())
}

package main

import (
	"fmt"
	"os"
	"strings"
)

// record is the seconds of a page, by work, number of hosts and tool.
type record map[string]string

func key(work string, hosts any, tool string) string { return fmt.Sprint(work, "|", hosts, "|", tool) }

// readRecord reads the first table of a page; a page that is not there has none.
func readRecord(path string) record {
	r := record{}
	text, _ := os.ReadFile(path)
	var tools []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) < 3 && tools != nil && !strings.HasPrefix(line, "|"):
			return r
		case len(cells) < 3:
		case tools == nil:
			tools = cells[2:]
		default:
			for i, cell := range cells[2:min(len(cells), len(tools)+2)] {
				seconds, _, _ := strings.Cut(cell, " (")
				r[key(cells[0], cells[1], tools[i])] = seconds
			}
		}
	}
	return r
}

// beside is what the record says of a work, as the end of a line.
func (r record) beside(work string, hosts int, tool string) string {
	if was := r[key(work, hosts, tool)]; was != "" {
		return "   on record " + was + " s"
	}
	return ""
}

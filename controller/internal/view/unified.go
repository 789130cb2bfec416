package view

import (
	"fmt"

	"github.com/pmezard/go-difflib/difflib"
)

// unified is a unified diff in the pieces that are coloured one by one: headers, and lines with their ends.
func unified(before, after []string, beforeHeader, afterHeader string, context int) []string {
	var out []string
	for _, group := range difflib.NewMatcher(before, after).GetGroupedOpCodes(context) {
		if out == nil {
			out = append(out, "--- "+beforeHeader+"\n", "+++ "+afterHeader+"\n")
		}
		first, last := group[0], group[len(group)-1]
		out = append(out, fmt.Sprintf("@@ -%s +%s @@\n", lineRange(first.I1, last.I2), lineRange(first.J1, last.J2)))
		for _, op := range group {
			if op.Tag == 'e' {
				out = prefixed(out, " ", before[op.I1:op.I2])
				continue
			}
			out = prefixed(out, "-", before[op.I1:op.I2])
			out = prefixed(out, "+", after[op.J1:op.J2])
		}
	}
	return out
}

func prefixed(out []string, mark string, lines []string) []string {
	for _, line := range lines {
		out = append(out, mark+line)
	}
	return out
}

// lineRange is a range of lines as diff prints it: counted from 1, without the length if it is 1.
func lineRange(start, stop int) string {
	switch stop - start {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, stop-start)
}

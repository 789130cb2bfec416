package view

import (
	"fmt"

	"github.com/pmezard/go-difflib/difflib"
)

// matching is how many pairs of lines may be compared for the diffs of one result: the search for the shortest diff
// takes time by their product, and hosts send what they like.
const matching = 25_000_000

// unified returns a unified diff in the pieces that are coloured one by one: headers, and lines with their ends.
// Where more lines differ than budget allows, which it is charged for, all from the first difference to the last are
// replaced.
func unified(before, after []string, beforeHeader, afterHeader string, context int, budget *int) []string {
	var out []string
	for _, group := range hunks(before, after, context, budget) {
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

func hunks(before, after []string, context int, budget *int) [][]difflib.OpCode {
	head := 0
	for head < min(len(before), len(after)) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < min(len(before), len(after))-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	i, j := len(before)-tail, len(after)-tail
	pairs := (i - head) * (j - head)
	if pairs <= *budget {
		*budget -= pairs
		return difflib.NewMatcher(before, after).GetGroupedOpCodes(context)
	}
	return [][]difflib.OpCode{{
		{Tag: 'e', I1: max(head-context, 0), I2: head, J1: max(head-context, 0), J2: head},
		{Tag: 'r', I1: head, I2: i, J1: head, J2: j},
		{Tag: 'e', I1: i, I2: min(i+context, len(before)), J1: j, J2: min(j+context, len(after))},
	}}
}

func prefixed(out []string, mark string, lines []string) []string {
	for _, line := range lines {
		out = append(out, mark+line)
	}
	return out
}

// lineRange returns a range of lines as diff prints it: counted from 1, without the length if it is 1.
func lineRange(start, stop int) string {
	switch stop - start {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, stop-start)
}

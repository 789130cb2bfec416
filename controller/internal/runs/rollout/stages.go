// Package rollout cuts hosts into stages, so that what is new comes to a few of them first: for the new commits of
// duties and for runs with stages. It knows numbers and no hosts.
package rollout

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Share is a number of hosts, or a part of them.
type Share struct {
	Count   int     // 0 if it is a part
	Percent float64 // of all hosts
}

// ParseShare reads a number or a percentage, above 0 and up to 100%.
func ParseShare(text string) (Share, error) {
	bad := fmt.Errorf("%q is neither a number of hosts nor a part of them such as 5%%", text)
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		p, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err != nil || !(p > 0 && p <= 100) { // not a number is neither
			return Share{}, bad
		}
		return Share{Percent: p}, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return Share{}, bad
	}
	return Share{Count: n}, nil
}

// Of is how many of n hosts the share is, rounded down, but one at least if there are any.
func (s Share) Of(n int) int {
	if s.Count > 0 {
		return min(s.Count, n)
	}
	return min(n, max(1, int(math.Floor(float64(n)*s.Percent/100+1e-9))))
}

// Reached reports whether so many of n hosts are the share or more: of a part exactly, of a number that there are not
// as many as there are.
func (s Share) Reached(many, n int) bool {
	if s.Count > 0 {
		return many > 0 && many >= min(s.Count, n)
	}
	return many > 0 && float64(many)*100+1e-9 >= s.Percent*float64(n)
}

// IsZero tells a share that was not given.
func (s Share) IsZero() bool { return s == Share{} }

// String is the share as it is written.
func (s Share) String() string {
	if s.Count > 0 {
		return strconv.Itoa(s.Count)
	}
	return strconv.FormatFloat(s.Percent, 'f', -1, 64) + "%"
}

// Stages are how many hosts have their turn when each stage is over, from the first. What is left after the last one
// is a stage of its own; none are one stage for all.
type Stages []Share

// Parse reads stages such as 1,10%,100%, which grow.
func Parse(text string) (Stages, error) {
	var out Stages
	for part := range strings.SplitSeq(text, ",") {
		share, err := ParseShare(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		out = append(out, share)
	}
	for i, s := range out[1:] {
		if before := out[i]; before.Percent > 0 && s.Percent > 0 && s.Percent <= before.Percent || before.Count > 0 && s.Count > 0 && s.Count <= before.Count {
			return nil, fmt.Errorf("stages grow: %s comes after %s", s, before)
		}
	}
	return out, nil
}

// Count is how many stages there are, with the one for what is left.
func (s Stages) Count() int {
	if n := len(s); n > 0 && s[n-1].Percent == 100 {
		return n
	}
	return len(s) + 1
}

// UpTo is how many of n hosts have had their turn when a stage is over; stages are counted from 0.
func (s Stages) UpTo(stage, n int) int {
	if stage >= len(s) {
		return n
	}
	most := 0
	for _, share := range s[:stage+1] { // numbers and parts may stand side by side: no stage takes hosts back
		most = max(most, share.Of(n))
	}
	return most
}

// Name is a stage as it was written.
func (s Stages) Name(stage int) string {
	if stage >= len(s) {
		return "100%"
	}
	return s[stage].String()
}

// Package rollout divides hosts into stages, so that a change reaches a few of them first: for the new commits of
// duties and for staged runs. It works with numbers and knows no hosts.
package rollout

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Share is a number or a percentage of hosts.
type Share struct {
	Count   int     // 0 if it is a percentage
	Percent float64 // of all hosts
}

// ParseShare reads a number or a percentage, above 0 and up to 100%.
func ParseShare(text string) (Share, error) {
	bad := fmt.Errorf("%q is neither a number of hosts nor a part of them such as 5%%", text)
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		p, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err != nil || !(p > 0 && p <= 100) { // NaN is neither
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

// Of returns how many of n hosts the share is, rounded down, but at least one if there are any.
func (s Share) Of(n int) int {
	if s.Count > 0 {
		return min(s.Count, n)
	}
	return min(n, max(1, int(math.Floor(float64(n)*s.Percent/100+1e-9))))
}

// Reached reports whether many of n hosts are the share or more. A percentage is compared exactly; a number larger than
// n is reached with n.
func (s Share) Reached(many, n int) bool {
	if s.Count > 0 {
		return many > 0 && many >= min(s.Count, n)
	}
	return many > 0 && float64(many)*100+1e-9 >= s.Percent*float64(n)
}

// IsZero reports whether a share was not given.
func (s Share) IsZero() bool { return s == Share{} }

// String returns the share as written.
func (s Share) String() string {
	if s.Count > 0 {
		return strconv.Itoa(s.Count)
	}
	return strconv.FormatFloat(s.Percent, 'f', -1, 64) + "%"
}

// Stages are how many hosts have had their turn after each stage, from the first. The hosts left after the last one are
// a stage of their own; no stages are one stage for all.
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
		if before := out[i]; before.Percent > 0 && s.Percent > 0 && s.Percent <= before.Percent ||
			before.Count > 0 && s.Count > 0 && s.Count <= before.Count {
			return nil, fmt.Errorf("stages grow: %s comes after %s", s, before)
		}
	}
	return out, nil
}

// Count returns how many stages there are, including the one for the rest.
func (s Stages) Count() int {
	if n := len(s); n > 0 && s[n-1].Percent == 100 {
		return n
	}
	return len(s) + 1
}

// UpTo returns how many of n hosts have had their turn after a stage; stages are counted from 0.
func (s Stages) UpTo(stage, n int) int {
	if stage >= len(s) {
		return n
	}
	most := 0
	for _, share := range s[:stage+1] { // numbers and percentages may be mixed: no stage takes hosts back
		most = max(most, share.Of(n))
	}
	return most
}

// Name returns a stage as written.
func (s Stages) Name(stage int) string {
	if stage >= len(s) {
		return "100%"
	}
	return s[stage].String()
}

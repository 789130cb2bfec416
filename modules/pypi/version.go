package pypi

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// version is a version of a Python package (PEP 440), in parts that compare one after the other.
type version struct {
	epoch   int
	release []int
	// pre, post and dev are ranks: a final version stands after its pre-releases and before its post-releases.
	pre   [2]int
	post  int
	dev   int
	local string
}

var versionPattern = regexp.MustCompile(`(?i)^\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)` +
	`(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?(\d*))?` +
	`(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:\+([a-z0-9._-]+))?\s*$`)

const (
	before = -1 << 30
	after  = 1 << 30
)

// parseVersion reads a version; false if it is none.
func parseVersion(text string) (version, bool) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return version{}, false
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	v := version{epoch: number(m[1]), local: strings.ToLower(m[10]), pre: [2]int{after, 0}, post: before, dev: after}
	for _, part := range strings.Split(m[2], ".") {
		v.release = append(v.release, number(part))
	}
	for len(v.release) > 1 && v.release[len(v.release)-1] == 0 {
		v.release = v.release[:len(v.release)-1]
	}
	switch strings.ToLower(m[3]) {
	case "a", "alpha":
		v.pre = [2]int{1, number(m[4])}
	case "b", "beta":
		v.pre = [2]int{2, number(m[4])}
	case "c", "rc", "pre", "preview":
		v.pre = [2]int{3, number(m[4])}
	}
	if m[5] != "" || m[6] != "" {
		v.post = number(m[5] + m[7])
	}
	if m[8] != "" {
		v.dev = number(m[9])
		if m[3] == "" && v.post == before {
			v.pre = [2]int{before, 0}
		}
	}
	return v, true
}

// compare orders two versions; a local part counts only if both sides or the left one have it.
func (v version) compare(w version) int {
	return cmp.Or(
		cmp.Compare(v.epoch, w.epoch), slices.Compare(v.release, w.release),
		cmp.Compare(v.pre[0], w.pre[0]), cmp.Compare(v.pre[1], w.pre[1]),
		cmp.Compare(v.post, w.post), cmp.Compare(v.dev, w.dev),
	)
}

// allows tells whether a version meets the specifier.
func (s specifier) allows(text string) bool {
	if s.op == "===" {
		return strings.EqualFold(text, s.version)
	}
	have, ok := parseVersion(text)
	if !ok {
		return false
	}
	wanted, prefix := strings.CutSuffix(s.version, ".*")
	want, ok := parseVersion(wanted)
	if !ok {
		return false
	}
	switch s.op {
	case "==":
		if prefix {
			return have.begins(wanted)
		}
		return have.compare(want) == 0 && (want.local == "" || have.local == want.local)
	case "!=":
		if prefix {
			return !have.begins(wanted)
		}
		return have.compare(want) != 0 || want.local != "" && have.local != want.local
	case ">=":
		return have.compare(want) >= 0
	case "<=":
		return have.compare(want) <= 0
	case ">":
		return have.compare(want) > 0 && (have.post == before || want.post != before || slices.Compare(have.release, want.release) != 0)
	case "<":
		return have.compare(want) < 0 && (have.pre[0] == after || want.pre[0] != after || slices.Compare(have.release, want.release) != 0)
	}
	cut := strings.LastIndexByte(wanted, '.') // ~=
	return cut > 0 && have.compare(want) >= 0 && have.begins(wanted[:cut])
}

// begins tells whether the release begins with the numbers of a prefix.
func (v version) begins(prefix string) bool {
	for i, part := range strings.Split(prefix, ".") {
		n, err := strconv.Atoi(part)
		have := 0
		if i < len(v.release) {
			have = v.release[i]
		}
		if err != nil || n != have {
			return false
		}
	}
	return true
}

package version

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Compare orders two semantic versions by their precedence, as semver.org defines it: -1 if a is older than b, 1 if
// it is newer. What comes after "+" does not count. A text that is no semantic version is older than all that are.
func Compare(a, b string) int {
	x, y := parts(a), parts(b)
	if c := slices.Compare(x.numbers, y.numbers); c != 0 {
		return c
	}
	if x.before == "" || y.before == "" {
		return cmp.Compare(len(y.before), len(x.before)) // a release is newer than what led to it
	}
	return slices.CompareFunc(strings.Split(x.before, "."), strings.Split(y.before, "."), identifier)
}

// version is a semantic version in parts.
type version struct {
	numbers []int  // three of them, none of a text that is no version
	before  string // what stands after "-"
}

func parts(text string) version {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "+")
	text, before, _ := strings.Cut(text, "-")
	var numbers []int
	for word := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return version{}
		}
		numbers = append(numbers, n)
	}
	if len(numbers) != 3 {
		return version{}
	}
	return version{numbers, before}
}

// identifier orders two identifiers of a pre-release: numbers by their value and before words, words by their letters.
func identifier(a, b string) int {
	x, notX := strconv.Atoi(a)
	y, notY := strconv.Atoi(b)
	switch {
	case notX == nil && notY == nil:
		return cmp.Compare(x, y)
	case notX == nil:
		return -1
	case notY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// Package pep440 orders versions of Python packages, as PEP 440 has it.
package pep440

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Version is one of a Python package.
type Version struct {
	// Release are its numbers, without zeros in front of any and without zeros at the end.
	Release []string
	// Pre is set for what comes before a release: alpha, beta, candidate, or a development release of none of these.
	// Post is set for what comes after one.
	Pre, Post bool
	// Local is what follows a +, in small letters.
	Local string

	public, local string // keys, which sort as the versions do
}

var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)` +
		`([-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?` +
		`(-(\d+)|[-_.]?(?:post|rev|r)[-_.]?(\d+)?)?` +
		`([-_.]?dev[-_.]?(\d+)?)?` +
		`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$`)
})

// Parse reads a version; false if the text is none.
func Parse(text string) (Version, bool) {
	m := form().FindStringSubmatch(text)
	if m == nil {
		return Version{}, false
	}
	pre, post, dev := m[3] != "", m[6] != "", m[9] != ""
	v := Version{Release: release(m[2]), Pre: pre || dev && !post, Post: post, Local: strings.ToLower(m[11])}
	var key strings.Builder
	key.WriteString(number(m[1]))
	for _, n := range v.Release {
		key.WriteString("\x02" + number(n))
	}
	key.WriteString("\x01") // a shorter one that is the beginning of another comes first
	switch {
	case pre:
		key.WriteString("1" + stage(m[4]) + number(m[5]))
	case v.Pre:
		key.WriteString("0")
	default:
		key.WriteString("2")
	}
	key.WriteString(part(post, "0", "1", m[7]+m[8]))
	key.WriteString(part(dev, "1", "0", m[10]))
	v.public, v.local = key.String(), localKey(v.Local)
	return v, true
}

// Key returns a text that sorts among the keys of other versions as the version does among them.
func (v Version) Key() string { return v.public + v.local }

// ComparePublic orders two versions without what follows a +.
func (v Version) ComparePublic(w Version) int { return strings.Compare(v.public, w.public) }

// Begins reports whether the release begins with the numbers of a prefix, 1.4 for 1.4.*. A number that the release
// does not have is 0.
func (v Version) Begins(prefix string) bool {
	for i, n := range strings.Split(prefix, ".") {
		have := "0"
		if i < len(v.Release) {
			have = v.Release[i]
		}
		if n == "" || trim(n) != have {
			return false
		}
	}
	return true
}

func release(text string) []string {
	var out []string
	for _, n := range strings.Split(text, ".") {
		out = append(out, trim(n))
	}
	for len(out) > 0 && out[len(out)-1] == "0" {
		out = out[:len(out)-1]
	}
	return out
}

func trim(digits string) string {
	if n := strings.TrimLeft(digits, "0"); n != "" {
		return n
	}
	return "0"
}

// number returns the key of digits of any length; none are 0.
func number(digits string) string {
	n := trim(digits)
	return fmt.Sprintf("%08x%s", len(n), n)
}

// stage returns the letter of a stage; the letters are in the order of the stages.
func stage(word string) string {
	switch strings.ToLower(word) {
	case "alpha", "a":
		return "a"
	case "beta", "b":
		return "b"
	}
	return "c"
}

func part(there bool, absent, present, digits string) string {
	if !there {
		return absent
	}
	return present + number(digits)
}

// localKey puts words before numbers, and fewer parts before more.
func localKey(text string) string {
	var b strings.Builder
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-_.", r) }) {
		if strings.Trim(p, "0123456789") == "" {
			b.WriteString("3" + number(p))
		} else {
			b.WriteString("2" + p + "\x00")
		}
	}
	b.WriteString("1")
	return b.String()
}

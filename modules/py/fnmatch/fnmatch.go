// Package fnmatch matches names with shell patterns as Python's fnmatch does.
package fnmatch

import "strings"

// Match reports whether a name fits a shell pattern: * and ? match any character, a slash and a leading dot too.
func Match(pattern, name string) bool { return Compile(pattern).Match(name) }

// Pattern is a shell pattern that many names are held against.
type Pattern struct{ parts []patternPart }

// Compile reads a pattern; there are no wrong ones.
func Compile(pattern string) Pattern { return Pattern{patternParts(pattern)} }

// Match reports whether a name fits.
func (p Pattern) Match(name string) bool {
	want, have := p.parts, []rune(name)
	i, j := 0, 0
	star, resume := -1, 0 // the last * and where it may take one more character
	for j < len(have) {
		switch {
		case i < len(want) && want[i].star:
			star, resume = i, j
			i++
		case i < len(want) && want[i].fits(have[j]):
			i++
			j++
		case star >= 0:
			resume++
			i, j = star+1, resume
		default:
			return false
		}
	}
	for i < len(want) && want[i].star {
		i++
	}
	return i == len(want)
}

// patternPart is one element of a pattern: a star, any character, one of a set or a character itself.
type patternPart struct {
	star, any, negate bool
	set               []rune // pairs: from, to
}

func (p patternPart) fits(c rune) bool {
	if p.star {
		return false
	}
	for k := 0; k+1 < len(p.set); k += 2 {
		if p.set[k] <= c && c <= p.set[k+1] {
			return !p.negate
		}
	}
	return p.any || p.negate
}

func patternParts(pattern string) []patternPart {
	var parts []patternPart
	text := []rune(pattern)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*':
			parts = append(parts, patternPart{star: true})
		case '?':
			parts = append(parts, patternPart{any: true})
		case '[':
			part, size := setPart(text[i:])
			parts = append(parts, part)
			i += size - 1
		default:
			parts = append(parts, patternPart{set: []rune{text[i], text[i]}})
		}
	}
	return parts
}

// setPart reads [...]; without an end it is a plain bracket.
func setPart(text []rune) (patternPart, int) {
	start := 1
	var p patternPart
	if len(text) > 1 && text[1] == '!' {
		p.negate = true
		start++
	}
	// A bracket that comes first belongs to the set.
	from := min(start+1, len(text))
	end := strings.IndexRune(string(text[from:]), ']')
	if end < 0 {
		return patternPart{set: []rune{'[', '['}}, 1
	}
	end = from + len([]rune(string(text[from:])[:end]))
	set := text[start:end]
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			p.set = append(p.set, set[i], set[i+2])
			i += 2
			continue
		}
		p.set = append(p.set, set[i], set[i])
	}
	return p, end + 1
}

package foreign

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// hiddenMark matches what makes a parameter of a module in Python one whose values are secret.
	hiddenMark = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bno_log['"]?\s*[=:]\s*True\b`)
	})
	// declaredName matches the end of what stands before the bracket of a parameter's declaration.
	declaredName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\w+)['"]?\s*[=:]\s*(?:dict\s*)?$`)
	})
	aliasList = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\baliases['"]?\s*[=:]\s*[\[(]([^\])]*)[\])]`)
	})
	quotedWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`['"](\w+)['"]`) })
)

// SecretParameters returns the names and aliases of the parameters that a module in Python declares with no_log, as far
// as its own text shows: those that it takes from module_utils are not among them.
func SecretParameters(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return secretParameters(string(text))
}

func secretParameters(text string) []string {
	var names []string
	for _, at := range hiddenMark().FindAllStringIndex(text, -1) {
		begin, end := enclosing(text, at[0])
		if begin < 0 {
			continue
		}
		name := declaredName().FindStringSubmatch(text[:begin])
		if name == nil {
			continue
		}
		names = append(names, name[1])
		if aliases := aliasList().FindStringSubmatch(text[begin:end]); aliases != nil {
			for _, word := range quotedWord().FindAllStringSubmatch(aliases[1], -1) {
				names = append(names, word[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// enclosing returns the brackets around a place, -1 if there are none.
func enclosing(text string, at int) (begin, end int) {
	const opens, closes = "([{", ")]}"
	begin = -1
	for i, depth := at-1, 0; i >= 0 && begin < 0; i-- {
		switch {
		case strings.IndexByte(closes, text[i]) >= 0:
			depth++
		case strings.IndexByte(opens, text[i]) >= 0 && depth > 0:
			depth--
		case strings.IndexByte(opens, text[i]) >= 0:
			begin = i
		}
	}
	end = len(text)
	for i, depth := at, 0; i < len(text); i++ {
		switch {
		case strings.IndexByte(opens, text[i]) >= 0:
			depth++
		case strings.IndexByte(closes, text[i]) >= 0 && depth > 0:
			depth--
		case strings.IndexByte(closes, text[i]) >= 0:
			return begin, i
		}
	}
	return begin, end
}

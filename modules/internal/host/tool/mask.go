package tool

import (
	"regexp"
	"strings"
	"sync"

	"hark/modules"
)

const stars = "********"

var passwordOption = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-{0,2}pass-?(word|wd)?`) })

// shown returns a command line for results. What looks like a password is hidden, as in Ansible: the word after such
// an option, what follows its equals sign, and those in addresses.
func shown(argv []string) string {
	out := make([]string, len(argv))
	hide := false
	for i, word := range argv {
		switch {
		case hide:
			word, hide = stars, false
		case passwordOption().MatchString(word):
			name, _, given := strings.Cut(word, "=")
			if hide = !given; given {
				word = name + "=" + stars
			}
		default:
			word = masked(word)
		}
		out[i] = word
	}
	return modules.QuoteWords(out)
}

// masked hides the passwords of addresses like scheme://user:password@host in a text. It takes much for one, as
// Ansible does: what stands between the last at sign and the first colon behind a scheme, or behind three characters.
func masked(text string) string {
	for end := strings.LastIndexByte(text, '@'); end >= 0; {
		begin := schemeBefore(text, end)
		sep := colonIn(text, begin, end)
		for sep < 0 && begin > 0 {
			begin = schemeBefore(text, begin)
			sep = colonIn(text, begin, end)
		}
		if sep < 0 {
			break
		}
		text = text[:sep+1] + stars + text[end:]
		end = strings.LastIndexByte(text[:begin], '@')
	}
	return text
}

// schemeBefore returns where the last :// before end begins, 0 if there is none.
func schemeBefore(text string, end int) int { return max(0, strings.LastIndex(text[:end], "://")) }

// colonIn returns the first colon between two places, but for the three characters of a scheme's end; -1 if there is
// none.
func colonIn(text string, begin, end int) int {
	from := min(begin+len("://"), end)
	at := strings.IndexByte(text[from:end], ':')
	if at < 0 {
		return -1
	}
	return from + at
}

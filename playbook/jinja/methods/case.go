package methods

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"hark/modules/py/value"
)

func caseMethod(name string) textFunc {
	switch name {
	case "upper":
		return plain(name, Upper)
	case "lower":
		return plain(name, Lower)
	case "capitalize":
		return plain(name, Capitalize)
	case "title":
		return plain(name, title)
	case "swapcase":
		return plain(name, swapCase)
	case "casefold":
		return plain(name, casefold)
	}
	return nil
}

// Upper is Python's str.upper: letters may become several, as ß does.
func Upper(s string) string {
	if ascii(s) {
		return strings.ToUpper(s)
	}
	return cases.Upper(language.Und).String(s)
}

// Lower is Python's str.lower.
func Lower(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

func casefold(s string) string { return cases.Fold().String(s) }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Capitalize is Python's str.capitalize.
func Capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	first := string(unicode.ToTitle(r))
	if r == 'ß' {
		first = "Ss"
	}
	return first + Lower(s[n:])
}

func title(s string) string {
	var b strings.Builder
	inWord := false
	for _, r := range s {
		switch {
		case !isCased(r):
			inWord = false
			b.WriteRune(r)
		case inWord:
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToTitle(r))
			inWord = true
		}
	}
	return b.String()
}

func isCased(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) }

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func predicate(name string) textFunc {
	var test func(s string) bool
	switch name {
	case "isalpha":
		test = all(unicode.IsLetter)
	case "isalnum":
		test = all(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
	case "isdigit":
		test = all(func(r rune) bool {
			return unicode.IsDigit(r) || strings.ContainsRune("²³¹⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", r)
		})
	case "isdecimal":
		test = all(unicode.IsDigit)
	case "isnumeric":
		test = all(unicode.IsNumber)
	case "isspace":
		test = all(IsSpace)
	case "isascii":
		test = func(s string) bool { return s == "" || all(func(r rune) bool { return r < utf8.RuneSelf })(s) }
	case "isprintable":
		test = func(s string) bool { return s == "" || all(unicode.IsPrint)(s) }
	case "isupper":
		test = func(s string) bool { return hasCase(s) && !anyRune(s, unicode.IsLower) && !anyRune(s, unicode.IsTitle) }
	case "islower":
		test = func(s string) bool { return hasCase(s) && !anyRune(s, unicode.IsUpper) && !anyRune(s, unicode.IsTitle) }
	case "istitle":
		test = func(s string) bool { return hasCase(s) && title(s) == s }
	case "isidentifier":
		test = isIdentifier
	default:
		return nil
	}
	return func(_ value.Value, s string, args *value.Args) (value.Value, error) {
		_, err := args.BindMethod("str."+name, 0)
		return value.Bool(test(s)), err
	}
}

// IsSpace is Python's idea of whitespace.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func all(ok func(r rune) bool) func(s string) bool {
	return func(s string) bool {
		for _, r := range s {
			if !ok(r) {
				return false
			}
		}
		return s != ""
	}
}

func anyRune(s string, ok func(r rune) bool) bool { return strings.IndexFunc(s, ok) >= 0 }

func hasCase(s string) bool { return anyRune(s, isCased) }

func isIdentifier(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc)) {
			return false
		}
	}
	return s != ""
}

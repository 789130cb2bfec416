package versions

import (
	"regexp"
	"strings"

	"hark/playbook/jinja/value"
)

var pythonForm = regexp.MustCompile(`(?i)^\s*v?(?:(\d+)!)?(\d+(?:\.\d+)*)` +
	`([-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d+)?)?` +
	`(-(\d+)|[-_.]?(?:post|rev|r)[-_.]?(\d+)?)?` +
	`([-_.]?dev[-_.]?(\d+)?)?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$`)

// PEP440 takes versions of Python packages.
func PEP440(text string) (value.Value, error) {
	m := pythonForm.FindStringSubmatch(text)
	if m == nil {
		return nil, value.Errorf("InvalidVersion", "Invalid version: '%s'", text)
	}
	pre, post, dev := m[3], m[6], m[9]
	return tuple(number(m[1]), release(m[2]), preKey(pre, m[4], m[5], post == "" && dev != ""),
		postKey(post, m[7]+m[8]), devKey(dev, m[10]), localKey(m[11])), nil
}

// release are the numbers without zeros at the end.
func release(text string) value.Value {
	parts := strings.Split(text, ".")
	for len(parts) > 0 && strings.Trim(parts[len(parts)-1], "0") == "" {
		parts = parts[:len(parts)-1]
	}
	out := tuple()
	for _, p := range parts {
		out.Items = append(out.Items, number(p))
	}
	return out
}

// preKey orders a development release of no pre-release first, then pre-releases, then the rest.
func preKey(part, word, n string, devOnly bool) value.Value {
	switch {
	case part != "":
		return tuple(value.Int(0), value.Str(preWord(strings.ToLower(word))), number(n))
	case devOnly:
		return tuple(value.Int(-1))
	}
	return present()
}

func preWord(word string) string {
	switch word {
	case "alpha":
		return "a"
	case "beta":
		return "b"
	case "c", "pre", "preview":
		return "rc"
	}
	return word
}

func postKey(part, n string) value.Value {
	if part == "" {
		return tuple(value.Int(-1))
	}
	return tuple(value.Int(0), number(n))
}

func devKey(part, n string) value.Value {
	if part == "" {
		return present()
	}
	return tuple(value.Int(0), number(n))
}

// localKey is for what follows a +: its numbers come after its words.
func localKey(text string) value.Value {
	out := tuple()
	if text == "" {
		return out
	}
	for _, part := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("-_.", r) }) {
		if strings.Trim(part, "0123456789") == "" {
			out.Items = append(out.Items, tuple(value.Int(1), number(part)))
		} else {
			out.Items = append(out.Items, tuple(value.Int(0), value.Str(part)))
		}
	}
	return out
}

package foreign

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/modules/py/value"
	"hark/modules/result"
)

// Since ansible-core 2.22 modules no longer take their secret arguments out of what they return: they name them beside it, and whoever shows the
// result hides them. What leaves a host of hark's is without them, as it was with modules of before.

// redacted stands where a secret was.
const redacted = "$REDACTED$"

const (
	shortestSecret = 4 // characters; what is shorter is none
	mostlyWord     = 6 // secrets up to this length are hidden only where no letter or digit is beside them
)

// withoutSecrets is a result in which the secrets that it names are hidden.
func withoutSecrets(data *value.Dict) *value.Dict {
	named, _ := data.Get(result.NewSecrets)
	items, _ := value.Items(named)
	var secrets []string
	for _, item := range items {
		text, _ := value.Text(item)
		if text = strings.Trim(text, " \t\r\n"); utf8.RuneCountInString(text) >= shortestSecret {
			secrets = append(secrets, text)
		}
	}
	data.Delete(value.Str(result.NewSecrets))
	if len(secrets) == 0 {
		return data
	}
	return hidden(data, secrets).(*value.Dict)
}

// hidden is a value without the secrets, at any depth, in keys and in numbers too.
func hidden(v value.Value, secrets []string) value.Value {
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		v.Each(func(k, item value.Value) bool { return out.SetKey(hidden(k, secrets), hidden(item, secrets)) })
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, hidden(item, secrets))
		}
		return out
	case value.Bool, value.None:
		return v
	}
	text := value.Printed(v)
	if masked := mask(text, secrets); masked != text {
		return value.UnsafeStr(masked)
	}
	return v
}

// span is a part of a text.
type span struct {
	from, to int
	sure     bool // it is long, or stands alone
}

// mask hides secrets in a text. Those that touch are hidden as one.
func mask(text string, secrets []string) string {
	var found []span
	for _, s := range secrets {
		for at := 0; ; {
			i := strings.Index(text[at:], s)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(s)
			found = append(found, span{from, to, utf8.RuneCountInString(s) > mostlyWord || alone(text, from, to)})
			_, size := utf8.DecodeRuneInString(text[from:])
			at = from + size
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var runs []span
	for _, s := range found {
		last := len(runs) - 1
		if last < 0 || s.from > runs[last].to {
			runs = append(runs, s)
			continue
		}
		runs[last].sure = runs[last].sure || s.sure || s.to > runs[last].to
		runs[last].to = max(runs[last].to, s.to)
	}
	var out strings.Builder
	at := 0
	for _, s := range runs {
		if s.sure {
			out.WriteString(text[at:s.from] + redacted)
			at = s.to
		}
	}
	return out.String() + text[at:]
}

// alone tells a part of a text that has no letter or digit beside it.
func alone(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !inWord(before) && !inWord(after)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

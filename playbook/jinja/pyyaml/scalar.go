package pyyaml

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// The scalar tags of YAML 1.1.
const (
	tagStr       = "!!str"
	tagNull      = "!!null"
	tagBool      = "!!bool"
	tagInt       = "!!int"
	tagFloat     = "!!float"
	tagTimestamp = "!!timestamp"
	tagMerge     = "!!merge"
	tagValue     = "!!value"
	tagBinary    = "!!binary"
)

var (
	intForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|` +
			`[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	})
	floatForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|` +
			`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	})
	timeForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,` +
			`2}:[0-9]{2}:[0-9]{2}` +
			`(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$`)
	})
)

// implicitTag returns the tag that a plain scalar has by its look.
func implicitTag(s string) string {
	if s == "" {
		return tagNull
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return numberTag(s)
	}
	switch s {
	case "~", "null", "Null", "NULL":
		return tagNull
	case "<<":
		return tagMerge
	case "=":
		return tagValue
	}
	if _, ok := boolWord(s); ok && (s == strings.ToLower(s) || s == strings.ToUpper(s) || s == capital(s)) {
		return tagBool
	}
	return tagStr
}

func numberTag(s string) string {
	switch {
	case floatForm().MatchString(s):
		return tagFloat
	case intForm().MatchString(s):
		return tagInt
	case s[0] >= '0' && s[0] <= '9' && timeForm().MatchString(s):
		return tagTimestamp
	}
	return tagStr
}

func capital(s string) string { return strings.ToUpper(s[:1]) + strings.ToLower(s[1:]) }

func boolWord(s string) (b, ok bool) {
	switch strings.ToLower(s) {
	case "yes", "true", "on":
		return true, true
	case "no", "false", "off":
		return false, true
	}
	return false, false
}

// scalar makes the value of text with one of YAML's own tags; false if the text is not of that form.
func scalar(tag, s string, text value.Kind) (value.Value, bool) {
	switch tag {
	case tagStr:
		return text.TextAs(s), true
	case tagNull:
		return value.None{}, true
	case tagBool:
		b, ok := boolWord(s)
		return value.Bool(b), ok
	case tagInt:
		return parseInt(s)
	case tagFloat:
		return parseFloat(s)
	case tagTimestamp:
		return parseTime(s, text)
	}
	return nil, false
}

func parseInt(s string) (value.Value, bool) {
	s, negative := unsign(strings.ReplaceAll(s, "_", ""))
	n := new(big.Int)
	ok := len(s) <= value.MostDigits
	switch {
	case !ok:
	case s == "":
		return nil, false
	case s == "0":
	case strings.HasPrefix(s, "0b"):
		_, ok = n.SetString(s[2:], 2)
	case strings.HasPrefix(s, "0x"):
		_, ok = n.SetString(s[2:], 16)
	case s[0] == '0':
		_, ok = n.SetString(s, 8)
	case strings.Contains(s, ":"):
		ok = sexagesimal(n, s)
	default:
		_, ok = n.SetString(s, 10)
	}
	if !ok {
		return nil, false
	}
	if negative {
		n.Neg(n)
	}
	if n.IsInt64() {
		return value.Int(n.Int64()), true
	}
	return &value.BigInt{Int: n}, true
}

func sexagesimal(n *big.Int, s string) bool {
	sixty := big.NewInt(60)
	for _, part := range strings.Split(s, ":") {
		digit, ok := value.ParseInt(part, 10)
		if !ok {
			return false
		}
		n.Mul(n, sixty).Add(n, digit)
	}
	return true
}

func unsign(s string) (rest string, negative bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:], s[0] == '-'
	}
	return s, false
}

func parseFloat(s string) (value.Value, bool) {
	s, negative := unsign(strings.ToLower(strings.ReplaceAll(s, "_", "")))
	var f float64
	switch {
	case s == ".inf":
		f = math.Inf(1)
	case s == ".nan":
		return value.Float(math.NaN()), true
	case strings.Contains(s, ":"):
		for _, part := range strings.Split(s, ":") {
			digit, err := strconv.ParseFloat(part, 64)
			if err != nil {
				return nil, false
			}
			f = f*60 + digit
		}
	default:
		var err error
		// Out of range is infinity, as Python's float has it.
		if f, err = strconv.ParseFloat(s, 64); err != nil && !math.IsInf(f, 0) {
			return nil, false
		}
	}
	if negative {
		f = -f
	}
	return value.Float(f), true
}

package inventory

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The forms of host names, with ranges in brackets.
const (
	numericRange = `\[[0-9]+:[0-9]+(?::[0-9]+)?\]`
	hexRange     = `\[[0-9a-f]+:[0-9a-f]+(?::[0-9]+)?\]`
	wordRange    = `\[(?:[a-z]:[a-z]|[0-9]+:[0-9]+)(?::[0-9]+)?\]`

	part4 = `(?:[01]?[0-9]{1,2}|2[0-4][0-9]|25[0-5]|` + numericRange + `)`
	part6 = `(?:[0-9a-f]{1,4}|` + hexRange + `)`
)

var (
	bracketedPort = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[(.+)\]:([0-9]+)$`) })
	namePort      = sync.OnceValue(
		func() *regexp.Regexp { return regexp.MustCompile(`^((?:[^:\[\]]|\[[^\]]*\])*):([0-9]+)$`) })
	form4 = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:` + part4 + `\.){3}` + part4 + `$`)
	})
	form6 = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(strings.ReplaceAll(`(?i)^(?:`+strings.Join([]string{
			`(?:P:){7}P`, `(?:P:){1,6}:`, `(?:P:)(?::P){1,6}`, `(?:P:){2}(?::P){1,5}`, `(?:P:){3}(?::P){1,4}`,
			`(?:P:){4}(?::P){1,3}`,
			`(?:P:){5}(?::P){1,2}`, `(?:P:){6}(?::P)`, `:(?::P){1,6}`, `P?::`,
			`(?:0:){6}(?:P\.){3}P`, `::(?:ffff:)?(?:P\.){3}P`, `(?:0:){5}ffff:(?:P\.){3}P`,
		}, "|")+`)$`, "P", part6))
	})
	label = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:[\p{L}\p{N}_]|` + wordRange + `)(?:[\p{L}\p{N}_-]|` + wordRange + `)*$`)
	})
)

// parseAddress separates a host name, an IPv4 or an IPv6 address from its port; 0 is no port. With ranges it accepts
// ranges in brackets.
func parseAddress(address string, ranges bool) (host string, port int, err error) {
	if plainName(address) {
		return address, 0, nil
	}
	host = address
	for _, form := range []*regexp.Regexp{bracketedPort(), namePort()} {
		if m := form.FindStringSubmatch(host); m != nil {
			host = m[1]
			port, _ = strconv.Atoi(m[2])
		}
	}
	if host == "" || !form4().MatchString(host) && !form6().MatchString(host) && !isHostname(host) {
		return "", 0, failf("Not a valid network hostname: %s", host)
	}
	if !ranges && strings.Contains(host, "[") {
		return "", 0, failf("Detected range in host but was asked to ignore ranges")
	}
	return host, port, nil
}

// plainName recognises the common case without regular expressions.
func plainName(s string) bool {
	if s == "" {
		return false
	}
	prev := byte('.')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-' || c == '_':
			if prev == '.' {
				return false
			}
		case c == '.':
			if prev == '.' || prev == '-' || prev == '_' {
				return false
			}
		default:
			return false
		}
		prev = c
	}
	return prev != '.' && prev != '-' && prev != '_'
}

// isHostname reports whether s is labels joined by dots, none ending in - or _.
func isHostname(s string) bool {
	for _, l := range splitLabels(s) {
		if !label().MatchString(l) || strings.HasSuffix(l, "-") || strings.HasSuffix(l, "_") {
			return false
		}
	}
	return true
}

// splitLabels splits at dots outside brackets.
func splitLabels(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '.':
			if depth == 0 {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}

// expandHosts returns the names that a pattern of an inventory file stands for: a[1:3].b is three hosts.
func expandHosts(pattern string) (names []string, port int, err error) {
	base, port, err := parseAddress(pattern, true)
	if err != nil {
		base, port = pattern, 0
	}
	if !strings.Contains(base, "[") {
		return []string{base}, port, nil
	}
	names, err = expandRange(base, nil)
	return names, port, err
}

// valueError is an error that Python raises. It ends the reading of a source, while an error that Ansible raises itself
// leaves the text unchanged.
type valueError string

func (e valueError) Error() string { return string(e) }

func noInt(s string) error {
	return valueError(fmt.Sprintf("invalid literal for int() with base 10: '%s'", s))
}

// maxRange is how many hosts one pattern may stand for.
const maxRange = 10_000_000

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func expandRange(s string, out []string) ([]string, error) {
	head, rest, _ := strings.Cut(s, "[")
	bounds, tail, ok := strings.Cut(rest, "]")
	if !ok {
		return nil, valueError("not enough values to unpack (expected 3, got 2)")
	}
	seq, err := sequence(bounds)
	if err != nil {
		return nil, err
	}
	for _, part := range seq {
		name := head + part + tail
		if strings.Contains(name, "[") {
			if out, err = expandRange(name, out); err != nil {
				return nil, err
			}
			continue
		}
		if out = append(out, name); len(out) > maxRange {
			return nil, failf("host range stands for more than %d hosts", maxRange)
		}
	}
	return out, nil
}

// sequence returns the texts of "begin:end" or "begin:end:step": numbers, padded with zeros like begin, or letters.
func sequence(text string) ([]string, error) {
	bounds := strings.Split(text, ":")
	if len(bounds) != 2 && len(bounds) != 3 {
		return nil, failf("host range must be begin:end or begin:end:step")
	}
	begin, end, step := bounds[0], bounds[1], 1
	if len(bounds) == 3 {
		n, err := strconv.Atoi(bounds[2])
		switch {
		case err != nil:
			return nil, noInt(bounds[2])
		case n == 0:
			return nil, valueError("range() arg 3 must not be zero")
		}
		step = n
	}
	if begin == "" {
		begin = "0"
	}
	if end == "" {
		return nil, failf("host range must specify end value")
	}
	width := 0
	if begin[0] == '0' && len(begin) > 1 {
		if width = len(begin); width != len(end) {
			return nil, failf("host range must specify equal-length begin and end formats")
		}
	}
	if first, last := strings.Index(letters, begin), strings.Index(letters, end); first >= 0 && last >= 0 {
		return letterSequence(begin, end, first, last, step)
	}
	return numberSequence(begin, end, width, step)
}

func letterSequence(begin, end string, first, last, step int) ([]string, error) {
	if first > last {
		return nil, failf("host range must have begin <= end")
	}
	var out []string
	for i := first; i <= last && step > 0; i += step {
		out = append(out, letters[i:i+1])
	}
	return out, nil
}

func numberSequence(begin, end string, width, step int) ([]string, error) {
	var n [2]int
	for i, s := range []string{begin, end} {
		v, err := strconv.Atoi(s)
		if err != nil {
			return nil, noInt(s)
		}
		n[i] = v
	}
	if step > 0 && (n[1]-n[0])/step > maxRange {
		return nil, failf("host range stands for more than %d hosts", maxRange)
	}
	var out []string
	for i := n[0]; step > 0 && i <= n[1]; i += step {
		out = append(out, fmt.Sprintf("%0*d", width, i))
	}
	return out, nil
}

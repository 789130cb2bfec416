// Package versions orders version numbers by the rules that Ansible's test version knows.
package versions

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/modules/py/value"
)

// Rule makes the key of a version, a value that Python's order of tuples and lists puts in its place. Keys of two
// rules do not compare.
type Rule func(text string) (value.Value, error)

// Compare orders two versions: -1, 0, 1.
func Compare(rule Rule, a, b string) (int, error) {
	x, err := rule(a)
	if err != nil {
		return 0, err
	}
	y, err := rule(b)
	if err != nil {
		return 0, err
	}
	if same, err := value.Equal(x, y); same || err != nil {
		return 0, err
	}
	return value.Compare("<", x, y)
}

var loosePart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+|[a-z]+|\.`) })

// Loose takes any text: numbers and words are compared part by part, and a number has no order with a word.
func Loose(text string) (value.Value, error) {
	out := value.NewList()
	add := func(part string) {
		switch n, ok := value.ParseInt(strings.TrimSpace(part), 10); {
		case part == "" || part == ".":
		case ok:
			out.Items = append(out.Items, value.NewInt(n))
		default:
			out.Items = append(out.Items, value.Str(part))
		}
	}
	at := 0
	for _, m := range loosePart().FindAllStringIndex(text, -1) {
		add(text[at:m[0]])
		add(text[m[0]:m[1]])
		at = m[1]
	}
	add(text[at:])
	return out, nil
}

var strictForm = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?\n?$`) })

// Strict takes two or three numbers, and a or b with a number for what comes before a release.
func Strict(text string) (value.Value, error) {
	m := strictForm().FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("invalid version number '%s'", text)
	}
	pre := present()
	if m[4] != "" {
		pre = tuple(value.Int(0), value.Str(m[4]), number(m[5]))
	}
	return tuple(number(m[1]), number(m[2]), number(m[3]), pre), nil
}

const identifier = `(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`

var semanticForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
		`(?:-(` + identifier + `(?:\.` + identifier + `)*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?\n?$`)
})

// Semantic takes versions of semver.org. What follows a + does not count.
func Semantic(text string) (value.Value, error) {
	m := semanticForm().FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("invalid semantic version '%s'", text)
	}
	pre := present()
	if m[4] != "" {
		pre = tuple(value.Int(0))
		for _, part := range strings.Split(m[4], ".") {
			pre.Items = append(pre.Items, identifierKey(part))
		}
	}
	return tuple(number(m[1]), number(m[2]), number(m[3]), pre), nil
}

// identifierKey puts numbers before words.
func identifierKey(part string) value.Value {
	if strings.Trim(part, "0123456789") == "" {
		return tuple(value.Int(0), number(part))
	}
	return tuple(value.Int(1), value.Str(part))
}

// number returns a number of digits; none is 0.
func number(digits string) value.Value {
	n, ok := value.ParseInt(digits, 10)
	if !ok {
		return value.Int(0)
	}
	return value.NewInt(n)
}

func tuple(items ...value.Value) *value.Tuple { return value.NewTuple(items...) }

// present comes after every key that begins with 0, as a release does after what leads to it.
func present() *value.Tuple { return tuple(value.Int(1)) }

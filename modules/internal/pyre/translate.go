package pyre

import (
	"fmt"
	"strconv"
	"strings"
)

// translate writes a Python expression for regexp2. Named groups become numbered ones, because .NET
// numbers them after all others; their numbers are returned by name.
func translate(p string) (string, map[string]int) {
	t := &translator{p: p, names: map[string]int{}}
	for t.i < len(t.p) {
		t.step()
	}
	return t.out.String(), t.names
}

type translator struct {
	p      string
	i      int
	out    strings.Builder
	names  map[string]int
	groups int
	class  bool // within [...]
}

func (t *translator) rest() string { return t.p[t.i:] }

func (t *translator) copy(n int) {
	t.out.WriteString(t.p[t.i : t.i+n])
	t.i += n
}

func (t *translator) step() {
	c := t.p[t.i]
	switch {
	case c == '\\' && t.i+1 < len(t.p):
		t.escape()
	case t.class:
		switch c {
		case '[':
			t.out.WriteByte('\\') // .NET would subtract a class here
		case ']':
			t.class = false
		}
		t.copy(1)
	case c == '[':
		t.openClass()
	case c == '(':
		t.paren()
	case c == '{' && strings.HasPrefix(t.rest(), "{,"):
		t.out.WriteString("{0,")
		t.i += 2
	default:
		t.copy(1)
	}
}

// openClass copies [, [^ and a ] that stands first, which is a character then.
func (t *translator) openClass() {
	t.class = true
	t.copy(1)
	if strings.HasPrefix(t.rest(), "^") {
		t.copy(1)
	}
	if strings.HasPrefix(t.rest(), "]") {
		t.out.WriteByte('\\')
		t.copy(1)
	}
}

func (t *translator) escape() {
	switch c := t.p[t.i+1]; {
	case c == 'Z' && !t.class:
		t.out.WriteString(`\z`)
		t.i += 2
	case c == 'U' && t.i+10 <= len(t.p):
		n, err := strconv.ParseUint(t.p[t.i+2:t.i+10], 16, 32)
		if err != nil {
			t.copy(2)
			return
		}
		t.out.WriteRune(rune(n))
		t.i += 10
	default:
		t.copy(2)
	}
}

func (t *translator) paren() {
	rest := t.rest()
	switch {
	case strings.HasPrefix(rest, "(?P<"):
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			t.copy(1)
			return
		}
		t.groups++
		t.names[rest[4:end]] = t.groups
		t.out.WriteByte('(')
		t.i += end + 1
	case strings.HasPrefix(rest, "(?P="):
		end := strings.IndexByte(rest, ')')
		if n, ok := t.names[rest[4:max(end, 4)]]; ok && end > 0 {
			fmt.Fprintf(&t.out, `(?:\%d)`, n)
			t.i += end + 1
			return
		}
		t.copy(1)
	case strings.HasPrefix(rest, "(?("):
		t.conditional()
	case strings.HasPrefix(rest, "(?"):
		t.flags()
	default:
		t.groups++
		t.copy(1)
	}
}

// conditional translates the name in (?(name)yes|no).
func (t *translator) conditional() {
	rest := t.rest()
	end := strings.IndexByte(rest, ')')
	if end < 0 {
		t.copy(1)
		return
	}
	if n, ok := t.names[rest[3:end]]; ok {
		fmt.Fprintf(&t.out, "(?(%d)", n)
		t.i += end + 1
		return
	}
	t.copy(end + 1)
}

// flags drops the flags that .NET does not have: ASCII, locale, Unicode. DOTALL is s in both.
func (t *translator) flags() {
	rest := t.rest()
	end := 2
	for end < len(rest) && strings.IndexByte("aiLmsux-", rest[end]) >= 0 {
		end++
	}
	if end == 2 || end == len(rest) || rest[end] != ')' && rest[end] != ':' {
		t.copy(2)
		return
	}
	kept := strings.NewReplacer("a", "", "L", "", "u", "").Replace(rest[2:end])
	if kept == "" && rest[end] == ')' {
		t.i += end + 1
		return
	}
	t.out.WriteString("(?" + kept)
	t.i += end
}

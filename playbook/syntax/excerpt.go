package syntax

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hark/modules/py/value"
)

// excerptWidth is how many characters wide the lines of an excerpt are.
const excerptWidth = 120

// Origin returns what ansible-core 2.19 says of a place: the file with line and column, and the line after the two
// before it with a caret. text is the file's content, nil if it cannot be shown.
func Origin(p Place, text []byte) string {
	where := "Origin: " + p.String()
	if p.Line == 0 || text == nil {
		return where
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if p.Line > len(lines) {
		return where + "\n\n(source not shown: file truncated)"
	}
	width := len(fmt.Sprint(p.Line))
	most := excerptWidth - width - 1
	out := []string{where, ""}
	usable := most
	for n := max(1, p.Line-2); n <= p.Line; n++ {
		line := strings.ReplaceAll(lines[n-1], "\t", " ")
		if utf8.RuneCountInString(line) > most {
			usable = most - len("...")
			line = string([]rune(line)[:usable]) + "..."
		}
		if line != "" {
			line = " " + line
		}
		out = append(out, fmt.Sprintf("%*d%s", width, n, line))
	}
	mark := fmt.Sprintf("column %d", p.Column)
	switch at := p.Column - 1; {
	case p.Column < 1 || p.Column > usable:
		return strings.Join(out, "\n")
	case at+2+len(mark) > most:
		mark = strings.Repeat(" ", max(0, at-len(mark)-1)) + mark + " ^"
	default:
		mark = strings.Repeat(" ", at) + "^ " + mark
	}
	return strings.Join(append(out, strings.Repeat(" ", width+1)+mark), "\n")
}

// Find returns where a text is the value of a key, or one of the arguments in such a text, in files that were read: the
// first place from near on, or else in that file, or else in the file nearest to it.
func (l *Loader) Find(text string, near Place) (Place, bool) {
	if at, ok := l.findIn(text, near); ok {
		return at, true
	}
	for _, file := range l.others(text, near.File) {
		if at, ok := l.findIn(text, Place{File: file}); ok {
			return at, true
		}
	}
	return Place{}, false
}

// others returns the files without vault that were read and may hold a text, those nearest to a file first.
func (l *Loader) others(text, file string) []string {
	word := ""
	for _, w := range strings.FieldsFunc(text,
		func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > len(word) {
			word = w
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for name, content := range l.texts {
		if name != file && content != nil && bytes.Contains(content, []byte(word)) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(common(b, file)-common(a, file), strings.Compare(a, b)) })
	return out
}

// common returns how many bytes two names have in common at the beginning.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// findIn is Find in one file.
func (l *Loader) findIn(text string, near Place) (Place, bool) {
	n, err := l.Once(near.File)
	if err != nil {
		return Place{}, false
	}
	var first Place
	found := false
	var walk func(n *Node) bool
	walk = func(n *Node) bool {
		if n == nil {
			return false
		}
		if s, ok := written(n); ok && n.Mark.Line > 0 && says(s, strings.TrimSpace(text)) {
			at := placeOf(near.File, n)
			if !found {
				first, found = at, true
			}
			if at.Line > near.Line || at.Line == near.Line && at.Column >= near.Column {
				first = at
				return true
			}
		}
		for _, list := range [][]*Node{n.Items, n.Vals} {
			for _, item := range list {
				if walk(item) {
					return true
				}
			}
		}
		return false
	}
	walk(n)
	return first, found
}

// says reports whether a text is another, or has it as one of its arguments: msg="a {{ b }}" of debug, and the rest of
// such a text without names like chdir.
func says(written, text string) bool {
	if strings.TrimSpace(written) == text {
		return true
	}
	if !strings.Contains(written, text) {
		return false
	}
	for _, freeForm := range []bool{false, true} {
		pairs, raw, err := KV(written, freeForm)
		if err != nil {
			return false
		}
		if raw == text || slices.ContainsFunc(pairs, func(p Pair) bool { return p.Value == text }) {
			return true
		}
	}
	return false
}

// written returns the text of a node; for a vault string the encrypted text.
func written(n *Node) (string, bool) {
	if v, ok := n.Value.(*value.Vault); ok {
		return v.Cipher, true
	}
	return value.Text(n.Value)
}

// FindValue returns where the value of a key is in the mapping at a place of a file that was read, or else in a mapping
// within it, such as the arguments of a task; the place itself if it is not there.
func (l *Loader) FindValue(key string, at Place) Place {
	n, err := l.Once(at.File)
	if err != nil {
		return at
	}
	task := mappingAt(n, at)
	if found := keyOf(task, key); found != nil {
		return placeOf(at.File, found)
	}
	if found := keyBelow(task, key); found != nil {
		return placeOf(at.File, found)
	}
	return at
}

// FindItem returns where an item of a list is that is the value of a key in the mapping at a place of a file that was
// read; for a value that is no list, where the value is; the place itself if it is not there.
func (l *Loader) FindItem(key string, i int, at Place) Place {
	n, err := l.Once(at.File)
	if err != nil {
		return at
	}
	found := keyOf(mappingAt(n, at), key)
	if found != nil && i < len(found.Items) {
		found = found.Items[i]
	}
	if found == nil {
		return at
	}
	return placeOf(at.File, found)
}

// FindCondition returns where a task at a place has a condition; a blank one is found by a blank.
func (l *Loader) FindCondition(text string, task Place) (Place, bool) {
	n, err := l.Once(task.File)
	if err != nil {
		return Place{}, false
	}
	n = mappingAt(n, task)
	for _, key := range []string{"when", "until", "changed_when", "failed_when", "that", "break_when"} {
		for _, conds := range []*Node{keyOf(n, key), keyBelow(n, key)} {
			if c := conditionIn(conds, strings.TrimSpace(text)); c != nil {
				return placeOf(task.File, c), true
			}
		}
	}
	return Place{}, false
}

// conditionIn returns the node of a condition, or of a list of conditions, that has a text; nil if none has.
func conditionIn(n *Node, text string) *Node {
	if n == nil {
		return nil
	}
	for _, item := range n.Items {
		if strings.TrimSpace(value.Printed(item.Value)) == text {
			return item
		}
	}
	if strings.TrimSpace(value.Printed(n.Value)) == text {
		return n
	}
	return nil
}

// keyBelow returns the value of a key in a mapping that is a value of another, nil if there is none.
func keyBelow(n *Node, key string) *Node {
	for i := 0; n != nil && i < len(n.Vals); i++ {
		if found := keyOf(n.Vals[i], key); found != nil {
			return found
		}
	}
	return nil
}

// FindKey returns where a key is in the mapping at a place of a file that was read, or within it; the place itself if
// it is not there.
func (l *Loader) FindKey(key string, at Place) Place {
	n, err := l.Once(at.File)
	if err != nil {
		return at
	}
	if found := keyIn(mappingAt(n, at), key); found != nil {
		return placeOf(at.File, found)
	}
	return at
}

// mappingAt returns the mapping that begins at a place, nil if there is none.
func mappingAt(n *Node, at Place) *Node {
	if n == nil || len(n.Keys) > 0 && n.Mark.Line == at.Line && n.Mark.Column == at.Column {
		return n
	}
	for _, list := range [][]*Node{n.Items, n.Vals} {
		for _, item := range list {
			if found := mappingAt(item, at); found != nil {
				return found
			}
		}
	}
	return nil
}

// keyIn returns the key with a text in a mapping, or in one within it; nil if there is none.
func keyIn(n *Node, key string) *Node {
	if n == nil {
		return nil
	}
	for _, k := range n.Keys {
		if text, ok := value.Text(k.Value); ok && text == key {
			return k
		}
	}
	for _, list := range [][]*Node{n.Vals, n.Items} {
		for _, item := range list {
			if found := keyIn(item, key); found != nil {
				return found
			}
		}
	}
	return nil
}

package value

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
)

// Lines are the lines of a text, as Python's splitlines parts them, in a dict that has the text too: stdout_lines
// beside stdout. They are made when somebody reads the entry, and are a *List for everybody but those who ask
// Dict.Kept: eleven million lines take thirty times the memory of their text.
type Lines struct {
	text Value  // nil as long as it is not known
	name string // of the entry with the text, of what was decoded

	mu   sync.Mutex
	list *List // nil if nobody has read it; guarded by mu
}

// NewLines returns the lines of a text.
func NewLines(text Value) *Lines { return &Lines{text: text} }

func (*Lines) Type() string { return "list" }

// List returns the list itself: the same one each time.
func (l *Lines) List() *List {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		text, _ := Text(l.text)
		l.list = &List{Items: splitLines(text, lineKind(l.text))}
	}
	return l.list
}

// Text returns what they are the lines of; nil if somebody has changed the list since.
func (l *Lines) Text() Value {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		return l.text
	}
	rest, _ := Text(l.text)
	for _, item := range l.list.Items {
		text, ok := Text(item)
		if rest == "" || !ok {
			return nil
		}
		line, _, after := CutLine(rest)
		if text != line {
			return nil
		}
		rest = after
	}
	if rest != "" {
		return nil
	}
	return l.text
}

// Write writes what stands for the lines under a key of the dict in the JSON that Decode reads. It writes nothing,
// and is false, if they are not those of the text beside them.
func (l *Lines) Write(b *bytes.Buffer, d *Dict, key string) bool {
	name, ok := strings.CutSuffix(key, "_lines")
	if !ok {
		return false
	}
	v, _ := d.Get(name)
	here, isText := Text(v)
	if mine, known := Text(l.Text()); !isText || !known || here != mine {
		return false
	}
	b.WriteString(`{"!l":`)
	WriteJSONText(b, name)
	b.WriteByte('}')
	return true
}

// findTexts gives lines that were decoded the texts beside them.
func (d *Dict) findTexts() error {
	for i, v := range d.vals {
		l, ok := v.(*Lines)
		if !ok || l.text != nil {
			continue
		}
		text, _ := d.Get(l.name)
		if !IsText(text) {
			return fmt.Errorf("bad lines in encoded value: there is no text %q", l.name)
		}
		d.vals[i] = NewLines(text)
	}
	return nil
}

// kept returns the entry that a copy of the dict has whose texts were made by of.
func (l *Lines) kept(of func(Value) Value) Value {
	if text := l.Text(); text != nil {
		return NewLines(of(text))
	}
	return of(l.List())
}

// lineKind returns the kind of text that a line of a text is.
func lineKind(v Value) Kind {
	switch v.(type) {
	case UnsafeStr, NativeUnsafeStr:
		return KindUnsafe
	case Source:
		return KindSource
	}
	return KindStr
}

func splitLines(text string, kind Kind) []Value {
	items := make([]Value, 0, countLines(text))
	for text != "" {
		line, _, rest := CutLine(text)
		items = append(items, kind.TextAs(line))
		text = rest
	}
	return items
}

func countLines(text string) (n int) {
	for text != "" {
		_, _, text = CutLine(text)
		n++
	}
	return n
}

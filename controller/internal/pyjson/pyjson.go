// Package pyjson prints values as Python's json module does, which is how Ansible shows and exports them: blanks
// after separators, floats as Python writes them, a choice of indent and order. It does not read JSON.
package pyjson

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"

	"hark/playbook/jinja/value"
)

// Options are the arguments of Python's json.dumps that are used here.
type Options struct {
	// Indent is the number of blanks for each level; Inline puts all on one line instead. An Indent of 0
	// without Inline breaks lines and does not indent.
	Indent int
	Inline bool
	// SortKeys orders mappings by key, else they keep their order.
	SortKeys bool
	// ASCII escapes everything beyond it.
	ASCII bool
	// Vault prints a vault string; nil opens it.
	Vault func(*value.Vault) value.Value
}

// Dumps is v as JSON. Values that JSON does not know are printed as text.
func Dumps(v value.Value, o Options) string {
	p := printer{o: o}
	p.value(v, 0)
	return p.b.String()
}

type printer struct {
	o Options
	b strings.Builder
}

func (p *printer) value(v value.Value, depth int) {
	switch v := v.(type) {
	case nil, value.None:
		p.b.WriteString("null")
	case value.Bool:
		p.b.WriteString(strconv.FormatBool(bool(v)))
	case value.Float:
		p.b.WriteString(floatText(v))
	case *value.List:
		p.list(v.Items, depth)
	case *value.Tuple:
		p.list(v.Items, depth)
	case *value.Dict:
		p.dict(v, depth)
	case value.Mapping:
		p.mapping(v, depth)
	case *value.Vault:
		if p.o.Vault != nil {
			p.value(p.o.Vault(v), depth)
			return
		}
		p.text(plain(v))
	case value.Int, *value.BigInt:
		p.b.WriteString(plain(v))
	default:
		p.text(plain(v))
	}
}

// plain is v as Python's str has it; what cannot be printed is shown as its error.
func plain(v value.Value) string {
	s, err := value.ToStr(v)
	if err != nil {
		return fmt.Sprintf("<%v>", err)
	}
	return s
}

func floatText(f value.Float) string {
	switch s := value.FloatText(float64(f)); s {
	case "nan":
		return "NaN"
	case "inf":
		return "Infinity"
	case "-inf":
		return "-Infinity"
	default:
		return s
	}
}

func (p *printer) list(items []value.Value, depth int) {
	if len(items) == 0 {
		p.b.WriteString("[]")
		return
	}
	p.b.WriteByte('[')
	for i, item := range items {
		p.separate(i, depth+1)
		p.value(item, depth+1)
	}
	p.end(depth)
	p.b.WriteByte(']')
}

type entry struct {
	key string
	v   value.Value
}

func (p *printer) dict(d *value.Dict, depth int) {
	entries := make([]entry, 0, d.Len())
	d.Each(func(k, v value.Value) bool {
		entries = append(entries, entry{keyText(k), v})
		return true
	})
	p.entries(entries, depth)
}

func (p *printer) mapping(m value.Mapping, depth int) {
	keys, err := m.Keys()
	if err != nil {
		p.text(plain(m))
		return
	}
	var entries []entry
	for _, k := range keys {
		v, _, err := m.Lookup(k)
		if err != nil {
			v = value.Str(err.Error())
		}
		entries = append(entries, entry{keyText(k), v})
	}
	p.entries(entries, depth)
}

// keyText is a key as json.dumps writes it: numbers, booleans and None become text.
func keyText(k value.Value) string {
	switch k := k.(type) {
	case value.None:
		return "null"
	case value.Bool:
		return strconv.FormatBool(bool(k))
	case value.Float:
		return floatText(k)
	}
	return plain(k)
}

func (p *printer) entries(entries []entry, depth int) {
	if len(entries) == 0 {
		p.b.WriteString("{}")
		return
	}
	if p.o.SortKeys {
		sort.SliceStable(entries, func(i, j int) bool { return entries[i].key < entries[j].key })
	}
	p.b.WriteByte('{')
	for i, e := range entries {
		p.separate(i, depth+1)
		p.text(e.key)
		p.b.WriteString(": ")
		p.value(e.v, depth+1)
	}
	p.end(depth)
	p.b.WriteByte('}')
}

func (p *printer) separate(i, depth int) {
	if i > 0 {
		p.b.WriteByte(',')
		if p.o.Inline {
			p.b.WriteByte(' ')
		}
	}
	p.end(depth)
}

// end breaks the line before an item or a closing bracket.
func (p *printer) end(depth int) {
	if !p.o.Inline {
		p.b.WriteByte('\n')
		p.b.WriteString(strings.Repeat(" ", depth*p.o.Indent))
	}
}

func (p *printer) text(s string) {
	p.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			p.b.WriteByte('\\')
			p.b.WriteRune(r)
		case r == '\n':
			p.b.WriteString(`\n`)
		case r == '\r':
			p.b.WriteString(`\r`)
		case r == '\t':
			p.b.WriteString(`\t`)
		case r == '\b':
			p.b.WriteString(`\b`)
		case r == '\f':
			p.b.WriteString(`\f`)
		case r < 0x20 || p.o.ASCII && r > 0x7e:
			p.escape(r)
		default:
			p.b.WriteRune(r)
		}
	}
	p.b.WriteByte('"')
}

func (p *printer) escape(r rune) {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(&p.b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(&p.b, `\u%04x`, r)
}

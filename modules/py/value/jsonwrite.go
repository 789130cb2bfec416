package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSONOptions are the arguments of Python's json.dumps that are used here. The zero value is json.dumps(v,
// ensure_ascii=False).
type JSONOptions struct {
	// Item and Colon stand between items and after keys. "" is ", ", or "," where each item has a line, and ": ".
	Item, Colon string
	// ASCII escapes everything else.
	ASCII bool
	// Sorted orders keys. Those of several types, which Python cannot sort, go by their text, as in ansible-core 2.19.
	Sorted bool
	// Lines puts each item on a line, indented by Indent for each level.
	Lines  bool
	Indent string
	// Replace gives what is written in place of a value; nil writes them as they are.
	Replace func(Value) Value
}

// Dumps returns a value as Python's json.dumps writes it. What JSON has no form for is an error.
func Dumps(v Value, o JSONOptions) (string, error) {
	var b bytes.Buffer
	if err := newDumper(&b, o, dumped).value(v); err != nil {
		return "", err
	}
	return b.String(), nil
}

// JSONText is Dumps for people, of any value: what JSON has no form for is shown as text, and what cannot be shown as
// its error. A value that would be mostly blanks is on one line.
func JSONText(v Value, o JSONOptions) string {
	if o.Lines && TooDeep(v, len(o.Indent)) {
		o.Lines = false
	}
	var b bytes.Buffer
	if err := newDumper(&b, o, shown).value(v); err != nil {
		return fmt.Sprintf("<%v>", err)
	}
	return b.String()
}

func newDumper(b *bytes.Buffer, o JSONOptions, forms jsonForms) *jsonWriter {
	if o.Item == "" {
		o.Item = ", "
		if o.Lines {
			o.Item = ","
		}
	}
	if o.Colon == "" {
		o.Colon = ": "
	}
	return &jsonWriter{Buffer: b, forms: forms, o: o}
}

// PlainJSON returns a value as plain JSON, which is read with Decode: lines stand there as in EncodeShort, kinds of
// text and tuples are not told apart, numbers print as Python's, and what JSON has no form for is text.
func PlainJSON(v Value) []byte {
	var b bytes.Buffer
	// most are small, and larger ones grow in few steps from there
	b.Grow(128)
	// it holds itself
	if err := (&jsonWriter{Buffer: &b, forms: plainForms, o: compact, short: true}).value(v); err != nil {
		return PlainJSON(Str(err.Error()))
	}
	return b.Bytes()
}

// maxIndentation is how many blanks a value may be indented by. What is deep and wide is printed on one line: a host
// could otherwise make gigabytes of a few megabytes.
const maxIndentation = 64 << 20

// TooDeep reports whether a value with an indent for each level would be mostly blanks.
func TooDeep(v Value, indent int) bool {
	budget := maxIndentation
	return indent > 0 && !within(v, indent, indent, &budget)
}

func within(v Value, depth, indent int, budget *int) bool {
	each := func(item Value) bool {
		*budget -= depth
		return *budget > 0 && within(item, depth+indent, indent, budget)
	}
	if d, ok := v.(*Dict); ok {
		for i := range d.Len() {
			if _, item := d.Kept(i); !each(item) {
				return false
			}
		}
	}
	items, _ := Items(v)
	return !slices.ContainsFunc(items, func(item Value) bool { return !each(item) })
}

// jsonForms says what is written for that which JSON has no form for.
type jsonForms int

const (
	tagged     jsonForms = iota // what Decode makes the same of, see Encode
	plainForms                  // text
	dumped                      // what Python's json.dumps does: words, or an error
	shown                       // as dumped, and text for what would be an error
)

// compact is how hark's programs write for each other.
var compact = JSONOptions{Item: ",", Colon: ":"}

// jsonWriter is what writes all JSON of values.
type jsonWriter struct {
	*bytes.Buffer
	forms jsonForms
	o     JSONOptions
	short bool // lines are told by the name of their text
	// source: text that a template made is told apart from that of files
	source bool
	depth  int // of lists and mappings within each other: templates can make some that hold themselves
}

// python reports whether it is written as Python does, for whoever reads it.
func (w *jsonWriter) python() bool { return w.forms >= dumped }

// deeper notes that what a value holds is written now.
func (w *jsonWriter) deeper() error {
	w.depth++
	switch {
	case w.python() && w.depth > maxJSONDepth: // a view shows what can be sent, within other objects
		return ValueErrorf("Circular reference detected")
	case w.depth > maxJSONDepth:
		return Errorf("RecursionError", "maximum recursion depth exceeded while encoding a JSON object")
	case w.python() && w.Len() > MaxText:
		return TooLong()
	}
	return nil
}

func (w *jsonWriter) value(v Value) error {
	if w.o.Replace != nil {
		v = w.o.Replace(v)
	}
	switch v := v.(type) {
	case nil, None:
		w.WriteString("null")
	case Bool:
		w.WriteString(strconv.FormatBool(bool(v)))
	case Int:
		w.WriteString(strconv.FormatInt(int64(v), 10))
	case *BigInt:
		w.WriteString(v.Int.String())
	case Float:
		w.float(float64(v))
	case *List:
		return w.items(v.Items)
	case *Tuple:
		return w.tag("!t", w.forms == tagged, func() error { return w.items(v.Items) })
	case *Dict:
		return w.dict(v)
	case *Later:
		made := v.Value()
		if u, undefined := made.(*Undefined); undefined && w.forms == tagged && u.Use() != nil {
			return u.Use()
		}
		return w.value(made)
	default:
		if w.forms == tagged {
			return w.kinds(v)
		}
		return w.other(v)
	}
	return nil
}

// tag writes an object with one key, if it is wanted, around what write writes.
func (w *jsonWriter) tag(name string, wanted bool, write func() error) error {
	if !wanted {
		return write()
	}
	w.WriteString(`{"` + name + `":`)
	err := write()
	w.WriteByte('}')
	return err
}

// kinds writes what Decode knows the kind of again.
func (w *jsonWriter) kinds(v Value) error {
	switch v := v.(type) {
	case UnsafeStr:
		w.WriteString(`{"!u":`)
		w.text(string(v))
		w.WriteByte('}')
	case NativeUnsafeStr:
		w.WriteString(`{"!nu":`)
		w.text(string(v))
		w.WriteByte('}')
	case Bytes:
		raw, err := json.Marshal([]byte(v))
		if err != nil {
			return err
		}
		w.WriteString(`{"!b":` + string(raw) + `}`)
	case *Class:
		return w.tag("!c", true, func() error { return w.items(v.names()) })
	case *Vault:
		w.vault(v)
	case Moment:
		w.WriteString(`{"!m":`)
		w.text(v.Str())
		w.WriteByte('}')
	default:
		return w.madeText(v)
	}
	return nil
}

// madeText writes text that a template made, and what is no text.
func (w *jsonWriter) madeText(v Value) error {
	text, tag := "", "!s"
	switch v := v.(type) {
	case Omit:
		if w.source {
			w.WriteString(`{"!o":1}`)
			return nil
		}
	case Str:
		text = string(v)
	case Markup:
		text = string(v)
	case NativeStr:
		text, tag = string(v), "!n"
	case Rendered:
		text, tag = v.text, "!r"
		if v.final {
			tag = "!nr"
		}
	}
	if !w.source || Inert(text) {
		return w.other(v)
	}
	return w.tag(tag, true, func() error { w.text(text); return nil })
}

func (w *jsonWriter) vault(v *Vault) {
	w.WriteString(`{"!v":[`)
	w.text(v.Cipher)
	if plain, err := v.Open(); err != nil {
		w.WriteString(",null,")
		w.text(err.Error())
	} else {
		w.WriteByte(',')
		w.text(plain)
	}
	w.WriteString("]}")
}

// other writes texts, and the objects that JSON has no form for.
func (w *jsonWriter) other(v Value) error {
	if s, ok := Text(v); ok {
		w.text(s)
		return nil
	}
	if t, isTime := v.(Moment); isTime {
		w.text(t.ISO())
		return nil
	}
	if w.forms == plainForms || w.forms == shown && !IsMapping(v) {
		w.text(w.inWords(v))
		return nil
	}
	switch v := v.(type) {
	case Mapping:
		if w.forms == tagged {
			break
		}
		d, err := ToDict(v)
		if err != nil && w.forms == shown {
			w.text(fmt.Sprintf("<%v>", err))
			return nil
		}
		if err != nil {
			return err
		}
		return w.dict(d)
	case Range, *View: // as lists, as in ansible-core 2.19
		items, err := Elements(v)
		if err != nil {
			return err
		}
		return w.items(items)
	case *Undefined:
		if w.forms == dumped {
			return &UndefinedError{Msg: v.Msg, Undefined: v}
		}
	}
	return w.object(v)
}

// object writes what can be written only as Python's str prints it.
func (w *jsonWriter) object(v Value) error {
	p, prints := v.(Printer)
	switch {
	case prints:
		w.text(p.Str())
		return nil
	case w.forms == tagged:
		return fmt.Errorf("cannot send a value of type %s", v.Type())
	}
	return TypeErrorf("Object of type %s is not JSON serializable", v.Type())
}

// inWords returns a value as Python's str prints it. What cannot be printed is its error for people, and nothing for
// programs.
func (w *jsonWriter) inWords(v Value) string {
	if b, ok := v.(Bytes); ok && w.forms == plainForms {
		return string(b)
	}
	s, err := ToStr(v)
	if err != nil && w.forms == shown {
		return fmt.Sprintf("<%v>", err)
	}
	return s
}

// float writes a number. JSON has no infinities.
func (w *jsonWriter) float(f float64) {
	if !math.IsNaN(f) && !math.IsInf(f, 0) {
		w.WriteString(FloatText(f))
		return
	}
	switch w.forms {
	case tagged:
		w.WriteString(`{"!f":"` + strconv.FormatFloat(f, 'g', -1, 64) + `"}`)
	case plainForms:
		w.text(FloatText(f))
	default:
		w.WriteString(jsonFloat(f))
	}
}

// jsonFloat returns a number as Python's json has it, with words for those that JSON lacks.
func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return FloatText(f)
}

func (w *jsonWriter) newline() {
	if !w.o.Lines {
		return
	}
	w.WriteByte('\n')
	for range w.depth {
		w.WriteString(w.o.Indent)
	}
}

func (w *jsonWriter) items(items []Value) error {
	if len(items) == 0 {
		w.WriteString("[]")
		return nil
	}
	if err := w.deeper(); err != nil {
		return err
	}
	w.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			w.WriteString(w.o.Item)
		}
		w.newline()
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.depth--
	w.newline()
	w.WriteByte(']')
	return nil
}

func (w *jsonWriter) dict(d *Dict) error {
	if w.forms == tagged && !w.plainKeys(d) {
		return w.pairs(d)
	}
	if d.Len() == 0 {
		w.WriteString("{}")
		return nil
	}
	if err := w.deeper(); err != nil {
		return err
	}
	order, err := w.order(d)
	if err != nil {
		return err
	}
	w.WriteByte('{')
	for n := range d.Len() {
		i := n
		if order != nil {
			i = order[n]
		}
		if n > 0 {
			w.WriteString(w.o.Item)
		}
		w.newline()
		if err := w.entry(d, i); err != nil {
			return err
		}
	}
	w.depth--
	w.newline()
	w.WriteByte('}')
	return nil
}

// entry writes a key of d and what it holds.
func (w *jsonWriter) entry(d *Dict, i int) error {
	k, v := d.Kept(i)
	name, err := w.key(k)
	if err != nil {
		return err
	}
	w.text(name)
	w.WriteString(w.o.Colon)
	l, ok := v.(*Lines)
	switch {
	case !ok:
		return w.value(v)
	case w.short && l.Write(w.Buffer, d, name):
		return nil
	}
	return w.value(l.List())
}

// pairs writes a dict that no object can stand for.
func (w *jsonWriter) pairs(d *Dict) error {
	if err := w.deeper(); err != nil {
		return err
	}
	w.WriteString(`{"!d":[`)
	for i := range d.Len() {
		if i > 0 {
			w.WriteByte(',')
		}
		k, v := d.At(i)
		if err := w.items([]Value{k, v}); err != nil {
			return err
		}
	}
	w.depth--
	w.WriteString("]}")
	return nil
}

// plainKeys reports whether the keys of a dict can stand for themselves: what others said, and could be a template or
// an expression, keeps its kind.
func (w *jsonWriter) plainKeys(d *Dict) bool {
	for i := 0; i < d.Len(); i++ {
		k, _ := d.Kept(i)
		s, ok := Text(k)
		_, written := k.(Source)
		_, said := k.(UnsafeStr)
		if (said || w.source && !written) && !Inert(s) {
			return false
		}
		if !ok || d.Len() == 1 && s != "" && s[0] == '!' {
			return false
		}
	}
	return true
}

// key returns a key as text.
func (w *jsonWriter) key(k Value) (string, error) {
	if s, ok := Text(k); ok {
		return s, nil
	}
	if w.python() {
		s, err := jsonKey(k)
		if err != nil && w.forms == shown {
			return w.inWords(k), nil
		}
		return s, err
	}
	return w.inWords(k), nil
}

// jsonKey returns a key as Python's json writes it.
func jsonKey(k Value) (string, error) {
	switch k := k.(type) {
	case None:
		return "null", nil
	case Bool:
		return strconv.FormatBool(bool(k)), nil
	case Int, *BigInt:
		return ToStr(k)
	case Float:
		return jsonFloat(float64(k)), nil
	}
	s, ok := Text(k)
	if !ok {
		return "", TypeErrorf("keys must be str, int, float, bool or None, not %s", k.Type())
	}
	return s, nil
}

// order returns the order in which the entries are written, nil if as they stand.
func (w *jsonWriter) order(d *Dict) ([]int, error) {
	if !w.o.Sorted {
		return nil, nil
	}
	at := make([]Value, d.Len())
	for i := range at {
		at[i] = Int(i)
	}
	keys := d.Keys()
	if Sort(at, false, keys) != nil {
		for i, k := range keys {
			s, err := w.key(k)
			if err != nil {
				return nil, err
			}
			keys[i] = Str(s)
		}
		if err := Sort(at, false, keys); err != nil {
			return nil, err
		}
	}
	order := make([]int, len(at))
	for i, n := range at {
		order[i] = int(n.(Int))
	}
	return order, nil
}

func (w *jsonWriter) text(s string) {
	if w.python() {
		writePythonText(w.Buffer, s, w.o.ASCII)
		return
	}
	WriteJSONText(w.Buffer, s)
}

// writePythonText writes a text as Python's json does.
func writePythonText(b *bytes.Buffer, s string, ascii bool) {
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	done := 0
	for i := 0; i < len(s); {
		if plain(s[i]) && s[i] != 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		escape := ""
		switch {
		case r != utf8.RuneError || n > 1:
			escape = pythonEscape(r, ascii)
		case ascii:
			escape = fmt.Sprintf(`\udc%02x`, s[i])
		}
		if escape != "" {
			b.WriteString(s[done:i])
			b.WriteString(escape)
			done = i + n
		}
		i += n
	}
	b.WriteString(s[done:])
	b.WriteByte('"')
}

// pythonEscape returns how a letter stands in the JSON that Python writes, "" if as it is.
func pythonEscape(r rune, ascii bool) string {
	switch {
	case r < utf8.RuneSelf && strings.IndexByte("\"\\\n\r\t\b\f", byte(r)) >= 0:
		escape, _ := escapeOf(string(r))
		return escape
	case r < ' ' || ascii && r >= 0x7f && r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	case ascii && r >= 0x10000:
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return ""
}

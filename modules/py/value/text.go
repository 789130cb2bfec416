package value

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// NativeStr is text that a filter such as string or to_json made on purpose: it is never taken for a literal.
type NativeStr string

// Type names Ansible's class.
func (NativeStr) Type() string { return "NativeJinjaText" }

// NativeUnsafeStr is NativeStr that must never be taken for a template either.
type NativeUnsafeStr string

// Type names Ansible's class.
func (NativeUnsafeStr) Type() string { return "NativeJinjaUnsafeText" }

// TextLike is s as text of the safety of v: unsafe if v is, else plain.
func TextLike(v Value, s string) Value {
	if IsUnsafe(v) {
		return UnsafeStr(s)
	}
	return Str(s)
}

// SameText is s as a function gives it that returns its argument when there is nothing to change: v itself if that is
// text from YAML and equal to s, else TextLike.
func SameText(v Value, s string) Value {
	switch t := v.(type) {
	case Source:
		if t.text == s {
			return v
		}
	case Omit:
		if s == OmitText() {
			return v
		}
	}
	return TextLike(v, s)
}

// TextSize returns the size of the text among the values, for who is going to join them.
func TextSize(vs []Value) int {
	n := 0
	for _, v := range vs {
		switch v := v.(type) {
		case Str:
			n += len(v)
		case Source:
			n += len(v.text)
		case Rendered:
			n += len(v.text)
		case UnsafeStr:
			n += len(v)
		default:
			n += 8
		}
	}
	return n
}

// maxNesting is how deep values may be nested to be printed or compared.
const maxNesting = 500

// ToStr is Python's str(v).
func ToStr(v Value) (string, error) {
	switch v := v.(type) {
	case Str:
		return string(v), nil
	case Source:
		return v.text, nil
	case Rendered:
		return v.text, nil
	case UnsafeStr:
		return string(v), nil
	case NativeStr:
		return string(v), nil
	case NativeUnsafeStr:
		return string(v), nil
	case Markup:
		return string(v), nil
	case Omit:
		return OmitText(), nil
	case Int:
		return strconv.FormatInt(int64(v), 10), nil
	case *Vault:
		return v.Open()
	case *Undefined:
		return "", v.Use()
	case Printer:
		return v.Str(), nil
	}
	return Repr(v)
}

// Plain is v as Python prints it, for people: where that is not possible, why.
func Plain(v Value) string {
	s, err := ToStr(v)
	if err != nil {
		return err.Error()
	}
	return s
}

// Repr is Python's repr(v).
func Repr(v Value) (string, error) {
	p := printer{}
	if err := p.repr(v, 0); err != nil {
		return "", err
	}
	return p.b.String(), nil
}

type printer struct {
	b    strings.Builder
	open []Value // lists and dicts that are being printed
}

// inside reports whether v is being printed already, and notes that it is.
func (p *printer) inside(v Value) bool {
	for _, o := range p.open {
		if o == v {
			return true
		}
	}
	p.open = append(p.open, v)
	return false
}

func (p *printer) done() { p.open = p.open[:len(p.open)-1] }

func (p *printer) repr(v Value, depth int) error {
	if depth > maxNesting {
		return Errorf("RecursionError", "maximum recursion depth exceeded while getting the repr of an object")
	}
	if p.b.Len() > MaxText {
		return TooLong()
	}
	switch v := v.(type) {
	case None:
		p.b.WriteString("None")
	case Bool:
		if v {
			p.b.WriteString("True")
		} else {
			p.b.WriteString("False")
		}
	case Int:
		p.b.WriteString(strconv.FormatInt(int64(v), 10))
	case *BigInt:
		return p.bigInt(v)
	case Float:
		p.b.WriteString(FloatText(float64(v)))
	case Markup:
		p.b.WriteString("Markup(" + ReprText(string(v)) + ")")
	case Bytes:
		p.b.WriteString(ReprBytes(string(v)))
	case *List:
		if p.inside(v) {
			p.b.WriteString("[...]")
			return nil
		}
		defer p.done()
		return p.items("[", v.Items, "]", depth)
	case *Tuple:
		if len(v.Items) == 1 {
			return p.items("(", v.Items, ",)", depth)
		}
		return p.items("(", v.Items, ")", depth)
	case *Dict:
		if p.inside(v) {
			p.b.WriteString("{...}")
			return nil
		}
		defer p.done()
		return p.dict(v, depth)
	case *View:
		return p.items(v.Kind+"([", v.Items(), "])", depth)
	case Range:
		p.rangeObject(v)
	case *Undefined:
		return p.undefined(v)
	case *Vault:
		s, err := v.Open()
		p.b.WriteString(ReprText(s))
		return err
	default:
		return p.object(v, depth)
	}
	return nil
}

// MaxDigits is how many decimal digits of an int Python converts from and to text.
const MaxDigits = 4300

func (p *printer) bigInt(v *BigInt) error {
	const bitsPerDigit = 4 // more than there are: what is longer need not be counted
	text := ""
	if v.Int.BitLen() <= MaxDigits*bitsPerDigit {
		text = v.Int.String()
	}
	if text == "" || len(strings.TrimPrefix(text, "-")) > MaxDigits {
		return ValueErrorf(
			"Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the "+
				"limit", MaxDigits)
	}
	p.b.WriteString(text)
	return nil
}

func (p *printer) undefined(v *Undefined) error {
	if v.Lenient {
		p.b.WriteString("Undefined")
		return nil
	}
	p.b.WriteString("AnsibleUndefined(hint=None, obj=missing, name=" + ReprText(v.Name) + ")")
	return nil
}

func (p *printer) rangeObject(r Range) {
	fmt.Fprintf(&p.b, "range(%d, %d", r.Start, r.Stop)
	if r.Step != 1 {
		fmt.Fprintf(&p.b, ", %d", r.Step)
	}
	p.b.WriteByte(')')
}

func (p *printer) object(v Value, depth int) error {
	if s, ok := Text(v); ok {
		p.b.WriteString(ReprText(s))
		return nil
	}
	switch v := v.(type) {
	case Printer:
		p.b.WriteString(v.Repr())
	case *Namespace:
		p.b.WriteString("<Namespace ")
		if err := p.dict(&v.Attrs, depth); err != nil {
			return err
		}
		p.b.WriteByte('>')
	case Mapping:
		d, err := PrintedDict(v)
		if err != nil {
			return err
		}
		return p.dict(d, depth)
	case *Func:
		if v.Self != nil {
			fmt.Fprintf(&p.b, "<built-in method %s of %s object at 0x7f0000000000>", v.Name, v.Self.Type())
			break
		}
		p.b.WriteString("<built-in function " + v.Name + ">")
	default:
		p.b.WriteString("<" + v.Type() + " object>")
	}
	return nil
}

func (p *printer) items(open string, items []Value, closing string, depth int) error {
	p.b.WriteString(open)
	for i, item := range items {
		if i > 0 {
			p.b.WriteString(", ")
		}
		if err := p.repr(item, depth+1); err != nil {
			return err
		}
	}
	p.b.WriteString(closing)
	return nil
}

func (p *printer) dict(d *Dict, depth int) error {
	p.b.WriteByte('{')
	for i := 0; i < d.Len(); i++ {
		k, v := d.At(i)
		if err := p.pair(i, k, v, depth); err != nil {
			return err
		}
	}
	p.b.WriteByte('}')
	return nil
}

func (p *printer) pair(i int, k, v Value, depth int) error {
	if i > 0 {
		p.b.WriteString(", ")
	}
	if err := p.repr(k, depth+1); err != nil {
		return err
	}
	p.b.WriteString(": ")
	return p.repr(v, depth+1)
}

// NotUTF8 returns what Python says of the first text in a value that it cannot encode, since bytes in it are no
// UTF-8; "" if there is none.
func NotUTF8(v Value) string {
	if s, ok := Text(v); ok {
		return notUTF8(s)
	}
	if items, ok := Items(v); ok {
		for _, item := range items {
			if why := NotUTF8(item); why != "" {
				return why
			}
		}
	}
	d, ok := v.(*Dict)
	if !ok {
		return ""
	}
	for i := range d.Len() {
		k, item := d.At(i)
		for _, x := range []Value{k, item} {
			if why := NotUTF8(x); why != "" {
				return why
			}
		}
	}
	return ""
}

func notUTF8(s string) string {
	if utf8.ValidString(s) {
		return ""
	}
	at := 0
	for rest := s; rest != ""; at++ {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("'utf-8' codec can't encode character '\\udc%02x' in position %d: surrogates not allowed",
				rest[0], at)
		}
		rest = rest[size:]
	}
	return ""
}

// Readable returns a text for people: a question mark stands for each byte that is no UTF-8.
func Readable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b.WriteByte('?')
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

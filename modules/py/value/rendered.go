package value

// Rendered is text that a template of source text alone has made at level 2.14. It is rendered again where a variable
// of it is read, as in ansible-core 2.14. Only the Templar (Again) and the reader of plans make it: what Go makes (Str)
// and what hosts say is data.
type Rendered struct {
	text string
	// final: it is never taken for a literal of Python, as NativeStr.
	final bool
}

// Type returns the name of the class of Python: that of Str, or of NativeStr.
func (r Rendered) Type() string {
	if r.final {
		return NativeStr("").Type()
	}
	return Str("").Type()
}

// Text returns the text itself.
func (r Rendered) Text() string { return r.text }

// IsFinal reports whether it is never taken for a literal.
func (r Rendered) IsFinal() bool { return r.final }

// Braced returns an expression as the template that is nothing else.
func (r Rendered) Braced() Rendered { return Rendered{text: "{{" + r.text + "}}"} }

// Plain returns what it is within an expression: text as any other.
func (r Rendered) Plain() Value {
	if r.final {
		return NativeStr(r.text)
	}
	return Str(r.text)
}

// Equal is for those who compare.
func (r Rendered) Equal(other Rendered) bool { return r == other }

// Again returns the result of a template of source text alone at level 2.14, in which nothing is unsafe: text in it
// may be a template. Lists and dicts are copied where something in them changes; keys are none.
func Again(v Value) Value {
	switch v := v.(type) {
	case Str:
		return Rendered{text: string(v)}
	case NativeStr:
		return Rendered{text: string(v), final: true}
	case *List:
		if items, changed := againItems(v.Items); changed {
			return &List{Items: items}
		}
	case *Tuple:
		if items, changed := againItems(v.Items); changed {
			return &Tuple{Items: items, Names: v.Names}
		}
	case *Lines:
		if text := v.Text(); text != nil && IsUnsafe(text) {
			return v
		}
		return v.kept(Again)
	case *Dict:
		return againDict(v)
	}
	return v
}

func againDict(d *Dict) *Dict {
	var out *Dict
	for i := range d.Len() {
		k, item := d.Kept(i)
		again := Again(item)
		if out == nil && !sameAgain(again, item) {
			out = d.upTo(i)
		}
		if out != nil {
			out.SetKey(k, again)
		}
	}
	if out == nil {
		return d
	}
	return out
}

func againItems(items []Value) (out []Value, changed bool) {
	for i, item := range items {
		again := Again(item)
		if out == nil && !sameAgain(again, item) {
			out = append(make([]Value, 0, len(items)), items[:i]...)
		}
		if out != nil {
			out = append(out, again)
		}
	}
	return out, out != nil
}

// sameAgain reports whether Again has given a value itself.
func sameAgain(after, before Value) bool {
	switch before.(type) {
	case Str, NativeStr:
		return false
	case *List, *Tuple, *Dict, *Lines:
		return after == before
	}
	return true
}

package value

import "fmt"

// MaxSent is how many levels of JSON a value may have to be sent. It is less than readers of JSON bear (maxJSONDepth,
// and Python's own): a result travels within other objects, and comes back within variables.
const MaxSent = 800

// Sendable says why a value cannot be sent as EncodeShort writes it, nil if it can. Whoever asks it before a result
// counts needs no second opinion where the result is written.
func Sendable(v Value) error { return (&sending{strict: true}).value(v, 0) }

// Showable is Sendable for PlainJSON, which has a text for everything: only what is nested too deeply cannot be shown.
func Showable(v Value) error { return (&sending{}).value(v, 0) }

// sending looks whether a value can be sent: strict as what it is, else as text where need be.
type sending struct{ strict bool }

// value looks at a value within so many levels of JSON.
func (s *sending) value(v Value, depth int) error {
	if depth > MaxSent {
		return fmt.Errorf("it is nested more than %d levels deep", MaxSent)
	}
	switch v := v.(type) {
	case nil, None, Bool, Int, *BigInt, Float, Bytes, Moment, *Vault, *Lines:
		return nil
	case *List:
		return s.items(v.Items, depth+1)
	case *Tuple:
		return s.items(v.Items, depth+2) // {"!t": [...]}
	case *Dict:
		return s.dict(v, depth)
	case *Later:
		return s.value(v.Value(), depth)
	case *Class:
		return nil
	case Range, *View:
		items, err := Elements(v)
		if err != nil && s.strict {
			return err
		}
		return s.items(items, depth+1)
	}
	_, text := Text(v)
	_, prints := v.(Printer)
	switch u, undefined := v.(*Undefined); {
	case text, prints, !s.strict:
		return nil
	case undefined && u.Use() != nil:
		return u.Use()
	}
	return fmt.Errorf("it holds a value of type %s", v.Type())
}

func (s *sending) items(items []Value, depth int) error {
	for _, item := range items {
		if err := s.value(item, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *sending) dict(d *Dict, depth int) error {
	inner := depth + 1
	if s.strict && d.Len() > 0 && !(&jsonWriter{forms: tagged}).plainKeys(d) {
		inner = depth + 3 // {"!d": [[key, value], ...]}
	}
	for i := range d.Len() {
		k, v := d.Kept(i)
		if err := s.value(k, inner); err != nil {
			return err
		}
		if err := s.value(v, inner); err != nil {
			return err
		}
	}
	return nil
}

package mask

import (
	"encoding/json"
	"fmt"

	"hark/modules/py/value"
)

// Value returns v with secrets hidden in all its texts, keys and numbers; it returns v itself if that holds none. Keys
// that become the same get numbers. Lines of stdout and stderr are taken from the text after hiding, since a secret may
// go over several.
func (m *Masker) Value(v value.Value) value.Value {
	return m.ValueBut(v, func(string) bool { return false })
}

// ValueBut is Value, but leaves entries of some keys unchanged.
func (m *Masker) ValueBut(v value.Value, keep func(key string) bool) value.Value {
	if m == nil || !m.known.Load() {
		return v
	}
	shown, _ := (&walk{m, keep}).value(v)
	return shown
}

// JSON is Value for JSON.
func (m *Masker) JSON(raw json.RawMessage) json.RawMessage {
	if !m.Holds(raw) {
		return raw
	}
	v, err := value.Decode(raw, value.KindStr)
	if err != nil {
		return raw
	}
	return value.PlainJSON(m.Value(v))
}

// walk goes through a value.
type walk struct {
	*Masker
	keep func(key string) bool
}

// value returns Value, and whether anything was hidden.
func (m *walk) value(v value.Value) (shown value.Value, hidden bool) {
	switch v := v.(type) {
	case *value.Dict:
		return m.dict(v)
	case *value.List:
		items, hidden := m.items(v.Items)
		if !hidden {
			return v, false
		}
		return value.NewList(items...), true
	case *value.Tuple:
		items, hidden := m.items(v.Items)
		if !hidden {
			return v, false
		}
		return value.NewTuple(items...), true
	case value.Bool:
		return v, false
	}
	if !value.IsText(v) && !value.IsNumber(v) {
		return v, false
	}
	text := value.Printed(v)
	masked := m.Text(text)
	if masked == text {
		return v, false
	}
	return value.UnsafeStr(masked), true
}

func (m *walk) items(items []value.Value) (out []value.Value, hidden bool) {
	out = make([]value.Value, len(items))
	for i, x := range items {
		var h bool
		out[i], h = m.value(x)
		hidden = hidden || h
	}
	return out, hidden
}

func taken(d *value.Dict, key value.Value) bool {
	_, is := d.GetKey(key)
	return is
}

// lined are the keys of lines with those of their text.
var lined = map[string]string{"stdout_lines": "stdout", "stderr_lines": "stderr"}

func (m *walk) dict(d *value.Dict) (out value.Value, hidden bool) {
	masked := value.NewDict()
	d.Each(func(k, v value.Value) bool {
		if name, ok := value.Text(k); ok && m.keep(name) {
			return masked.SetKey(k, v)
		}
		key, h := m.value(k)
		plain := key
		for n := 2; taken(masked, key); n++ {
			key = value.UnsafeStr(fmt.Sprintf("%s (%d)", value.Printed(plain), n))
		}
		shown, h2 := v, false
		if text := linesOf(d, k, v); text == nil {
			shown, h2 = m.value(v)
		} else if own, h := m.value(text); h {
			shown, h2 = value.NewLines(own).List(), true
		}
		hidden = hidden || h || h2
		return masked.SetKey(key, shown)
	})
	if !hidden {
		return d, false
	}
	return masked, true
}

// linesOf returns the text beside v whose lines v has, nil if there is none.
func linesOf(d *value.Dict, k, v value.Value) value.Value {
	name, _ := value.Text(k)
	text, found := d.Get(lined[name])
	if lined[name] == "" || !found || !value.IsText(text) || !value.Same(v, value.NewLines(text).List()) {
		return nil
	}
	return text
}

package value

import (
	"fmt"
	"math"
	"testing"
)

// nested are values of so many levels, by what they are made of.
func nested(n int) map[string]Value {
	wrap := map[string]func(Value) Value{
		"list":      func(v Value) Value { return NewList(v) },
		"tuple":     func(v Value) Value { return NewTuple(v) },
		"mapping":   func(v Value) Value { return DictOf("a", v) },
		"odd keys":  func(v Value) Value { d := NewDict(); d.SetKey(Int(1), v); return d },
		"said keys": func(v Value) Value { d := NewDict(); d.SetKey(UnsafeStr("{{ a }}"), v); return d },
		"later":     func(v Value) Value { return NewList(NewLater(func() Value { return v }, nil)) },
	}
	out := map[string]Value{}
	for name, f := range wrap {
		v := Value(Int(1))
		for range n {
			v = f(v)
		}
		out[name] = v
	}
	return out
}

// What is judged as fit to be sent can be written, and be read again within what it travels in.
func TestWhatCanBeSentIsWrittenAndRead(t *testing.T) {
	for _, n := range []int{1, 100, 250, 266, 267, 300, 399, 400, 401, 700, 799, 800, 801, 899, 900, 901, 2000} {
		for name, v := range nested(n) {
			t.Run(fmt.Sprintf("%d of %s", n, name), func(t *testing.T) {
				travels := DictOf("r", NewList(DictOf("ansible_failed_result", DictOf("results", v))))
				if Sendable(v) == nil {
					raw, err := EncodeShort(travels)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := Decode(raw, KindUnsafe); err != nil {
						t.Error(err)
					}
				}
				if Showable(v) == nil {
					if _, err := Decode(PlainJSON(travels), KindUnsafe); err != nil {
						t.Error(err)
					}
				}
				if n <= 250 && Sendable(v) != nil || n > MaxSent && Showable(v) == nil {
					t.Errorf("judged as %v and %v", Sendable(v), Showable(v))
				}
			})
		}
	}
}

func TestWhatHasNoFormIsNotSent(t *testing.T) {
	self := NewList()
	self.Items = append(self.Items, self)
	undefined := &Undefined{Msg: "'x' is undefined"}
	for _, c := range []struct {
		v              Value
		sent, isToShow bool
	}{
		{Float(math.NaN()), true, true},
		{Float(math.Inf(-1)), true, true},
		{Bytes("\xff\xfe"), true, true},
		{UnsafeStr("\xff\xfe"), true, true},
		{self, false, false},
		{undefined, false, true},
		{&Undefined{Lenient: true}, false, true},
		{NewLater(func() Value { return undefined }, nil), false, true},
	} {
		v := DictOf("a", c.v)
		if sent := Sendable(v) == nil; sent != c.sent {
			t.Errorf("%s: sent %v", c.v.Type(), sent)
		}
		if shown := Showable(v) == nil; shown != c.isToShow {
			t.Errorf("%s: shown %v", c.v.Type(), shown)
		}
		if _, err := EncodeShort(v); (err == nil) != c.sent {
			t.Errorf("%s: written with %v", c.v.Type(), err)
		}
	}
}

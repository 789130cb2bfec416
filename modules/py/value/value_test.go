package value_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"hark/modules/py/value"
)

func repr(t *testing.T, v value.Value) string {
	t.Helper()
	s, err := value.Repr(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFloatsPrintAsPython(t *testing.T) {
	tenth := 0.1
	for f, want := range map[float64]string{
		1: "1.0", 1e15: "1000000000000000.0", 1e16: "1e+16", 1e-4: "0.0001", 1e-5: "1e-05", tenth + 0.2: "0.30000000000000004",
		math.Inf(1): "inf", math.Inf(-1): "-inf", 123456789.123: "123456789.123", math.Copysign(0, -1): "-0.0", 5e-324: "5e-324",
	} {
		if got := value.FloatText(f); got != want {
			t.Errorf("%g: %s, want %s", f, got, want)
		}
	}
}

func TestTextPrintsAsPython(t *testing.T) {
	for s, want := range map[string]string{
		"a": "'a'", "it's": `"it's"`, `"`: `'"'`, `'"`: `'\'"'`, "\n\t\\": `'\n\t\\'`, "\x00\x7f": `'\x00\x7f'`, "é☃": "'é☃'",
		"\u00a0": `'\xa0'`, "\u200b": `'\u200b'`, "😀": "'😀'", "\U000e0001": `'\U000e0001'`,
	} {
		if got := value.ReprText(s); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

func TestContainersThatHoldThemselvesPrint(t *testing.T) {
	l := value.NewList(value.Int(1))
	d := value.NewDict()
	l.Items = append(l.Items, d)
	d.Set("l", l)
	if got := repr(t, l); got != "[1, {'l': [...]}]" {
		t.Error(got)
	}
	if got := repr(t, d); got != "{'l': [1, {...}]}" {
		t.Error(got)
	}
	other := value.NewList(value.Int(1), d)
	if _, err := value.Equal(l, other); err == nil {
		t.Log("equal without an end")
	}
	if !value.HasUnsafe(l) {
		t.Error("what has no end counts as unsafe")
	}
}

func TestEqualKeysAreOneKey(t *testing.T) {
	d := value.NewDict()
	for i, k := range []value.Value{value.Int(1), value.Float(1), value.Bool(true), value.Str("a"), value.SourceText("a"), value.UnsafeStr("a"),
		value.NewTuple(value.Int(1)), value.NewTuple(value.Float(1)), value.None{}, value.Bytes("a")} {
		if !d.SetKey(k, value.Int(i)) {
			t.Fatal(k)
		}
	}
	if got := repr(t, d); got != "{1: 2, 'a': 5, (1,): 7, None: 8, b'a': 9}" {
		t.Error(got)
	}
	if d.SetKey(value.NewList(), value.None{}) {
		t.Error("a list is no key")
	}
	if !d.Delete(value.Str("a")) || d.Delete(value.Str("a")) || d.Len() != 4 {
		t.Error(repr(t, d))
	}
	if v, ok := d.GetKey(value.NewTuple(value.Int(1))); !ok || v != value.Value(value.Int(7)) {
		t.Error(v, ok)
	}
}

func TestIntsGrow(t *testing.T) {
	largest := value.Int(math.MaxInt64)
	for _, c := range []struct {
		op   string
		a, b value.Value
		want string
	}{
		{"+", largest, value.Int(1), "9223372036854775808"},
		{"-", value.Int(math.MinInt64), value.Int(1), "-9223372036854775809"},
		{"*", largest, value.Int(2), "18446744073709551614"},
		{"*", value.Int(math.MinInt64), value.Int(-1), "9223372036854775808"},
		{"//", value.Int(math.MinInt64), value.Int(-1), "9223372036854775808"},
		{"%", value.Int(math.MinInt64), value.Int(-1), "0"},
		{"-", &value.BigInt{Int: new(big.Int).Lsh(big.NewInt(1), 63)}, value.Int(1), "9223372036854775807"},
		{"**", value.Int(2), value.Int(64), "18446744073709551616"},
		{"**", value.Int(-1), &value.BigInt{Int: new(big.Int).Lsh(big.NewInt(1), 70)}, "1"},
		{"/", value.Int(1), value.Int(3), "0.3333333333333333"},
	} {
		v, err := value.Binary(c.op, c.a, c.b)
		if err != nil {
			t.Error(c, err)
			continue
		}
		if got := repr(t, v); got != c.want {
			t.Errorf("%s %s %s: %s, want %s", repr(t, c.a), c.op, repr(t, c.b), got, c.want)
		}
		if b, ok := v.(*value.BigInt); ok && b.Int.IsInt64() {
			t.Errorf("%s is not normal", b.Int)
		}
	}
}

func TestSlices(t *testing.T) {
	l := value.NewList()
	for i := range 5 {
		l.Items = append(l.Items, value.Int(i))
	}
	n := func(i int64) value.Value { return value.Int(i) }
	for _, c := range []struct {
		start, stop, step value.Value
		want              string
	}{
		{nil, nil, nil, "[0, 1, 2, 3, 4]"},
		{n(1), n(3), nil, "[1, 2]"},
		{n(-2), nil, nil, "[3, 4]"},
		{nil, nil, n(-1), "[4, 3, 2, 1, 0]"},
		{n(3), n(0), n(-2), "[3, 1]"},
		{n(10), nil, nil, "[]"},
		{nil, n(-10), nil, "[]"},
		{n(-10), n(10), n(100), "[0]"},
		{nil, nil, n(math.MaxInt64), "[0]"},
		{nil, nil, n(math.MinInt64), "[4]"},
		{value.None{}, value.None{}, n(2), "[0, 2, 4]"},
	} {
		v, err := value.Slice(l, c.start, c.stop, c.step)
		if err != nil {
			t.Error(c, err)
			continue
		}
		if got := repr(t, v); got != c.want {
			t.Errorf("%v: %s", c, got)
		}
	}
	if _, err := value.Slice(l, nil, nil, n(0)); err == nil {
		t.Error("a step of 0")
	}
}

func TestRangesCount(t *testing.T) {
	for _, c := range []struct {
		r    value.Range
		want int64
	}{
		{value.Range{Start: 0, Stop: 10, Step: 3}, 4}, {value.Range{Start: 10, Stop: 0, Step: -3}, 4}, {value.Range{Start: 5, Stop: 5, Step: 1}, 0},
		{value.Range{Start: 0, Stop: -5, Step: 1}, 0}, {value.Range{Start: math.MinInt64, Stop: math.MaxInt64, Step: 1 << 62}, 4},
	} {
		if got := c.r.Len(); got != c.want {
			t.Errorf("%v: %d", c.r, got)
		}
	}
}

func TestWalkSeesWhatIsAppended(t *testing.T) {
	l := value.NewList(value.Int(1))
	it, err := value.Iterate(l)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, ok := it.Next(); ok; _, ok = it.Next() {
		if n++; n < 3 {
			l.Items = append(l.Items, value.Int(n))
		}
	}
	if n != 3 {
		t.Error(n)
	}
}

func TestUndefinedIsStrict(t *testing.T) {
	u := value.UndefinedName("x")
	uses := map[string]func() error{
		"truth":    func() error { _, err := value.Truth(u); return err },
		"str":      func() error { _, err := value.ToStr(u); return err },
		"len":      func() error { _, err := value.Len(u); return err },
		"elements": func() error { _, err := value.Elements(u); return err },
		"equal":    func() error { _, err := value.Equal(value.Int(1), u); return err },
		"compare":  func() error { _, err := value.Compare("<", u, value.Int(1)); return err },
		"add":      func() error { _, err := value.Binary("+", value.Int(1), u); return err },
		"minus":    func() error { _, err := value.Unary("-", u); return err },
		"in":       func() error { _, err := value.Contains(u, value.Int(1)); return err },
		"key":      func() error { return value.Hashable(u) },
		"format":   func() error { _, err := value.Format(u, ""); return err },
	}
	for name, use := range uses {
		if err := use(); err == nil || err.Error() != "'x' is undefined" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v, ok, err := value.Item(u, value.Str("a")); v != value.Value(u) || !ok || err != nil {
		t.Error("access does not chain", v, ok, err)
	}
	lenient := &value.Undefined{Lenient: true}
	if s, err := value.ToStr(lenient); s != "" || err != nil {
		t.Error(s, err)
	}
	if ok, err := value.Truth(lenient); ok || err != nil {
		t.Error(ok, err)
	}
}

func TestArgumentErrorsArePythons(t *testing.T) {
	one := []value.Value{value.Int(1)}
	three := []value.Value{value.Int(1), value.Int(2), value.Int(3)}
	kw := func(name string) []value.Kwarg { return []value.Kwarg{{Name: name, V: value.Int(1)}} }
	for _, c := range []struct {
		args   value.Args
		params []value.Param
		want   string
	}{
		{value.Args{}, []value.Param{value.Req("a")}, "f() missing 1 required positional argument: 'a'"},
		{value.Args{}, []value.Param{value.Req("a"), value.Req("b"), value.Req("c")}, "f() missing 3 required positional arguments: 'a', 'b', and 'c'"},
		{value.Args{Pos: three}, []value.Param{value.Req("a")}, "f() takes 2 positional arguments but 4 were given"},
		{value.Args{Pos: three}, []value.Param{value.Opt("a", value.Int(1))}, "f() takes from 1 to 2 positional arguments but 4 were given"},
		{value.Args{Pos: one, Kw: kw("a")}, []value.Param{value.Req("a")}, "f() got multiple values for argument 'a'"},
		{value.Args{Kw: kw("z")}, []value.Param{value.Opt("a", value.Int(1))}, "f() got an unexpected keyword argument 'z'"},
	} {
		if _, err := c.args.Bind("f", c.params...); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	got, err := (&value.Args{Pos: one, Kw: kw("c")}).Bind("f", value.Req("a"), value.Opt("b", value.Str("d")), value.Opt("c", value.None{}))
	if err != nil || repr(t, value.NewList(got...)) != "[1, 'd', 1]" {
		t.Error(got, err)
	}
}

func TestBoolsAreAnsiblesWords(t *testing.T) {
	for v, want := range map[value.Value]string{
		value.Bool(true): "true", value.Int(0): "false", value.Float(1): "true", value.Int(2): "none", value.None{}: "none",
		value.SourceText(" Yes "): "true", value.Str("T"): "true", value.UnsafeStr("off"): "false", value.Str("1.0"): "none", value.Str(""): "none",
	} {
		got := "none"
		if b, ok := value.AsBool(v); ok {
			got = fmt.Sprint(b)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", value.PrintedRepr(v), got, want)
		}
	}
}

// A filter in Python gets what can be walked over as a list.
func TestWhatOnlyTemplatesHaveIsSentAsAList(t *testing.T) {
	d := value.NewDict()
	d.Set("a", value.Int(1))
	for want, v := range map[string]value.Value{
		"[0,2]":            value.Range{Stop: 4, Step: 2},
		`["a"]`:            &value.View{Dict: d, Kind: "dict_keys"},
		"[1]":              &value.View{Dict: d, Kind: "dict_values"},
		`[{"!t":["a",1]}]`: &value.View{Dict: d, Kind: "dict_items"},
	} {
		if raw, err := value.Encode(v); string(raw) != want || err != nil {
			t.Errorf("%s is sent as %s (%v)", want, raw, err)
		}
	}
	if _, err := value.Encode(value.Range{Stop: value.MaxItems + 1, Step: 1}); err == nil {
		t.Error("a range without end is sent")
	}
}

// moment is a date for tests.
type moment struct{ value.Printer }

func (moment) Type() string { return "date" }
func (moment) Str() string  { return "2020-01-02 03:04:05" }
func (moment) ISO() string  { return "2020-01-02T03:04:05" }

func TestDatesAreSentAsSuch(t *testing.T) {
	raw, err := value.Encode(value.NewList(moment{}))
	if err != nil || string(raw) != `[{"!m":"2020-01-02 03:04:05"}]` {
		t.Fatalf("sent as %s, %v", raw, err)
	}
	made, err := value.DecodeMoments(raw, value.KindStr, func(text string) value.Value { return value.Str("made of " + text) })
	if err != nil || value.PrintedRepr(made) != "['made of 2020-01-02 03:04:05']" {
		t.Errorf("made %s, %v", value.PrintedRepr(made), err)
	}
	if plain, err := value.Decode(raw, value.KindStr); err != nil || value.PrintedRepr(plain) != "['2020-01-02 03:04:05']" {
		t.Errorf("without dates %s, %v", value.PrintedRepr(plain), err)
	}
	if given, err := value.ToGo(moment{}); err != nil || given != "2020-01-02T03:04:05" {
		t.Errorf("modules get %v, %v", given, err)
	}
	if got := string(value.PlainJSON(moment{})); got != `"2020-01-02T03:04:05"` {
		t.Errorf("results have %s", got)
	}
}

func TestWhatHoldsItselfIsNotSent(t *testing.T) {
	l, d := value.NewList(value.Int(1)), value.NewDict()
	l.Items = append(l.Items, value.NewTuple(l), l)
	d.SetKey(value.Int(1), d)
	for _, v := range []value.Value{l, d} {
		var refused *value.Error
		if raw, err := value.Encode(v); !errors.As(err, &refused) || refused.Type != "RecursionError" {
			t.Errorf("%d bytes, %v", len(raw), err)
		}
	}
}
func TestPlainJSONIsPlain(t *testing.T) {
	d := value.NewDict()
	d.Set("float", value.Float(1))
	d.Set("inf", value.Float(math.Inf(1)))
	d.Set("big", &value.BigInt{Int: new(big.Int).Lsh(big.NewInt(1), 70)})
	d.Set("tuple", value.NewTuple(value.UnsafeStr("<&>"), value.None{}))
	d.SetKey(value.Int(1), value.Bytes("b"))
	want := `{"float":1.0,"inf":"inf","big":1180591620717411303424,"tuple":["<&>",null],"1":"b"}`
	if got := string(value.PlainJSON(d)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

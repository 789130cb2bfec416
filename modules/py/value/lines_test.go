package value_test

import (
	"testing"

	"hark/modules/py/value"
)

// result is one of a command.
func result(stdout string) *value.Dict {
	d := value.NewDict()
	d.Set("stdout", value.UnsafeStr(stdout))
	d.Set("rc", value.Int(0))
	d.Set("stdout_lines", value.NewLines(value.UnsafeStr(stdout)))
	return d
}

func short(t *testing.T, v value.Value) string {
	t.Helper()
	raw, err := value.EncodeShort(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestLinesAreAListForWhoeverReads(t *testing.T) {
	d := result("a\n{{ b }}\n\nc")
	want := "{'stdout': 'a\\n{{ b }}\\n\\nc', 'rc': 0, 'stdout_lines': ['a', '{{ b }}', '', 'c']}"
	if got, err := value.Repr(d); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	v, _ := d.Get("stdout_lines")
	if _, unsafe := v.(*value.List).Items[1].(value.UnsafeStr); !unsafe {
		t.Error("a line of unsafe text is not unsafe")
	}
	full, err := value.Encode(d)
	if want := `{"stdout":{"!u":"a\n{{ b }}\n\nc"},"rc":0,"stdout_lines":[{"!u":"a"},{"!u":"{{ b }}"},{"!u":""},{"!u":"c"}]}`; err != nil || string(full) != want {
		t.Errorf("encoded as %s, %v", full, err)
	}
}

func TestLinesTravelWithoutTheirText(t *testing.T) {
	want := `{"stdout":{"!u":"a\nb"},"rc":0,"stdout_lines":{"!l":"stdout"}}`
	raw := short(t, result("a\nb"))
	if raw != want {
		t.Fatalf("got %s, want %s", raw, want)
	}
	back, err := value.Decode([]byte(raw), value.KindSource)
	if err != nil {
		t.Fatal(err)
	}
	if again := short(t, value.Unsafe(value.Clone(back))); again != want {
		t.Errorf("what came back is sent as %s", again)
	}
	if same, err := value.Equal(back, result("a\nb")); err != nil || !same {
		t.Errorf("%v came back", back)
	}
}

func TestLinesThatWereChangedTravelAsTheyAre(t *testing.T) {
	appended := result("a")
	v, _ := appended.Get("stdout_lines")
	l := v.(*value.List)
	l.Items = append(l.Items, value.Str("b"))
	other := result("a")
	other.Set("stdout", value.Str("x"))
	alone := result("a")
	alone.Delete(value.Str("stdout"))
	for want, d := range map[string]*value.Dict{
		`{"stdout":{"!u":"a"},"rc":0,"stdout_lines":[{"!u":"a"},"b"]}`: appended,
		`{"stdout":"x","rc":0,"stdout_lines":[{"!u":"a"}]}`:            other,
		`{"rc":0,"stdout_lines":[{"!u":"a"}]}`:                         alone,
	} {
		if got := short(t, d); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLinesOfNoTextAreRefused(t *testing.T) {
	for _, raw := range []string{`{"rc":0,"stdout_lines":{"!l":"stdout"}}`, `{"stdout":1,"stdout_lines":{"!l":"stdout"}}`} {
		if v, err := value.Decode([]byte(raw), value.KindStr); err == nil {
			t.Errorf("%s is read as %v", raw, v)
		}
	}
}

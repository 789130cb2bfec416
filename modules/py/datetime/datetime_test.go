package datetime_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hark/modules/py/datetime"
	"hark/modules/py/value"
)

// TestAnswersArePythons compares with testdata/times.txt, which times.py writes.
func TestAnswersArePythons(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "times.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), "\t", 3)
		given, ok := strings.CutPrefix(strings.TrimSuffix(parts[1], "'"), "'")
		if !ok {
			t.Fatal(lines.Text())
		}
		got := value.ReprText(answer(t, parts[0], given))
		if got != parts[2] {
			t.Errorf("%s %s: %s, want %s", parts[0], given, got, parts[2])
		}
	}
}

func answer(t *testing.T, kind, given string) string {
	switch kind {
	case "strptime":
		format, text, _ := strings.Cut(given, "|")
		d, err := datetime.Strptime(text, format, nil)
		if err != nil {
			return "ERR " + err.Error()
		}
		return d.Str()
	case "delta":
		return delta(t, given)
	}
	at, rest, _ := strings.Cut(given, " ")
	d := moment(t, at)
	switch kind {
	case "strftime":
		return datetime.Strftime(d.Time, false, rest)
	case "str":
		return d.Str()
	case "repr":
		return d.Repr()
	}
	v, err := value.Binary("-", d, moment(t, rest))
	if err != nil {
		t.Fatal(err)
	}
	return printed(t, v)
}

func moment(t *testing.T, s string) *datetime.DateTime {
	d, err := time.Parse("2006-01-02T15:04:05", s)
	if err != nil {
		t.Fatal(err)
	}
	return datetime.Naive(d)
}

func printed(t *testing.T, v value.Value) string {
	s, err := value.ToStr(v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func delta(t *testing.T, given string) string {
	var n [3]int64
	for i, f := range strings.Fields(given) {
		v, err := value.Number(f)
		if err != nil {
			t.Fatal(err)
		}
		n[i], _ = value.AsInt(v)
	}
	d := &datetime.TimeDelta{Days: n[0], Seconds: n[1], Micros: n[2]}
	total, _ := d.Attr("total_seconds")
	secs, err := total.(*value.Func).Fn(&value.Args{})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{d.Str(), d.Repr(), printed(t, secs)}
	for _, op := range []string{"*", "/"} {
		v, err := value.Binary(op, d, value.Int(2))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, printed(t, v))
	}
	return strings.Join(out, "|")
}

func TestTimesAddUp(t *testing.T) {
	d := moment(t, "2024-02-28T12:00:00")
	day := &datetime.TimeDelta{Days: 1}
	later, err := value.Binary("+", day, d)
	if err != nil || printed(t, later) != "2024-02-29 12:00:00" {
		t.Error(later, err)
	}
	if n, err := value.Compare("<", d, later); n != -1 || err != nil {
		t.Error(n, err)
	}
	if ok, err := value.Equal(d, moment(t, "2024-02-28T12:00:00")); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, err := value.Binary("+", d, d); err == nil {
		t.Error("two datetimes have no sum")
	}
	if _, err := value.Binary("+", d, &datetime.TimeDelta{Days: 999_999_999}); err == nil {
		t.Error("no error beyond the year 9999")
	}
}

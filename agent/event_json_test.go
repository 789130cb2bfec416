package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// largeEvent is the size of an event that is large.
const largeEvent = 256 << 10

// Every field of an event is written, as encoding/json writes it, also where its text is not plain.
func TestNoFieldOfAnEventIsForgotten(t *testing.T) {
	for _, text := range []string{"plain", "\"quoted\" \\ <b>&\n\u2028 \xff ä", ""} {
		e := wire.Event{Outcome: &wire.Outcome{Status: wire.OK, Result: []byte(`{"a":1}`)}, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
		v := reflect.ValueOf(&e).Elem()
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.String:
				f.SetString(text)
			case reflect.Uint64:
				f.SetUint(7)
			case reflect.Int64:
				f.SetInt(int64(time.Minute))
			case reflect.Bool:
				f.SetBool(text != "")
			case reflect.Struct, reflect.Pointer: // set above
			default:
				t.Fatalf("this test has nothing for %s", v.Type().Field(i).Name)
			}
		}
		got, err := eventJSON(&e)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if !sameJSON(t, got, plain) {
			t.Errorf("%q: %s, want %s", text, got, plain)
		}
	}
}

// sameJSON reports whether two texts say the same.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	for text, into := range map[*[]byte]*any{&a: &x, &b: &y} {
		if err := json.Unmarshal(*text, into); err != nil {
			t.Fatalf("%s: %v", *text, err)
		}
	}
	return reflect.DeepEqual(x, y)
}

// A large event says what a small one of the same kind would, on one line.
func TestLargeEventsAreEncodedAsSmallOnes(t *testing.T) {
	vars := value.NewDict()
	r := value.NewDict()
	r.Set("stdout", value.UnsafeStr(strings.Repeat("a \"<line>\"\n", largeEvent/10)))
	r.Set("stdout_lines", value.NewLines(value.UnsafeStr(strings.Repeat("a \"<line>\"\n", largeEvent/10))))
	vars.Set("r", r)
	raw, err := json.Marshal(map[string]any{"stdout": strings.Repeat("x\n", largeEvent)})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]*wire.Outcome{
		"result":    {Status: wire.OK, Result: raw},
		"variables": {Status: wire.Changed, Result: []byte("{}"), Effects: []wire.Effect{{Layer: "set", Vars: plan.Dict{Dict: vars}}, {Layer: "facts", Clear: true}}},
		"both":      {Status: wire.OK, NoLog: true, Result: raw, Effects: []wire.Effect{{Layer: "set", Host: "b", Vars: plan.Dict{Dict: vars}}}, Notify: []string{"x"}},
		"small":     {Status: wire.OK, Result: []byte("{}")},
	} {
		e := wire.Event{Run: "r", Play: "p", Host: "a", Seq: 7, Kind: wire.Done, Step: "1", Name: "}", Outcome: o, Next: "2"}
		got, err := eventJSON(&e)
		if err != nil || strings.Contains(string(got), "\n") {
			t.Fatalf("%s: %v, or it has several lines", name, err)
		}
		plain, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var is, want map[string]any
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := json.Unmarshal(plain, &want); err != nil {
			t.Fatal(err)
		}
		dropEmpty(is)
		dropEmpty(want)
		if !reflect.DeepEqual(is, want) {
			t.Errorf("%s: it says something else", name)
		}
	}
}

// dropEmpty takes fields away that say nothing.
func dropEmpty(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case map[string]any:
			dropEmpty(v)
			if len(v) == 0 {
				delete(m, k)
			}
		case []any:
			for _, item := range v {
				if one, ok := item.(map[string]any); ok {
					dropEmpty(one)
				}
			}
		}
	}
}

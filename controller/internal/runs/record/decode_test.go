package record

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"hark/agent/wire"
)

// results are lines as they are written.
func results() []Line {
	return []Line{
		{Kind: KindDone, After: 12, Task: 3, Host: 40, Status: wire.Changed, Took: 1500,
			Result: json.RawMessage(`{"changed":true,"stdout":"a \"b\" {"}`)},
		{Kind: KindItem, Task: 1, Host: 1, Status: wire.StatusFailed, Result: json.RawMessage(`{"msg":"no","results":[]}`)},
		{Kind: KindDone, Task: 1, Host: 2, Status: wire.OK},
		{Kind: KindDone, Task: 1, Host: 2, Status: wire.StatusUnreachable, Outcome: &Outcome{Ignored: true}},
		{Kind: KindRetry, Task: 1, Host: 2, Status: wire.StatusFailed},
		{Kind: KindSaid, Text: "x"},
		{Kind: KindHost, Host: 7, Name: "web7"},
	}
}

// TestLinesAreReadAsTheyAreWritten, the quick way and the other, and those that are fine are passed over alike.
func TestLinesAreReadAsTheyAreWritten(t *testing.T) {
	for _, l := range results() {
		text, err := AppendLine(nil, &l)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeLine(text)
		if err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
		read, passed := Place{N: 5, Last: time.Unix(100, 0)}, Place{N: 5, Last: time.Unix(100, 0)}
		if _, err := read.Line(text); err != nil {
			t.Fatal(err)
		}
		fine := passed.Fine(text)
		if want := (l.Kind == KindDone || l.Kind == KindItem) && !bad(&l); fine != want {
			t.Errorf("%s is fine: %v", text, fine)
		}
		if fine && (read.N != passed.N || !read.Last.Equal(passed.Last)) {
			t.Errorf("behind %s stands %+v, or %+v", text, read, passed)
		}
	}
}

// FuzzDecodeLine holds the quick way to encoding/json.
func FuzzDecodeLine(f *testing.F) {
	for _, l := range results() {
		text, _ := AppendLine(nil, &l)
		f.Add(text)
	}
	f.Add([]byte(`{"k":"done","s":"ok","r":null, "a":01}`))
	f.Add([]byte(`{"k":"done","s":"ok","r":{"a":}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, ok := plainResult(text)
		if !ok {
			return
		}
		var want Line
		if err := json.Unmarshal(text, &want); err != nil || !reflect.DeepEqual(l, want) {
			t.Errorf("%q is read as %+v, want %+v, %v", text, l, want, err)
		}
	})
}

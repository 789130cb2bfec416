package value

import (
	"strings"
	"testing"
)

func TestEntriesThatAreMadeLaterAreSent(t *testing.T) {
	d := NewDict()
	d.SetKey(Str("files"), NewLater(func() Value { return NewList(Str("a.yml"), Int(2)) }, None{}))
	d.SetKey(Str("n"), NewLater(func() Value { return Int(1) }, None{}))
	got, err := Encode(d)
	if want := `{"files":["a.yml",2],"n":1}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if short := ShortSize(d); short < len(got) {
		t.Errorf("the size is %d and no %d", short, len(got))
	}
	d.SetKey(Str("n"), NewLater(func() Value { return &Undefined{Name: "nope", Msg: "'nope' is undefined"} }, None{}))
	if _, err := Encode(d); err == nil || !strings.Contains(err.Error(), "nope") {
		t.Errorf("an undefined entry was sent: %v", err)
	}
}

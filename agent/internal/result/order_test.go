package result

import (
	"testing"

	"hark/modules/py/value"
)

func TestKeysComeInTheirOrder(t *testing.T) {
	v, err := value.Decode([]byte(`{"a":1,"b":[{"x":1,"c":2,"y":3}],"c":{"z":1,"b":2},"json":{"c":1,"b":2}}`), value.KindStr)
	if err != nil {
		t.Fatal(err)
	}
	Order(v, map[string]int{"c": 0, "b": 1, "y": 2})
	want := "{'c': {'b': 2, 'z': 1}, 'b': [{'c': 2, 'y': 3, 'x': 1}], 'a': 1, 'json': {'c': 1, 'b': 2}}"
	if got, err := value.Repr(v); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

package jmespath

import (
	"testing"

	"hark/modules/py/value"
)

// What queries answer is held by playbook/jinja/testdata/answers/community_filters.jsonl, against Python's jmespath.

func TestValuesComeInTheOrderOfTheirDict(t *testing.T) {
	d := value.NewDict()
	for i, k := range []string{"z", "a", "m", "b"} {
		d.Set(k, value.Int(i))
	}
	for range 20 {
		got, err := Search("*", d)
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := value.Repr(got); s != "[0, 1, 2, 3]" {
			t.Fatalf("got %s", s)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"a[?b > `1`].c | [0]", "{x: a, y: [b, c]}", "sort_by(@, &n)[::-1]", "*.a[]",
		"\"q\".b || !c && 'raw'", "[1:2:", "a[?"} {
		f.Add(s)
	}
	in, err := value.Decode([]byte(`{"a": [{"b": 2, "c": {"n": 1}}, {"b": "x"}], "n": null}`), value.KindStr)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, expression string) {
		_, _ = Search(expression, in)
	})
}

package pyyaml

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hark/modules/py/value"
)

// eachLine gives every line of a file of JSON lines, as values.
func eachLine(t *testing.T, file string, f func(d *value.Dict)) {
	t.Helper()
	r, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for s := bufio.NewScanner(r); s.Scan(); n++ {
		v, err := JSON(s.Text(), value.KindSource)
		if err != nil {
			t.Fatal(err)
		}
		f(v.(*value.Dict))
	}
	if n == 0 {
		t.Fatalf("%s is empty", file)
	}
}

func text(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	if v == nil {
		return ""
	}
	s, _ := value.Text(v)
	return s
}

// TestDumpIsPyYAMLs compares with what yaml.dump wrote (testdata/regen.py).
func TestDumpIsPyYAMLs(t *testing.T) {
	eachLine(t, "testdata/dump.jsonl", func(d *value.Dict) {
		style, _ := d.Get("style")
		in, _ := d.Get("value")
		o := DumpOptions{Flow: FlowLeaves, Unicode: true}
		for _, k := range style.(*value.Dict).Keys() {
			key, _ := value.Text(k)
			v, _ := style.(*value.Dict).Get(key)
			option(&o, key, v)
		}
		got, err := Dump(in, o)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(text(d, "want"), got); diff != "" {
			s, _ := value.Repr(style)
			t.Errorf("%s (-want +got):\n%s", s, diff)
		}
	})
}

func option(o *DumpOptions, key string, v value.Value) {
	yes := v == value.Bool(true)
	switch key {
	case "default_flow_style":
		o.Flow = map[bool]Flow{true: FlowAlways, false: FlowNever}[yes]
	case "indent":
		o.Indent = int(v.(value.Int))
	case "width":
		o.Width = int(v.(value.Int))
	case "allow_unicode":
		o.Unicode = yes
	case "sort_keys":
		o.Unsorted = !yes
	case "explicit_start":
		o.Start = yes
	case "explicit_end":
		o.End = yes
	case "default_style":
		s, _ := value.Text(v)
		o.Style = s[0]
	}
}

// TestLoadIsAnsibles compares values and errors with those of Ansible's loader (testdata/regen.py).
func TestLoadIsAnsibles(t *testing.T) {
	o := Options{Text: value.KindSource, Tag: func(tag string, n Tagged) (value.Value, bool, error) {
		switch tag {
		case "!vault":
			if !n.Scalar {
				return nil, true, errors.New("expected a scalar node, but found sequence")
			}
			return &value.Vault{Cipher: n.Text}, true, nil
		case "!unsafe":
			v, err := n.Plain()
			return unsafe(v), true, err
		}
		return nil, false, nil
	}}
	eachLine(t, "testdata/load.jsonl", func(d *value.Dict) {
		in := text(d, "text")
		v, jsonErr := JSON(in, value.KindSource)
		var err error
		if jsonErr != nil {
			var n *Node
			if n, err = Load([]byte(in), o); err == nil {
				v = n.Value
			}
		}
		got, want := "", text(d, "error")
		if err != nil {
			got = err.Error()
		} else if v != nil {
			got = plain(v)
			w, _ := d.Get("value")
			want = compact(w)
		}
		if want == "" {
			want = text(d, "error")
		}
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", in, got, want)
		}
	})
}

func unsafe(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, unsafe(item))
		}
		return out
	case value.Source:
		return value.UnsafeStr(v.Text())
	}
	return v
}

// compact writes a value of the test file, which is plain's, as JSON.
func compact(v value.Value) string {
	if v == nil {
		return "an error"
	}
	g, err := value.ToGo(v)
	if err != nil {
		return err.Error()
	}
	b, _ := json.Marshal(g)
	return string(b)
}

// plain writes a value with its types, as regen.py does.
func plain(v value.Value) string {
	b, _ := json.Marshal(shape(v))
	return string(b)
}

func shape(v value.Value) any {
	items := func(list []value.Value) []any {
		out := []any{}
		for _, item := range list {
			out = append(out, shape(item))
		}
		return out
	}
	switch v := v.(type) {
	case *value.List:
		return map[string]any{"list": items(v.Items)}
	case *value.Tuple:
		return map[string]any{"tuple": items(v.Items)}
	case *value.Dict:
		pairs := []any{}
		v.Each(func(k, x value.Value) bool { pairs = append(pairs, []any{shape(k), shape(x)}); return true })
		return map[string]any{"dict": pairs}
	case value.Bytes:
		return map[string]any{"bytes": hex.EncodeToString(v)}
	case *value.Vault:
		return map[string]any{"vault": v.Cipher}
	case value.UnsafeStr:
		return map[string]any{"unsafe": string(v)}
	}
	if s, ok := value.Text(v); ok {
		return map[string]any{"text": s}
	}
	s, err := value.Repr(v)
	if err != nil {
		s = err.Error()
	}
	return map[string]any{"repr": s}
}

func TestAliasesCannotExplode(t *testing.T) {
	doc := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		doc += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	if _, err := Load([]byte(doc), Options{}); err == nil {
		t.Error("a document of billions of values was read")
	}
	doc = "b0: &b0 {x: 1}\n"
	for i := 1; i < 30; i++ {
		doc += fmt.Sprintf("b%d: &b%d {<<: [*b%d, *b%d]}\n", i, i, i-1, i-1)
	}
	if _, err := Load([]byte(doc), Options{}); err == nil {
		t.Error("merges without end were followed")
	}
}

func TestAliasesShareTheirValue(t *testing.T) {
	n, err := Load([]byte("a: &x {b: 1}\nc: *x\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Get("a").Value != n.Get("c").Value {
		t.Error("an alias is not the value it names")
	}
	out, err := Dump(n.Value, DumpOptions{})
	if want := "a: &id001\n  b: 1\nc: *id001\n"; err != nil || out != want {
		t.Errorf("dumped as %q (%v), want %q", out, err, want)
	}
}

func TestPlacesAreThoseOfTheText(t *testing.T) {
	n, err := Load([]byte("# c\n- a: 1\n  bb: [x, {y: z}]\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	inner := n.Items[0].Get("bb").Items[1].Get("y")
	if want := (Mark{Line: 3, Column: 15}); inner.Mark != want {
		t.Errorf("z stands at %v, want %v", inner.Mark, want)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"a: 1\n", "- [x, {y: 'z'}]", "a: &x\n  <<: *x\n", "? |\n  a\n: >-\n  b\n",
		"a: !!binary aGk=", "\t- a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		nodes, err := LoadAll([]byte(s), Options{Text: value.KindSource})
		if err != nil {
			return
		}
		for _, n := range nodes {
			out, err := Dump(n.Value, DumpOptions{Unicode: true})
			if err != nil {
				continue // bytes as keys and the like
			}
			if _, err := Load([]byte(out), Options{}); err != nil {
				t.Errorf("%q was dumped as %q, which cannot be read: %v", s, out, err)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, 2.5e3, "x\u00e4", null, true]}`, `[NaN, -Infinity]`, `"\ud83d\ude00"`, `{"a":`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want any
		goErr := json.Unmarshal([]byte(s), &want)
		_, err := JSON(s, value.KindStr)
		if goErr == nil && err != nil {
			t.Errorf("%q is JSON but was refused: %v", s, err)
		}
	})
}

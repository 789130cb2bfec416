package value

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What JSON weighs is what its values take: no less than two thirds of that, and no more than three times.
func TestWeightIsWhatValuesTake(t *testing.T) {
	many := func(item string) string { return "[" + strings.Repeat(item+",", 60_000) + item + "]" }
	var keys, small, files strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&keys, `"key%d":%d,`, i, i)
		fmt.Fprintf(&small, `"key%d":{"a":"b"},`, i)
		fmt.Fprintf(&files, `{"path":"/usr/share/%d","mode":"0644","isdir":false,"size":%d,"mtime":1.5,"gr_name":"root"},`, i, i)
	}
	for name, text := range map[string]string{
		"empty lists": many("[]"), "empty mappings": many("{}"), "empty texts": many(`""`), "numbers": many("1"),
		"large numbers": many("123456789"), "floats": many("1.5"), "lists of one": many("[1]"), "nulls": many("null"),
		"mappings of one": many(`{"a":1}`), "words": many(`"hello world"`), "tagged": many(`{"!u":"hello"}`),
		"a long text": `"` + strings.Repeat("x", 10<<20) + `"`, "keys": "{" + keys.String() + `"z":0}`,
		"mappings in a mapping": "{" + small.String() + `"z":0}`, "files": "[" + files.String() + "0]",
		"depth": "[" + strings.Repeat(strings.Repeat("[", 50)+strings.Repeat("]", 50)+",", 3_000) + "0]",
	} {
		var before, after runtime.MemStats
		raw := []byte(text)
		runtime.GC()
		runtime.ReadMemStats(&before)
		v, err := Decode(raw, KindUnsafe)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		takes, weighs := int(after.HeapAlloc-before.HeapAlloc), Weight(raw)
		if weighs < takes*2/3 || weighs > takes*3 {
			t.Errorf("%s takes %d bytes and weighs %d", name, takes, weighs)
		}
		runtime.KeepAlive(v)
		runtime.KeepAlive(raw)
	}
}

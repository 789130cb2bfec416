package inventory

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const manyHosts = 50_000

// writeMany writes an inventory of many hosts in a hundred groups, a variable each.
func writeMany(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	for g := range 100 {
		fmt.Fprintf(&b, "[group%d]\n", g)
		for h := range manyHosts / 100 {
			fmt.Fprintf(&b, "host-%d-%d.example.com ansible_host=10.%d.%d.%d rack=%d\n", g, h, g, h/250, h%250, h%7)
		}
	}
	b.WriteString("[web:children]\n")
	for g := range 50 {
		fmt.Fprintf(&b, "group%d\n", g)
	}
	path := filepath.Join(tb.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkFiftyThousandHosts loads and matches; it reports the memory that a host takes.
func BenchmarkFiftyThousandHosts(b *testing.B) {
	path := writeMany(b)
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		inv, err := Load(context.Background(), Options{Sources: []string{path}})
		if err != nil {
			b.Fatal(err)
		}
		for pattern, want := range map[string]int{"all": manyHosts, "web:!group3": manyHosts/2 - 500, "host-7-*": 500,
			"~host-[12]-.*": 1000} {
			hosts, err := inv.Match(pattern)
			if err != nil || len(hosts) != want {
				b.Fatalf("%s matches %d hosts (%v), want %d", pattern, len(hosts), err, want)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/manyHosts, "bytes/host")
		runtime.KeepAlive(inv)
	}
}

func BenchmarkVarsOfAHost(b *testing.B) {
	inv, err := Load(context.Background(), Options{Sources: []string{writeMany(b)}})
	if err != nil {
		b.Fatal(err)
	}
	h := inv.Host("host-7-7.example.com")
	for b.Loop() {
		if _, err := inv.Vars(h); err != nil {
			b.Fatal(err)
		}
	}
}

package play

import (
	"fmt"
	"testing"
)

// BenchmarkBatch is what a result in lockstep costs the driver of a batch, without wire and screen: a thousand hosts
// do ten steps.
func BenchmarkBatch(b *testing.B) {
	const hosts, steps = 1000, 10
	var names, words []string
	for i := range hosts {
		names = append(names, fmt.Sprintf("host%04d", i))
	}
	for i := range steps {
		words = append(words, fmt.Sprintf("%d!", i+1))
	}
	b.ReportAllocs()
	for b.Loop() {
		s := newStage(linear(words...), names...)
		s.theatre.room = steps + 2
		s.playWith(b, b.Context())
		if done := len(s.theatre.did()); done != hosts*steps {
			b.Fatalf("%d of %d results", done, hosts*steps)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(hosts*steps), "ns/result")
}

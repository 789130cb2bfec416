package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// giveBack returns memory to the host that large results have left behind, while sessions go on: the runtime would
// keep it for minutes, and an agent that does little for ever. It returns when ctx is over.
func giveBack(ctx context.Context) {
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if idleMemory() > tooMuchIdle {
			debug.FreeOSMemory()
		}
	}
}

// room is how many bytes may be made until the next collection where little is in use: half of what is in use, which
// is right where that is much, would have an agent at small tasks collect most of the time.
const room = 8 << 20

// collect sets how often is collected, again after each collection. Large results come and go: what is not needed
// must not double them.
func collect() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(percentFor(live[0].Value.Uint64()))
	runtime.AddCleanup(new([16]byte), func(struct{}) { collect() }, struct{}{})
}

// percentFor is by how much the heap may grow beyond what is in use. The runtime lets the smallest heaps grow to 4 MB
// times that, hence no more than 200.
func percentFor(live uint64) int {
	return int(min(max(room*100/max(live, 1), 50), 200))
}

// restFor is how long an agent has nothing to do before it gives its memory back: the next play often comes at once,
// and would take it again.
const restFor = 5 * time.Second

// memoryGoal is how many bytes the runtime works to stay within: collections come sooner near it. What is in use may
// take more.
const memoryGoal = 64 << 20

// tooMuchIdle is how many bytes may be held in addition to what was in use at the last collection.
const tooMuchIdle = 24 << 20

func idleMemory() uint64 {
	m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(m)
	held := m[0].Value.Uint64() + m[1].Value.Uint64() + m[2].Value.Uint64()
	return held - min(held, m[3].Value.Uint64())
}

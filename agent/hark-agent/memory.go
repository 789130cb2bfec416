package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// giveBack returns memory to the host that large results have left behind, while sessions go on: the runtime would keep it for minutes, and an
// agent that does little for ever. It returns when ctx is over.
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

// memoryGoal is how many bytes the runtime works to stay within: collections come sooner near it. What is in use may take more.
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

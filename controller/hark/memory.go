package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// room is how many bytes may be made at least until the next collection. Most commands need less and end soon, and
// would spend a third of their processor time on collecting.
const room = 32 << 20

// usual is by how many percent the heap may grow beyond what is in use, where that is more than room.
const usual = 100

// smallest is for how much in use the runtime reckons at least.
const smallest = 4 << 20

// sparing has nothing collected before there is something to collect, and then as always. Who has set GOGC has it,
// and so has a command that sets its own.
func sparing() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(usual)
		spare(usual)
	}
}

// spare sets how often is collected, again after each collection, as long as nobody else has changed what was set
// before.
func spare(before int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := percentFor(live[0].Value.Uint64())
	if had := debug.SetGCPercent(percent); had != before {
		debug.SetGCPercent(had)
		return
	}
	runtime.AddCleanup(new([16]byte), spare, percent)
}

// percentFor is by how much the heap may grow beyond what is in use.
func percentFor(live uint64) int {
	return int(max(room*100/max(live, smallest), usual))
}

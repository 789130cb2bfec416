package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// roomy is how many times as large as usual the heap may be before it is collected for the first time, in percent: from 4 MB on that is 32 MB. Most commands need less and end
// soon, and would spend a third of their processor time on collecting.
const roomy = 800

// sparing has nothing collected before there is something to collect, and then as always. Who has set GOGC has it.
func sparing() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(roomy)
	runtime.AddCleanup(new([16]byte), func(usual int) { // after the first collection, which is two minutes away at most
		if now := debug.SetGCPercent(usual); now != roomy {
			debug.SetGCPercent(now) // the command has its own
		}
	}, usual)
}

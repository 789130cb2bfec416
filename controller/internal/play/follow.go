package play

import (
	"strings"

	"hark/agent/wire"
	"hark/controller/internal/view"
)

// follow shows live output as it comes, each line after the name of its host: it waits for nobody's turn.
func (b *batchRun) follow(e wire.Event) {
	sep := " | "
	if e.Stderr {
		sep = " ! "
	}
	for line := range strings.Lines(e.Text) {
		b.r.messages.Print(view.NoColor, e.Host+sep+strings.TrimRight(line, "\r\n"))
	}
}

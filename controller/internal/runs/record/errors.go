package record

import (
	"fmt"
	"strings"
	"time"
)

// MissingError is a run that the store does not have.
type MissingError struct{ Run string }

func (e *MissingError) Error() string { return fmt.Sprintf("there is no run %q", e.Run) }

// AmbiguousError is a beginning that several runs have.
type AmbiguousError struct {
	Begin string
	Runs  []string
}

func (e *AmbiguousError) Error() string {
	const most = 5
	names := e.Runs
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", len(e.Runs)-most))
	}
	return fmt.Sprintf("%q is the beginning of %d runs: %s", e.Begin, len(e.Runs), strings.Join(names, ", "))
}

// LostError is a record that breaks off: its run ended without saying so.
type LostError struct {
	Run string
	// Last is when its last line was told, At the task that it stood at.
	Last time.Time
	At   string
}

func (e *LostError) Error() string {
	text := fmt.Sprintf("run %s was lost: nobody has written its record since %s", e.Run, e.Last.Format(time.RFC3339))
	if e.At != "" {
		text += fmt.Sprintf("; it stood at %q", e.At)
	}
	return text
}

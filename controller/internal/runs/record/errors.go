package record

import (
	"fmt"
	"strings"
	"time"
)

// MissingError says that the store does not have a run.
type MissingError struct{ Run string }

func (e *MissingError) Error() string { return fmt.Sprintf("there is no run %q", e.Run) }

// AmbiguousError says that several runs have a beginning.
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

// LostError says that a record breaks off: its run ended without an end in the record.
type LostError struct {
	Run string
	// Last is the time of its last line, At its last task.
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

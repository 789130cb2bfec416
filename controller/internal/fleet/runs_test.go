package fleet_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/console/consoletest"
	"hark/controller/internal/fleet"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
)

func tell(store *files.Store, run, name string, at time.Time) {
	r := consoletest.Begin(store, record.Head{Run: run, At: at, Name: name, Line: []string{"hark", "play", "site.yml"}})
	r.Play("p", "web1")
	r.Over(record.OK, 0)
}

// TestRunsOfHereAndElsewhereAreOneList: a run that is in both is listed once, as this machine knows it, whatever the
// filter, and what is missing is said.
func TestRunsOfHereAndElsewhereAreOneList(t *testing.T) {
	here, there := &files.Store{Dir: t.TempDir()}, &files.Store{Dir: t.TempDir()}
	base := time.Now().Add(-time.Hour).Truncate(time.Second)
	tell(here, "aaaa", "anna", base)
	tell(here, "both", "anna", base.Add(time.Minute))
	tell(there, "both", "bela", base.Add(time.Minute))
	tell(there, "cccc", "bela", base.Add(2*time.Minute))
	away := errors.New("the broker is away")
	for _, c := range []struct {
		name   string
		filter record.Filter
		far    record.Store
		err    error
		want   string
	}{
		{"all", record.Filter{}, there, nil, "cccc both aaaa"},
		{"by a person", record.Filter{By: "bela"}, there, nil, "cccc"},
		{"the last two", record.Filter{Limit: 2}, there, nil, "cccc both"},
		{"without a broker", record.Filter{}, nil, nil, "both aaaa"},
		{"with one that is away", record.Filter{}, nil, away, "both aaaa"},
	} {
		all, err := (&fleet.Runs{Local: here, Fleet: func(context.Context) (record.Store, error) { return c.far, c.err }}).List(t.Context(), c.filter)
		var runs []string
		for _, e := range all.Entries {
			runs = append(runs, e.Head.Run)
		}
		if got := strings.Join(runs, " "); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
		if said := len(all.Warnings) == 1 && strings.Contains(all.Warnings[0], away.Error()); said != (c.err != nil) {
			t.Errorf("%s: warnings %q", c.name, all.Warnings)
		}
	}
}

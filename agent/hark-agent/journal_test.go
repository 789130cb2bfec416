package main

import (
	"testing"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

func TestJournalGetsTextAndFields(t *testing.T) {
	type entry struct {
		Message  string
		Priority journal.Priority
		Vars     map[string]string
	}
	var got []entry
	log := zerolog.New(journalWriter{send: func(m string, p journal.Priority, vars map[string]string) error {
		got = append(got, entry{m, p, vars})
		return nil
	}})
	log.Info().Str("run", "r 1").Int64("seq", 9007199254740993).Msg("step finished")
	log.Error().Strs("no-go", []string{"a"}).Msg("refused")
	want := []entry{
		{`step finished run="r 1" seq=9007199254740993`, journal.PriInfo,
			map[string]string{"SYSLOG_IDENTIFIER": "hark-agent", "HARK_RUN": "r 1", "HARK_SEQ": "9007199254740993"}},
		{`refused no-go=["a"]`, journal.PriErr, map[string]string{"SYSLOG_IDENTIFIER": "hark-agent", "HARK_NO_GO": `["a"]`}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

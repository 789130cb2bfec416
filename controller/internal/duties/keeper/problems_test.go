package keeper

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"hark/controller/internal/duties/duty"
	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/notify"
)

// Keepers that are silent, runs that were lost and what expires are told once and, if they can be over, when they are;
// by a keeper that was started again too. What is found a single time is no problem yet.
func TestProblemsOutsideOfDutiesAreTold(t *testing.T) {
	silent := Problem{Key: "keeper/k2/silent", What: notify.Silent, Text: "the keeper k2 has said nothing"}
	lost := Problem{Key: "run/r1", What: notify.Lost, Text: "the run r1 was lost", Once: true}
	expiring := Problem{Key: "broker/certificate", What: notify.Expiring, Text: "the certificate ends"}
	for name, x := range map[string]struct {
		had   []dutystate.NotifiedState // told before the keeper was started
		tell  []notify.What             // nil is everything
		found func(minute int) []Problem
		want  []string
	}{
		"they come and go": {
			found: func(m int) []Problem {
				if m >= 2 && m < 6 {
					return []Problem{silent, lost, expiring}
				}
				return nil
			},
			want: []string{"expiring the certificate ends", "fixed resolved: the certificate ends",
				"fixed resolved: the keeper k2 has said nothing", "lost the run r1 was lost",
				"silent the keeper k2 has said nothing"},
		},
		"they were told before": {
			had: []dutystate.NotifiedState{{Key: silent.Key, What: "silent", Text: silent.Text},
				{Key: lost.Key, What: "lost", Text: lost.Text, Once: true}},
			found: func(m int) []Problem {
				if m < 6 {
					return []Problem{silent, lost}
				}
				return nil
			},
			want: []string{"fixed resolved: the keeper k2 has said nothing"},
		},
		"for a moment": {
			found: func(m int) []Problem {
				if m == 3 {
					return []Problem{silent}
				}
				return nil
			},
		},
		"nobody wants to know": {
			tell:  []notify.What{notify.Failed},
			found: func(int) []Problem { return []Problem{silent, lost, expiring} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				s := &shelf{own: dutystate.Words{Report: &dutystate.Report{At: begin, Notified: x.had}}}
				rules := duty.NotifyAll([]string{"nats:"})
				if x.tell != nil {
					rules.Tell = x.tell
				}
				ctx, cancel := context.WithTimeout(t.Context(), 12*time.Minute)
				defer cancel()
				told := &world{}
				err := New(Config{
					Tell:  func(_ context.Context, _, _ string, n Notice) { s.tell(told, n) },
					Store: s, Driver: s, Poll: time.Minute, Now: time.Now, Logger: zerolog.Nop(),
					Reached: func() bool { return true }, Keep: func([]string) {},
					Present: func(context.Context) ([]string, error) { return nil, nil },
					Plan:    func(context.Context) (Plan, error) { return Plan{Commit: "c1", Notify: rules}, nil },
					Affairs: func(context.Context) []Problem { return x.found(int(time.Since(begin) / time.Minute)) },
				}).Run(ctx)
				if err != nil {
					t.Fatal(err)
				}
				got := slices.DeleteFunc(strings.Split(told.texts(), "\n"), func(l string) bool { return l == "" })
				slices.Sort(got)
				if !slices.Equal(got, x.want) {
					t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(x.want, "\n"))
				}
			})
		})
	}
}

package files_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"hark/agent/wire"
	"hark/controller/internal/runs/compare"
	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/view"
)

// large is the record of a run of so many hosts and tasks, of whose results one in 20,000 failed. Times are as hosts
// take them, results as a command gives them.
func large(b *testing.B, s *files.Store, run string, hosts, tasks int, brief bool) {
	b.Helper()
	now, chance := day, rand.New(rand.NewPCG(1, 2))
	w := record.NewWriter(record.WriterOptions{Now: func() time.Time { return now },
		Failed: func(err error) { b.Error(err) }}, s.Sink())
	r := record.NewRecorder(w, record.Head{Run: run, At: day, Name: "anna", From: "anna@deploy1",
		Line: []string{"hark", "play", "site.yml"}}, record.RecorderOptions{Brief: brief, Facts: !brief})
	r.Begin()
	names := make([]string, hosts)
	for i := range names {
		names[i] = fmt.Sprintf("web%05d.example.org", i+1)
	}
	r.PlayStart(view.Play{Name: "web", ID: "0", Hosts: names, Strategy: "linear"})
	for i := range tasks {
		task := view.Task{ID: "1", Name: fmt.Sprintf("task %d", i), Action: "command", Place: fmt.Sprint("site.yml:", i)}
		r.TaskStart(task)
		for n, host := range names {
			took := time.Duration(chance.ExpFloat64() * float64(40*time.Millisecond))
			now = now.Add(time.Duration(chance.IntN(60)) * time.Microsecond)
			o := &wire.Outcome{Status: wire.Changed,
				Result: fmt.Appendf(nil,
					`{"changed": true, "cmd": ["systemctl", "is-active", "nginx"], "delta": "0:00:00.%06d", "end": "2026-11-22 `+
						`03:00:%02d.%06d", `+
						`"msg": "", "rc": 0, "start": "2026-11-22 03:00:00.%06d", "stderr": "", "stderr_lines": [], "stdout": "active", `+
						`"stdout_lines": ["active"]}`,
					took.Microseconds()%1e6, i%60, chance.IntN(1e6), chance.IntN(1e6))}
			if (i*hosts+n)%20_000 == 7 {
				o.Status, o.Result = wire.StatusFailed,
					[]byte(`{"changed": true, "msg": "non-zero return code", "rc": 3, "stdout": "inactive"}`)
			}
			r.Done(view.Result{Task: task, Host: host, Outcome: o, Start: now.Add(-took), End: now})
		}
	}
	r.End(record.Foot{Status: record.Failed, Exit: 2})
}

// spent reports the processor time of each turn since a moment: on a machine with other work it is what a turn costs.
func spent(b *testing.B, since time.Duration) {
	b.Helper()
	b.ReportMetric(float64((processorTime(b)-since).Milliseconds())/float64(b.N), "cpu-ms/op")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRecord is what a result costs: its time, and its bytes in the file.
func BenchmarkRecord(b *testing.B) {
	for _, brief := range []bool{true, false} {
		b.Run(map[bool]string{true: "brief", false: "full"}[brief], func(b *testing.B) {
			const hosts, tasks = 1000, 50
			s := &files.Store{Dir: b.TempDir()}
			before := processorTime(b)
			for i := 0; b.Loop(); i++ {
				large(b, s, fmt.Sprint("r", i), hosts, tasks, brief)
			}
			e, err := s.Find(b.Context(), "r0")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N*hosts*tasks), "cpu-ns/result")
			b.ReportMetric(float64(e.Bytes)/(hosts*tasks), "bytes/result")
		})
	}
}

// BenchmarkList reads a list of 10,000 runs, and finds the last twenty.
func BenchmarkList(b *testing.B) {
	s := &files.Store{Dir: b.TempDir()}
	const many = 10_000
	for i := range many {
		tiny(b, s, fmt.Sprint("r", i), day.Add(time.Duration(i)*time.Minute))
	}
	defer spent(b, processorTime(b))
	b.ResetTimer()
	for b.Loop() {
		found, err := s.List(b.Context(), record.Filter{})
		if err != nil || len(found.Entries) != many {
			b.Fatal(len(found.Entries), err)
		}
	}
}

// tiny is the record of a run of three hosts.
func tiny(b *testing.B, s *files.Store, run string, at time.Time) {
	b.Helper()
	sink := s.Sink()
	h := record.Head{V: record.Version, Run: run, At: at, Name: "anna", From: "anna@deploy1",
		Line: []string{"hark", "play", "-i", "inventory", "site.yml"}, Commit: "5b2f", Hosts: 3}
	f := record.Foot{At: at.Add(time.Minute), Status: record.OK,
		Hosts: map[record.HostState][]string{record.StateOK: {"web[1:3]"}},
		Tasks: []record.TaskSum{{Task: 1, Name: "a", OK: 3}}}
	if err := errors.Join(sink.Begin(h, packed(b, &record.Line{Kind: record.KindHead, Head: &h})),
		sink.End(f, packed(b, &record.Line{Kind: record.KindFoot, Foot: &f})), sink.Close()); err != nil {
		b.Fatal(err)
	}
}

// packed is a line as a frame.
func packed(b *testing.B, l *record.Line) []byte {
	b.Helper()
	text, err := record.AppendLine(nil, l)
	if err != nil {
		b.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	defer enc.Close()
	return enc.EncodeAll(text, nil)
}

// BenchmarkShowFailed tells the failed results of a run of two million again.
func BenchmarkShowFailed(b *testing.B) {
	s := &files.Store{Dir: b.TempDir()}
	large(b, s, "r", 10_000, 200, true)
	defer spent(b, processorTime(b))
	b.ResetTimer()
	for b.Loop() {
		bad := 0
		lines, err := s.Open(b.Context(), "r", record.Opening{Bad: true})
		if err != nil {
			b.Fatal(err)
		}
		d, err := view.NewDisplay(view.DisplayOptions{Out: io.Discard, Err: io.Discard})
		if err != nil {
			b.Fatal(err)
		}
		p := &record.Player{Listener: d, Only: &record.Choice{Bad: true}}
		v, err := view.New("default", view.Options{Display: d.ForViews(), Now: p.Now})
		if err != nil {
			b.Fatal(err)
		}
		p.View = view.All(v, counting{bad: &bad})
		if _, err := p.All(b.Context(), lines); err != nil || bad != 100 {
			b.Fatal(bad, err)
		}
		_ = lines.Close()
	}
}

// counting counts results.
type counting struct {
	view.Silent
	bad *int
}

func (c counting) Done(view.Result) { *c.bad++ }

// BenchmarkDiff compares two runs of 200,000 results each.
func BenchmarkDiff(b *testing.B) {
	s := &files.Store{Dir: b.TempDir()}
	large(b, s, "old", 10_000, 20, true)
	large(b, s, "new", 10_000, 20, true)
	defer spent(b, processorTime(b))
	b.ResetTimer()
	for b.Loop() {
		if r, err := compare.Runs(context.Background(), s, "old", "new"); err != nil || r.Hosts != 10_000 {
			b.Fatal(r, err)
		}
	}
}

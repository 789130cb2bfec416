package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sort"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"hark/controller/internal/duties/dutystate"
	"hark/controller/internal/fleet/streams"
	"hark/controller/internal/runs/record"
)

// metrics is the page for Prometheus about the list of runs and the fleet.
func (s fleetPages) metrics(w http.ResponseWriter, r *http.Request) error {
	list, err := s.list(r.Context(), "", "", "", time.Time{})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	s.runMetrics(&b, list.Entries)
	s.fleetMetrics(r.Context(), &b)
	s.needMetrics(r.Context(), &b)
	metrics.WriteProcessMetrics(&b)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	return writeTyped(w, b.Bytes())
}

// needMetrics are the figures of the front page.
func (s fleetPages) needMetrics(ctx context.Context, w io.Writer) {
	b := s.look(ctx)
	for _, kind := range needKinds() {
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_needs{kind=%q}", kind), uint64(b.Figures[kind]))
	}
	metrics.WriteGaugeUint64(w, "hark_fine", oneIf(b.Fine))
	if s.Endings == nil {
		return
	}
	for _, x := range s.Endings() {
		if !x.At.IsZero() {
			metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_expires_timestamp_seconds{what=%q}", x.What),
				uint64(x.At.Unix()))
		}
	}
}

func oneIf(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// endedRuns counts the runs that have ended: a run that leaves the record is counted still. It is safe for concurrent
// use.
type endedRuns struct {
	mu      sync.Mutex
	seen    map[string]bool   // the ended runs of the last listing; guarded by mu
	byState map[string]uint64 // guarded by mu
}

// count takes a listing of all runs, and gives how many have ended in each way.
func (c *endedRuns) count(entries []record.Entry) map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byState == nil {
		c.byState = map[string]uint64{"ok": 0, "failed": 0}
	}
	seen := make(map[string]bool, len(c.seen))
	for i := range entries {
		e := &entries[i]
		if e.State == record.Running {
			continue
		}
		seen[e.Head.Run] = true
		if !c.seen[e.Head.Run] {
			c.byState[signOf(e).Word]++
		}
	}
	for run := range c.seen { // one that cannot be listed for a while is not new when it can
		if !seen[run] && len(c.seen) < mostSeen {
			seen[run] = true
		}
	}
	c.seen = seen
	return maps.Clone(c.byState)
}

// mostSeen bounds what is remembered of runs that have left the record.
const mostSeen = 200_000

// fleetMetrics writes the metrics of what the broker knows; without a broker there are none.
func (s fleetPages) fleetMetrics(ctx context.Context, w io.Writer) {
	agents, err := s.agents(ctx)
	if errors.Is(err, errNoFleet) {
		return
	}
	up := uint64(1)
	if err != nil {
		up = 0
	}
	metrics.WriteGaugeUint64(w, "hark_broker_up", up)
	gauges := counter{}
	for _, a := range agents {
		gauges.add("hark_agents", "state", presence(a).Word)
		gauges.add("hark_agents_by_version", "version", a.Version)
		if a.Trouble != "" {
			gauges.add("hark_agents_in_trouble", "", "")
		}
		for reason, n := range a.RefusedLastHour {
			gauges.count("hark_agents_refused_lately", "reason", string(reason), n)
		}
		gauges.count("hark_jobs", "", "", uint64(max(0, a.JobCount)))
	}
	if err == nil {
		gauges.write(w, `hark_agents{state="present"}`, `hark_agents{state="absent"}`, "hark_agents_in_trouble", "hark_jobs")
	}
	s.streamMetrics(ctx, w)
	if words, err := s.words(ctx); err == nil {
		s.dutyMetrics(w, inForce(words.All))
	}
}

func (s fleetPages) streamMetrics(ctx context.Context, w io.Writer) {
	if s.Streams == nil {
		return
	}
	sizes, err := s.streams.get(s.Now, func() ([]streams.Size, error) { return s.Streams(ctx) })
	if err != nil {
		return // hark_broker_up says so
	}
	for _, x := range sizes {
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_stream_bytes{stream=%q}", x.Stream), x.Bytes)
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_stream_messages{stream=%q}", x.Stream), x.Messages)
	}
}

// dutyMetrics writes the states of hosts, and the time of each keeper's last message.
func (s fleetPages) dutyMetrics(w io.Writer, duties []dutyAt) {
	for _, d := range duties {
		name := fmt.Sprintf("duty=%q,keeper=%q", d.Name, d.Keeper)
		n := dutystate.Count(d.states, d.Name)
		for _, k := range dutystate.Kinds() {
			metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_duty_hosts{%s,state=%q}", name, k), uint64(n[k]))
		}
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_duty_paused{%s}", name), oneIf(d.Paused != nil))
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_duty_silent{%s}", name), oneIf(d.Late(s.Now())))
		if !d.Next.IsZero() {
			metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_duty_next_timestamp_seconds{%s}", name),
				uint64(d.Next.Unix()))
		}
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_duty_heard_timestamp_seconds{%s}", name), uint64(d.At.Unix()))
	}
}

func (s fleetPages) runMetrics(w io.Writer, entries []record.Entry) {
	gauges, bytes := counter{}, map[string]int64{}
	var took []float64
	last := map[string]time.Time{}
	for i := range entries {
		e := &entries[i]
		state := signOf(e).Word
		gauges.add("hark_runs", "state", state)
		bytes[e.Origin] += e.Bytes
		if e.Head.At.After(last[state]) {
			last[state] = e.Head.At
		}
		if e.Foot != nil {
			took = append(took, e.Foot.At.Sub(e.Head.At).Seconds())
		}
	}
	gauges.write(w, `hark_runs{state="running"}`, `hark_runs{state="ok"}`, `hark_runs{state="failed"}`,
		`hark_runs{state="lost"}`)
	for state, n := range s.ended.count(entries) {
		metrics.WriteCounterUint64(w, fmt.Sprintf("hark_runs_ended_total{state=%q}", state), n)
	}
	for state, at := range last {
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_last_run_timestamp_seconds{state=%q}", state), uint64(at.Unix()))
	}
	for origin, n := range bytes {
		metrics.WriteGaugeUint64(w, fmt.Sprintf("hark_record_bytes{store=%q}", origin), uint64(n))
	}
	quantiles(w, "hark_run_duration_seconds", took)
}

// quantiles writes a summary of values.
func quantiles(w io.Writer, name string, values []float64) {
	sort.Float64s(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		if n := len(values); n > 0 {
			metrics.WriteGaugeFloat64(w, fmt.Sprintf("%s{quantile=\"%g\"}", name, q), values[int(q*float64(n-1))])
		}
	}
	metrics.WriteGaugeFloat64(w, name+"_sum", sum)
	metrics.WriteGaugeUint64(w, name+"_count", uint64(len(values)))
}

// counter counts by the names that metrics have.
type counter map[string]uint64

func (c counter) add(name, label, value string) { c.count(name, label, value, 1) }

func (c counter) count(name, label, value string, n uint64) {
	if label != "" {
		name = fmt.Sprintf("%s{%s=%q}", name, label, value)
	}
	c[name] += n
}

// write writes the counts, and a 0 for each of always that was not counted.
func (c counter) write(w io.Writer, always ...string) {
	for _, name := range always {
		c[name] += 0
	}
	names := make([]string, 0, len(c))
	for name := range c {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		metrics.WriteGaugeUint64(w, name, c[name])
	}
}

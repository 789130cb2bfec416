package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sort"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"hark/controller/internal/record"
)

// metrics is the page for Prometheus: what the list of runs and the fleet come to at the moment.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	list, err := s.list(r.Context(), "", "", "", time.Time{})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.runMetrics(w, list.Entries)
	agents, err := s.agents(r.Context())
	if errors.Is(err, errNoFleet) {
		metrics.WriteProcessMetrics(w)
		return nil
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
	}
	if err == nil {
		gauges.write(w, `hark_agents{state="present"}`, `hark_agents{state="absent"}`, "hark_agents_in_trouble")
	}
	metrics.WriteProcessMetrics(w)
	return nil
}

func (s *Server) runMetrics(w io.Writer, entries []record.Entry) {
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
	gauges.write(w, `hark_runs{state="running"}`, `hark_runs{state="ok"}`, `hark_runs{state="failed"}`, `hark_runs{state="lost"}`)
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

func (c counter) add(name, label, value string) {
	if label != "" {
		name = fmt.Sprintf("%s{%s=%q}", name, label, value)
	}
	c[name]++
}

// write writes what was counted, and a 0 for each of always that was not.
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

package console

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// family is what Prometheus is told of a metric beside its values.
type family struct{ kind, help string }

// families are hark's own metrics. Every one that is written has an entry here: a test says so.
func families() map[string]family {
	return map[string]family{
		"hark_needs": {"gauge",
			"What needs somebody, by kind: the figures of the console's front page."},
		"hark_fine": {"gauge",
			"1 if nothing needs somebody, as the console's front page says."},
		"hark_runs": {"gauge", "Runs on record by state. Old runs leave the record."},
		"hark_runs_ended_total": {"counter",
			"Runs that have ended by how they ended: those on record when the console began, and those since."},
		"hark_run_duration_seconds":       {"summary", "How long the runs on record took."},
		"hark_last_run_timestamp_seconds": {"gauge", "When the last run on record of a state began."},
		"hark_record_bytes":               {"gauge", "Bytes that records of runs take, by where they are."},
		"hark_broker_up":                  {"gauge", "1 if the broker can be reached."},
		"hark_agents":                     {"gauge", "Agents by whether they are present."},
		"hark_agents_by_version":          {"gauge", "Agents by their version."},
		"hark_agents_in_trouble":          {"gauge", "Agents that say that something is wrong on their host."},
		"hark_agents_refused_lately":      {"gauge", "Messages that agents refused in the last hour, by reason."},
		"hark_jobs":                       {"gauge", "Jobs in the background on hosts."},
		"hark_stream_bytes":               {"gauge", "Bytes of the broker's streams."},
		"hark_stream_messages":            {"gauge", "Messages in the broker's streams."},
		"hark_duty_hosts":                 {"gauge", "Hosts of a duty by how they stand."},
		"hark_duty_paused":                {"gauge", "1 if a duty is paused."},
		"hark_duty_silent": {"gauge",
			"1 if the keeper of a duty has said nothing for longer than its interval."},
		"hark_duty_heard_timestamp_seconds": {"gauge", "When the keeper of a duty last said something."},
		"hark_duty_next_timestamp_seconds":  {"gauge", "When the next turn of a duty begins."},
		"hark_expires_timestamp_seconds":    {"gauge", "When something ends that somebody has to renew."},
	}
}

// familyOf returns the family of a metric of hark or of the process.
func familyOf(name string) family {
	if f, ok := families()[name]; ok {
		return f
	}
	f := family{"gauge", "Of the console's process, as Go and the kernel count it."}
	if strings.HasSuffix(name, "_total") {
		f.kind = "counter"
	}
	return f
}

// writeTyped writes metrics that were written without their types: the samples of each family stand together, below
// its HELP and TYPE. Samples of names that no rule of Prometheus allows are left out.
func writeTyped(w io.Writer, untyped []byte) error {
	samples := map[string][]string{}
	summaries := map[string]bool{}
	scan := bufio.NewScanner(bytes.NewReader(untyped))
	for scan.Scan() {
		line := scan.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		name := line[:max(0, strings.IndexAny(line, "{ "))]
		if strings.HasPrefix(line[len(name):], "{quantile=") {
			summaries[name] = true
		}
		samples[name] = append(samples[name], line)
	}
	if err := scan.Err(); err != nil {
		return err
	}
	for name := range summaries { // they come first, so that their sums and counts are found
		for _, part := range []string{"_sum", "_count"} {
			samples[name] = append(samples[name], samples[name+part]...)
			delete(samples, name+part)
		}
	}
	names := make([]string, 0, len(samples))
	for name := range samples {
		if f := familyOf(name); f.kind == "gauge" && (strings.HasSuffix(name, "_count") ||
			strings.HasSuffix(name, "_sum") || strings.HasSuffix(name, "_bucket")) {
			continue // of histograms in a form that Prometheus does not know
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		f := familyOf(name)
		if summaries[name] {
			f.kind = "summary"
		}
		if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s\n", name, f.help, name, f.kind,
			strings.Join(samples[name], "\n")); err != nil {
			return err
		}
	}
	return nil
}

// rank has hark's own metrics before those of the process.
func rank(name string) int {
	if strings.HasPrefix(name, "hark_") {
		return 0
	}
	return 1
}

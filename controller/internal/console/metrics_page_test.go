package console_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/controller/internal/console"
	"hark/controller/internal/runs/files"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

const (
	metricsPage = "../../../docs/metrics.md"
	metricsHead = "<!-- Made from what a console serves: go test ./controller/internal/console -run TestMetricsPage -update -->\n\n" +
		"# Metrics\n\nWhat `/metrics` of [the console](console.md#metrics) has, beside figures of its process.\n\n" +
		"| metric | labels | type | meaning |\n|---|---|---|---|\n"
)

// TestMetricsPageIsFresh: docs/metrics.md has each metric of hark's own, with its labels, as a console serves it.
func TestMetricsPageIsFresh(t *testing.T) {
	store := &files.Store{Dir: t.TempDir()}
	small(store, "k3f9aaaa")
	text := whole(t, store).page("/metrics", "Authorization", "Bearer scrape")
	ends := serveAs(t, store, func(c *console.Config) {
		c.Endings = func() []console.Ending {
			return []console.Ending{{What: "certificate", At: time.Now().AddDate(1, 0, 0)}}
		}
	})
	want := metricsHead + metricRows(text+"\n"+ends.page("/metrics", "Authorization", "Bearer scrape"))
	if *update {
		if err := os.WriteFile(metricsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(metricsPage); err != nil || string(got) != want {
		t.Errorf("docs/metrics.md is stale (%v); go test ./controller/internal/console -run TestMetricsPage -update makes it anew: "+
			"it has\n%s\nand should have\n%s", err, got, want)
	}
	if rows := strings.Count(want, "\n| `hark_"); rows < 20 {
		t.Errorf("%d metrics", rows)
	}
}

var labelName = regexp.MustCompile(`[{,](\w+)=`)

// metricRows returns a row of a table for each metric of hark's in a text for Prometheus, by name.
func metricRows(text string) string {
	help, kind, labels := map[string]string{}, map[string]string{}, map[string][]string{}
	name := ""
	for _, line := range strings.Split(text, "\n") {
		words := strings.SplitN(line, " ", 4)
		switch {
		case !strings.Contains(line, "hark_"):
		case strings.HasPrefix(line, "# HELP "):
			name, help[words[2]] = words[2], words[3]
		case strings.HasPrefix(line, "# TYPE "):
			kind[words[2]] = words[3]
		default:
			for _, m := range labelName.FindAllStringSubmatch(line, -1) {
				if !slices.Contains(labels[name], m[1]) && m[1] != "quantile" {
					labels[name] = append(labels[name], m[1])
				}
			}
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(help)) {
		if strings.HasPrefix(name, "hark_") {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.Join(labels[name], ", "), kind[name], help[name])
		}
	}
	return b.String()
}

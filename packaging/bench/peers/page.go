package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// names are the tools in the order of the columns.
func names() []string {
	return []string{"hark, agents", "hark, ssh", "hark, ssh, program kept", "mitogen", "ansible-core, pipelining"}
}

// write makes the page, and the chart beside it.
func (b bench) write(ctx context.Context, rows []row) error {
	text := b.pageText(ctx, rows)
	if b.page == "" {
		fmt.Print(text)
		return nil
	}
	chart := strings.TrimSuffix(b.page, filepath.Ext(b.page)) + ".svg"
	text = strings.Replace(text, "# Benchmarks\n\n",
		fmt.Sprintf("# Benchmarks\n\n![times in a chart](%s)\n\n", filepath.Base(chart)), 1)
	if err := os.WriteFile(chart, []byte(chartText(rows)), 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.page, []byte(text), 0o644)
}

func (b bench) pageText(ctx context.Context, rows []row) string {
	var t strings.Builder
	fmt.Fprintf(&t,
		"<!-- Made by packaging/bench/peers/run -->\n\n# Benchmarks\n\n"+
			"`packaging/bench/peers/run` on %s, %s, %d cores, %s; %s. Everything is on one machine: a broker with TLS and "+
			"credentials, agents, an sshd with "+
			"throw-away keys, and the tools. Each play is a command from nothing; the median of %d counts, but of ansible-core "+
			"the only one. ansible-core has 10 forks and pipelining. Plays of the others are cut off after %s (>).\n",
		time.Now().UTC().Format("2006-01-02"), machine(), runtime.NumCPU(), runtime.Version(), versions(ctx, b.bin), b.runs,
		b.limit)
	b.table(&t, rows, "Seconds, and how many times hark's with agents", func(c, first cost) string {
		more := ""
		if c.Cut {
			more = "> "
		}
		return fmt.Sprintf("%s (%s%.1f)", c.seconds(), more, float64(c.Wall)/float64(first.Wall))
	})
	if b.page != "" { // the rest is printed, for those who measure
		return t.String() + conclusion
	}
	b.table(&t, rows, "Processor seconds of the command, and of the whole machine", func(c, _ cost) string {
		return fmt.Sprintf("%.2f, %.2f", c.Controller.Seconds(), c.Machine.Seconds())
	})
	b.table(&t, rows, "MB over the network", func(c, _ cost) string { return fmt.Sprintf("%.2f", float64(c.Bytes)/1e6) })
	b.table(&t, rows, "Memory in MB of the largest process of the command", func(c, _ cost) string {
		return fmt.Sprintf("%.0f", float64(c.Memory)/1024)
	})
	return t.String()
}

// conclusion ends the page.
const conclusion = `
## What the table means

- An agent takes most of the time away: a play of fifty commands on ten hosts takes less than a second.
- Over ssh the first run brings the agent to the host, about 8 MB, as here in each run.
- Modules in Python take as long as their Python does; there Mitogen is as fast.

` + "`packaging/bench/peers/run`" + ` measures your machine, and prints processor time, memory and bytes too.
`

func (b bench) table(t *strings.Builder, rows []row, title string, cell func(c, first cost) string) {
	fmt.Fprintf(t, "\n## %s\n\n| | hosts |", title)
	for _, name := range names() {
		fmt.Fprintf(t, " %s |", name)
	}
	t.WriteString("\n|---|---|" + strings.Repeat("---|", len(names())) + "\n")
	for _, r := range rows {
		fmt.Fprintf(t, "| %s | %d |", r.work, r.hosts)
		for _, name := range names() {
			text := ""
			if c, ok := r.costs[name]; ok {
				text = cell(c, r.costs[names()[0]])
			}
			fmt.Fprintf(t, " %s |", text)
		}
		t.WriteString("\n")
	}
}

// machine names the processor.
func machine() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// versions are those of the tools.
func versions(ctx context.Context, bin string) string {
	var all []string
	for _, command := range [][]string{{filepath.Join(bin, "hark"), "--version"}, {"ansible-playbook", "--version"},
		{"dpkg-query", "-W", "-f", "mitogen ${Version}", "ansible-mitogen"}} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output(); err == nil {
			line, _, _ := strings.Cut(string(out), "\n")
			all = append(all, strings.TrimSpace(line))
		}
	}
	return strings.Join(all, ", ")
}

// chartText draws the times as bars on a logarithmic scale from 10 ms, so that a bar that is longer by the same
// length is slower by the same factor.
func chartText(rows []row) string {
	const label, width, bar, gap, decade = 300, 1120, 11, 14, 130
	colors := []string{"#1a7f37", "#7bc47f", "#c5e1a5", "#b08800", "#a0a0a0"}
	var t strings.Builder
	y := 30
	for i, name := range names() {
		fmt.Fprintf(&t, `<rect x="%d" y="8" width="12" height="12" fill="%s"/><text x="%d" y="18">%s</text>`+"\n",
			label+i*160, colors[i], label+i*160+17, name)
	}
	for _, r := range rows {
		fmt.Fprintf(&t, `<text x="%d" y="%d" text-anchor="end">%s, %d</text>`+"\n", label-8, y+2*bar, r.work, r.hosts)
		for i, name := range names() {
			c, ok := r.costs[name]
			if !ok {
				continue
			}
			long := math.Max(1, decade*math.Log10(c.Wall.Seconds()/0.01))
			fmt.Fprintf(&t,
				`<rect x="%d" y="%d" width="%.0f" height="%d" fill="%s"/><text x="%.0f" y="%d" font-size="9">%s s</text>`+"\n",
				label, y, long, bar-1, colors[i], label+long+4, y+bar-2, strings.ReplaceAll(c.seconds(), ">", "&gt;"))
			y += bar
		}
		y += gap
	}
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n"+
			`<rect width="100%%" height="100%%" fill="#fff"/>`+"\n%s</svg>\n", width, y, t.String())
}

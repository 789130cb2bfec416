// Command peers plays the same works with hark and with those beside it, over the network of one machine, and prints
// what each took, as a page for docs and as a chart. It is no test: nothing is too slow for it.
//
// It runs as root in a network namespace of its own, so that bytes can be counted, and wants a machine that has
// nothing else to do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	bin := flag.String("bin", "bin", "directory of hark's programs")
	page := flag.String("page", "", "write the page to this file, with a chart beside it; else it is printed")
	only := flag.String("only", "", "only works whose name contains this")
	record := flag.String("record", "docs/benchmarks.md", "the page whose figures are shown beside today's")
	runs := flag.Int("runs", 5, "how often each is measured; the median counts")
	limit := flag.Duration("limit", 20*time.Second,
		"how long a play of another tool than hark may take until it is cut off")
	hosts := flag.String("hosts", "1,10", "numbers of hosts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := apart(ctx)
	if errors.Is(err, errApart) {
		err = bench{bin: *bin, page: *page, only: *only, runs: *runs, limit: *limit, record: readRecord(*record)}.run(ctx,
			*hosts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// inner says in the environment that this process is the one in the namespace.
const inner = "HARK_BENCH_INNER"

var errApart = errors.New("this process is in a namespace of its own")

// apart runs this program again in a network namespace of its own, and waits for it. The error is errApart in that
// process.
func apart(ctx context.Context) error {
	if os.Getenv(inner) != "" {
		return errApart
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), inner+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return cmd.Run()
}

// bench is one run of this program.
type bench struct {
	bin, page, only string
	runs            int
	limit           time.Duration
	record          record
}

func (b bench) run(ctx context.Context, hosts string) error {
	var counts []int
	most := 0
	for text := range strings.SplitSeq(hosts, ",") {
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil || n < 1 {
			return fmt.Errorf("--hosts: %q is no number of hosts", text)
		}
		counts, most = append(counts, n), max(most, n)
	}
	if b.page != "" {
		if err := quiet(ctx, load, tenSeconds); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "hark-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if b.bin, err = filepath.Abs(b.bin); err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	s := &site{dir: dir, bin: b.bin, inventory: filepath.Join(dir, "inventory"), port: 2022}
	defer s.Close()
	defer stop()
	if err := s.open(serving, most); err != nil {
		return err
	}
	results, err := b.measure(ctx, s, counts)
	if err != nil {
		return err
	}
	return b.write(ctx, results)
}

// row is one work on a number of hosts, with the cost of each tool that can do it.
type row struct {
	work  string
	hosts int
	costs map[string]cost
}

func (b bench) measure(ctx context.Context, s *site, counts []int) ([]row, error) {
	var rows []row
	for _, w := range works() {
		if !strings.Contains(w.name, b.only) {
			continue
		}
		for _, n := range counts {
			r := row{work: w.name, hosts: n, costs: map[string]cost{}}
			for _, t := range s.tools(b.bin) {
				if w.python && !t.python {
					continue
				}
				usual, err := b.usual(ctx, s, w, t, n)
				if err != nil {
					return nil, fmt.Errorf("%s on %d hosts: %w", w.name, n, err)
				}
				fmt.Fprintf(os.Stderr, "%-40s %2d hosts  %-26s %10s s%s\n", w.name, n, t.name, usual.seconds(),
					b.record.beside(w.name, n, t.name))
				r.costs[t.name] = usual
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// usual is the median of the runs of a tool. Of one that is cut off there is one run.
func (b bench) usual(ctx context.Context, s *site, w work, t tool, hosts int) (cost, error) {
	runs, limit := b.runs, b.limit
	if t.slow {
		runs = 1
	}
	if t.own {
		limit = time.Hour
	}
	var costs []cost
	for range max(runs, 1) {
		c, err := s.measure(ctx, w, t, hosts, limit)
		if err != nil || c.Cut {
			return c, err
		}
		costs = append(costs, c)
	}
	return median(costs), nil
}

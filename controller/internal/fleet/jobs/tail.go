package jobs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"hark/agent/wire"
)

// tailStart is how far from the end of a stream a tail looks for its lines, in bytes.
const tailStart = 64 << 10

// tailPatience is how long one question waits for a job to print something.
const tailPatience = 30 * time.Second

// Tail is how what jobs print is shown.
type Tail struct {
	Follow bool
	Lines  int // how many of the last lines
	// Out are where the lines of the two streams go.
	Out  [2]io.Writer
	Warn func(text string)
}

// Show shows the last lines of jobs, and to whoever follows them what comes after them.
func (t Tail) Show(ctx context.Context, h *Hosts, ids []string) error {
	jobs, err := h.Named(ctx, ids)
	if err != nil {
		return err
	}
	w := &writer{many: len(jobs) > 1, out: t.Out}
	errs := make([]error, len(jobs))
	var following sync.WaitGroup
	for i, f := range jobs {
		show := func() { errs[i] = t.one(ctx, h, f, w) }
		if t.Follow {
			following.Go(show)
		} else {
			show()
		}
	}
	following.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", jobs[i].Agent, err)
		}
	}
	return nil
}

func (t Tail) one(ctx context.Context, h *Hosts, f Found, w *writer) error {
	q := wire.JobsQuery{Op: "tail", ID: f.ID, Offsets: [2]int64{-tailStart, -tailStart}}
	if f.NoLog {
		t.Warn("the output of " + f.ID + " is not kept: its task has no_log")
	}
	rest := [2][]byte{}
	for first := true; ; first = false {
		began := time.Now()
		reply, err := h.ask(ctx, f.Agent, q)
		if err != nil {
			return err
		}
		for i, text := range reply.Output {
			if first {
				text = lastLines(text, t.Lines)
			}
			rest[i] = w.write(i, f.Agent, append(rest[i], text...))
		}
		over := reply.Jobs[0].Over && len(reply.Output[0])+len(reply.Output[1]) == 0
		if !t.Follow || over && !first {
			for i := range rest {
				if len(rest[i]) > 0 {
					w.write(i, f.Agent, append(rest[i], '\n'))
				}
			}
			return nil
		}
		if len(reply.Output[0])+len(reply.Output[1]) == 0 {
			if err := pace(ctx, began); err != nil {
				return err
			}
		}
		q.Offsets, q.Patience = reply.Offsets, tailPatience
	}
}

// lastLines returns the last lines of a text, all if it has no more.
func lastLines(text []byte, n int) []byte {
	at := len(bytes.TrimSuffix(text, []byte("\n")))
	for ; n > 0 && at >= 0; n-- {
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	return text[at+1:]
}

// writer writes the lines of jobs, each after the name of its host if there are several.
type writer struct {
	many bool
	out  [2]io.Writer

	mu sync.Mutex // held while lines are written
}

// write writes the whole lines of a text and gives what is left of it.
func (w *writer) write(stream int, host string, text []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		at := bytes.IndexByte(text, '\n') + 1
		if at == 0 && len(text) <= tailStart {
			return text
		}
		end := at
		if at == 0 { // a line without end is not kept until it has one
			end = tailStart
		}
		line := bytes.TrimSuffix(text[:end], []byte("\n"))
		if w.many {
			fmt.Fprintf(w.out[stream], "%s | ", host)
			// What begins a line again would write over the name of the host.
			line = bytes.ReplaceAll(bytes.TrimSuffix(line, []byte("\r")), []byte("\r"), []byte(`\r`))
		}
		_, _ = w.out[stream].Write(append(line[:len(line):len(line)], '\n'))
		text = text[end:]
	}
}

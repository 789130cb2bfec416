package runner

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"hark/agent/internal/call"
	"hark/agent/wire"
)

const (
	// followEvery is how often live output is sent; followSize is how many bytes of each stream at most. What is left out
	// is counted.
	followEvery = 250 * time.Millisecond
	followSize  = 8 << 10
)

// follow sends what the processes of a call print while they run, if the user wants to see it and it is no secret. The
// returned func ends that.
func (c *caller) follow(inv call.Invocation) func() {
	if !c.e.g.start.Follow || c.f.noLog || inv.Call.Async > 0 && inv.Call.Poll == 0 {
		return func() {}
	}
	f := &follower{tell: func(text string, stderr bool) {
		c.e.g.line.send(wire.Event{Kind: wire.Output, Step: c.e.id, Text: text, Stderr: stderr})
	}}
	inv.Env.Live = f.take
	return f.close
}

// follower collects lines and sends them from time to time.
type follower struct {
	tell func(text string, stderr bool)

	mu      sync.Mutex
	streams [2]lines    // stdout, stderr; guarded by mu
	timer   *time.Timer // guarded by mu
	over    bool        // guarded by mu
}

// lines are the lines of one stream that were not sent yet.
type lines struct {
	whole, rest []byte
	dropped     int
}

func (f *follower) take(stderr bool, chunk []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	s := &f.streams[0]
	if stderr {
		s = &f.streams[1]
	}
	s.take(chunk)
	if f.timer == nil {
		f.timer = time.AfterFunc(followEvery, f.flush)
	}
}

// take adds output. It counts and drops lines beyond the rate, and cuts a line that does not end.
func (l *lines) take(chunk []byte) {
	l.rest = append(l.rest, chunk...)
	for {
		at := bytes.IndexByte(l.rest, '\n')
		if at < 0 && len(l.rest) < followSize {
			return
		}
		line := l.rest
		if at >= 0 {
			line = l.rest[:at+1]
		}
		l.rest = l.rest[len(line):]
		if len(l.whole)+len(line) > followSize {
			l.dropped++
			continue
		}
		l.whole = append(l.whole, line...)
	}
}

// text returns what there is to send, and what was left out.
func (l *lines) text() string {
	text := string(l.whole)
	if l.dropped > 0 {
		text += fmt.Sprintf("... %d lines left out\n", l.dropped)
	}
	l.whole, l.dropped = nil, 0
	return text
}

func (f *follower) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.over {
		f.send()
	}
	f.timer = nil
}

// send sends what there is. It assumes mu held, so that nothing is sent after close.
func (f *follower) send() {
	for i := range f.streams {
		if text := f.streams[i].text(); text != "" {
			f.tell(text, i == 1)
		}
	}
}

// close sends the rest and ends.
func (f *follower) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
	}
	for i := range f.streams {
		if s := &f.streams[i]; len(s.rest) > 0 {
			s.take([]byte("\n"))
		}
	}
	f.send()
	f.over = true
}

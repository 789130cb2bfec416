package procx

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// streams are the parent's ends of a child's pipes.
type streams struct {
	stdin, stdout, stderr *os.File // nil stdin: the child reads /dev/null
	child                 []*os.File
	input                 []byte
	out, err              sink
	readers, writers      sync.WaitGroup
	heard                 chan struct{} // something was read; holds one
}

// sink collects one stream up to its cap.
type sink struct {
	buf     []byte
	max     int
	dropped int64
	live    func([]byte)
}

func (s *sink) take(b []byte) {
	if s.live != nil && len(b) > 0 {
		s.live(b)
	}
	if room := s.max - len(s.buf); len(b) > room {
		s.dropped += int64(len(b) - room)
		b = b[:room]
	}
	s.grow(len(b))
	s.buf = append(s.buf, b...)
}

// grow makes room for more. What is large grows fourfold, and not by a quarter as append does it: the buffers that
// were too small would wait for the collector, and take several times what is kept.
func (s *sink) grow(more int) {
	if need := len(s.buf) + more; need > cap(s.buf) && cap(s.buf) >= 1<<20 {
		s.buf = append(make([]byte, 0, min(4*need, s.max)), s.buf...)
	}
}

func newStreams(cmd *exec.Cmd, s *Spec) (*streams, error) {
	limit := s.limit()
	p := &streams{heard: make(chan struct{}, 1), input: s.Stdin, out: sink{max: limit}, err: sink{max: limit}}
	if s.Live != nil {
		p.out.live = func(b []byte) { s.Live(false, b) }
		p.err.live = func(b []byte) { s.Live(true, b) }
	}
	ok := false
	defer func() {
		if !ok {
			p.started()
			p.close()
		}
	}()
	var err error
	if p.stdout, cmd.Stdout, err = p.pipe(); err != nil {
		return nil, err
	}
	if p.stderr, cmd.Stderr, err = p.pipe(); err != nil {
		return nil, err
	}
	if s.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.stdin, cmd.Stdin = w, r
		p.child = append(p.child, r)
	}
	ok = true
	return p, nil
}

// pipe returns the reading end, and the writing end for the child.
func (p *streams) pipe() (*os.File, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	p.child = append(p.child, w)
	return r, w, nil
}

// started gives up the child's ends and begins to copy.
func (p *streams) started() {
	for _, f := range p.child {
		f.Close()
	}
	p.child = nil
	if p.stdout != nil && p.stderr != nil {
		p.readers.Go(func() { p.read(p.stdout, &p.out) })
		p.readers.Go(func() { p.read(p.stderr, &p.err) })
	}
	if p.stdin != nil {
		p.writers.Go(func() {
			// A child that does not read its input is no error.
			_, _ = p.stdin.Write(p.input)
			p.stdin.Close()
		})
	}
}

// Most processes print little, and a host runs many: who prints more is read with a larger buffer.
const fewBytes, manyBytes = 1 << 10, 32 << 10

func (p *streams) read(f *os.File, into *sink) {
	buf := make([]byte, fewBytes)
	for {
		n, err := f.Read(buf)
		into.take(buf[:n])
		if n == fewBytes {
			buf = make([]byte, manyBytes)
		}
		select {
		case p.heard <- struct{}{}:
		default:
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			drain(f, into, buf)
			return
		}
		if err != nil {
			return
		}
	}
}

// drain takes what already lies in the pipe, at most what a pipe can hold: on a busy machine the
// deadline may pass before the child's last words were read.
func drain(f *os.File, into *sink, buf []byte) {
	if f.SetReadDeadline(time.Time{}) != nil {
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; total < 1<<20; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buf)
			return true
		})
		if err != nil || n <= 0 {
			return
		}
		into.take(buf[:n])
		total += n
	}
}

// finish reads on when the child has ended: until the streams end or, without toEnd, until they are silent. It is
// false if ctx was over first.
func (p *streams) finish(ctx context.Context, out *Output, toEnd bool) bool {
	whole := p.await(ctx, toEnd)
	for _, f := range []*os.File{p.stdout, p.stderr} {
		_ = f.SetReadDeadline(time.Now())
	}
	p.readers.Wait()
	if p.stdin != nil {
		_ = p.stdin.SetWriteDeadline(time.Now())
	}
	p.writers.Wait()
	out.Stdout, out.Stderr = p.out.buf, p.err.buf
	out.Dropped = p.out.dropped + p.err.dropped
	return whole
}

// await is how finish waits.
func (p *streams) await(ctx context.Context, toEnd bool) bool {
	ended := make(chan struct{})
	go func() {
		p.readers.Wait()
		close(ended)
	}()
	silent := time.NewTimer(silence)
	defer silent.Stop()
	for {
		select {
		case <-ended:
			return true
		case <-p.heard:
			silent.Reset(silence)
		case <-silent.C:
			if !toEnd {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// close releases what is open, on every way out.
func (p *streams) close() {
	for _, f := range append(p.child, p.stdin, p.stdout, p.stderr) {
		if f != nil {
			f.Close()
		}
	}
}

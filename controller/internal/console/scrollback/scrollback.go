// Package scrollback keeps the output of a run as lines that can be read from any of them: compressed, in a file
// without a name that goes with the process. One goroutine writes; any number read at the same time what was written so
// far.
package scrollback

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// PageLines is how many lines a page has.
const PageLines = 2000

// frameBytes is about how many bytes of text one frame holds: they are decompressed to read any line of it.
const frameBytes = 256 << 10

// Lines is the output of a run. Its methods are safe for concurrent use, Write by one writer.
type Lines struct {
	file *os.File

	mu sync.RWMutex
	// guarded by mu
	frames []frame
	end    int64  // of the file
	tail   []byte // what is not in a frame yet
	first  int    // the line that tail begins with or in
	inside bool   // tail begins within a line
	lines  int    // ended lines
	size   int64  // bytes of text
	packer *zstd.Encoder
	failed error // of the file; what was written until then stays
}

// frame is a range of the text in the file. It begins with the beginning of a line, or within a line that is longer
// than a frame.
type frame struct {
	line     int // that it begins with or in
	inside   bool
	at, size int64
}

// New returns an empty Lines with its file in a directory, "" for the system's.
func New(dir string) (*Lines, error) {
	f, err := os.CreateTemp(dir, "hark-console-")
	if err != nil {
		return nil, fmt.Errorf("cannot keep the output of a run: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot keep the output of a run: %w", err)
	}
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(frameBytes), zstd.WithLowerEncoderMem(true))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Lines{file: f, packer: packer}, nil
}

// Close closes the file. There must be no more readers.
func (r *Lines) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}

// Write adds text. It never returns an error: Err reports a file that could not be written.
func (r *Lines) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rest := p; len(rest) > 0; {
		n := min(len(rest), frameBytes)
		r.add(rest[:n])
		rest = rest[n:]
	}
	return len(p), nil
}

// add assumes mu held.
func (r *Lines) add(p []byte) {
	r.size += int64(len(p))
	r.tail = append(r.tail, p...)
	r.lines += bytes.Count(p, []byte{'\n'})
	for len(r.tail) >= frameBytes {
		n := frameBytes
		if end := bytes.LastIndexByte(r.tail[:frameBytes], '\n'); end >= 0 {
			n = end + 1
		}
		r.pack(n)
	}
}

// pack moves the first bytes of the tail into a frame. It assumes mu held.
func (r *Lines) pack(n int) {
	text := r.tail[:n]
	packed := r.packer.EncodeAll(text, nil)
	if r.failed == nil {
		_, r.failed = r.file.WriteAt(packed, r.end)
	}
	r.frames = append(r.frames, frame{line: r.first, inside: r.inside, at: r.end, size: int64(len(packed))})
	r.end += int64(len(packed))
	r.first += bytes.Count(text, []byte{'\n'})
	r.inside = text[n-1] != '\n'
	r.tail = append(r.tail[:0], r.tail[n:]...)
}

// Page returns the number of ended lines.
func (r *Lines) Page() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.lines
}

// Size returns the number of bytes written.
func (r *Lines) Size() int64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.size
}

// Each calls f with the ended lines from number from on (0 is the first), without their ends, until it returns false. A
// line is valid during the call, and at most its first bytes are passed, with its whole length.
func (r *Lines) Each(from, most int, f func(n int, line []byte, length int) bool) error {
	c := cutter{from: from, most: most, f: f}
	return r.stretches(from, func(line int, text []byte) bool { return c.take(line, text) })
}

// WriteTo writes all text to w.
func (r *Lines) WriteTo(w io.Writer) (int64, error) {
	var n int64
	var failed error
	err := r.stretches(0, func(_ int, text []byte) bool {
		var m int
		m, failed = w.Write(text)
		n += int64(m)
		return failed == nil
	})
	if failed != nil {
		err = failed
	}
	return n, err
}

// stretches calls f with the text from the frame on that has the beginning of a line. It does not read what is written
// meanwhile.
func (r *Lines) stretches(from int, f func(line int, text []byte) bool) error {
	r.mu.RLock()
	frames := r.frames
	tail, first, failed := append([]byte(nil), r.tail...), r.first, r.failed
	r.mu.RUnlock()
	if failed != nil {
		return fmt.Errorf("the output could not be kept: %w", failed)
	}
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(4*frameBytes))
	if err != nil {
		return err
	}
	defer unpacker.Close()
	var packed, text []byte
	for _, x := range frames[start(frames, from):] {
		packed = append(packed[:0], make([]byte, x.size)...)
		if _, err := r.file.ReadAt(packed, x.at); err != nil {
			return fmt.Errorf("cannot read the output: %w", err)
		}
		if text, err = unpacker.DecodeAll(packed, text[:0]); err != nil {
			return fmt.Errorf("cannot read the output: %w", err)
		}
		if !f(x.line, text) {
			return nil
		}
	}
	if len(tail) > 0 {
		f(first, tail)
	}
	return nil
}

// start returns the frame in which a line begins.
func start(frames []frame, line int) int {
	i := sort.Search(len(frames), func(i int) bool { return frames[i].line > line }) - 1
	for i > 0 && frames[i].inside && frames[i].line >= line {
		i--
	}
	return max(i, 0)
}

// cutter cuts ranges of text into lines.
type cutter struct {
	from, most int
	f          func(n int, line []byte, length int) bool

	held   []byte // of a line that began in an earlier range
	length int
}

func (c *cutter) take(line int, text []byte) bool {
	for len(text) > 0 {
		part, rest, ended := bytes.Cut(text, []byte{'\n'})
		c.length += len(part)
		c.held = append(c.held, part[:min(len(part), max(0, c.most-len(c.held)))]...)
		if !ended {
			return true
		}
		if line >= c.from && !c.f(line, c.held, c.length) {
			return false
		}
		c.held, c.length = c.held[:0], 0
		line, text = line+1, rest
	}
	return true
}

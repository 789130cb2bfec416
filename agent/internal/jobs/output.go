package jobs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// segment is the size in bytes of one file of a stream. Two files of each stream are kept: the last segment bytes are
// always there, and never more than twice as many.
const segment = 1 << 20

// streamName returns the name of a stream's files; the number of the segment follows it.
func streamName(stderr bool) string {
	if stderr {
		return "stderr"
	}
	return "stdout"
}

func segmentFile(dir, stream string, n int64) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%d", stream, n))
}

// output keeps what the processes of a job print. It drops what cannot be written: a full disk ends no job.
type output struct {
	dir string
	off bool // no_log: nothing is kept

	mu      sync.Mutex
	streams [2]stream // stdout, stderr; guarded by mu
}

// stream is stdout or stderr.
type stream struct {
	file *os.File
	at   int64 // bytes so far
}

func (o *output) write(stderr bool, chunk []byte) {
	if o.off {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := &o.streams[0]
	if stderr {
		s = &o.streams[1]
	}
	for len(chunk) > 0 {
		n := min(int64(len(chunk)), segment-s.at%segment)
		s.append(o.dir, streamName(stderr), chunk[:n])
		chunk = chunk[n:]
	}
}

// append writes into a segment, and begins the next when it is full.
func (s *stream) append(dir, name string, part []byte) {
	if s.at%segment == 0 {
		s.turn(dir, name)
	}
	s.at += int64(len(part))
	if s.file != nil {
		_, _ = s.file.Write(part)
	}
}

func (s *stream) turn(dir, name string) {
	if s.file != nil {
		s.file.Close()
	}
	n := s.at / segment
	s.file, _ = os.OpenFile(segmentFile(dir, name, n), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	_ = os.Remove(segmentFile(dir, name, n-2))
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.streams {
		if f := o.streams[i].file; f != nil {
			f.Close()
			o.streams[i].file = nil
		}
	}
	o.off = true
}

// readOutput reads a stream of a job from an offset, at most limit bytes; a negative offset is from the end. from is
// where the text begins: later than asked for if the beginning was dropped.
func readOutput(dir, name string, offset int64, limit int) (text []byte, from int64) {
	first, size := extent(dir, name)
	if offset < 0 {
		offset += size
	}
	from = max(offset, first)
	for at := from; at < size && len(text) < limit; at = from + int64(len(text)) {
		part := readSegment(dir, name, at, limit-len(text))
		if len(part) == 0 {
			break // it was dropped meanwhile
		}
		text = append(text, part...)
	}
	return text, from
}

// extent returns the part of a stream that is there: from the first byte to the end.
func extent(dir, name string) (first, size int64) {
	found := false
	files, _ := filepath.Glob(filepath.Join(dir, name+".*"))
	for _, f := range files {
		var n int64
		if _, err := fmt.Sscanf(filepath.Base(f), name+".%d", &n); err != nil {
			continue
		}
		info, err := os.Stat(f)
		if err != nil {
			continue
		}
		if !found || n*segment < first {
			first, found = n*segment, true
		}
		size = max(size, n*segment+info.Size())
	}
	return first, size
}

func readSegment(dir, name string, at int64, limit int) []byte {
	f, err := os.Open(segmentFile(dir, name, at/segment))
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.NewSectionReader(f, at%segment, int64(limit)))
	return text
}

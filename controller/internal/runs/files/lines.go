package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"

	"hark/controller/internal/runs/record"
)

// Open implements record.Store.
func (s *Store) Open(_ context.Context, run string, o record.Opening) (record.Lines, error) {
	f, err := s.open(run)
	if err != nil {
		return nil, err
	}
	return &lines{frames: frames{f: f, run: run, store: s}, o: o}, nil
}

// open opens the file of a record.
func (s *Store) open(run string) (*os.File, error) {
	month, err := s.month(run)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(s.path(month, run, recordExt))
	return f, inRun(run, err)
}

// frames reads the frames of a record, one after the other.
type frames struct {
	f     *os.File
	run   string
	store *Store // nil if no one waits
	at    int64  // offset of the next frame
	dec   *zstd.Decoder
	raw   []byte // of the last unpacked frame
}

// pollEvery is how often a reader that follows looks for more.
const pollEvery = 200 * time.Millisecond

// next finds the next frame. With wait it waits for it while a process writes. The error is errCutOff if there is none
// and no process writes, and io.EOF if it may still come.
func (r *frames) next(ctx context.Context, wait bool) (frame, error) {
	for {
		var more <-chan struct{}
		if wait {
			more = r.store.written.wait() // taken before the look, so that no beat is missed
		}
		alive := written(r.f) // checked before the size: what a writer that is gone has left is complete
		st, err := r.f.Stat()
		if err != nil {
			return frame{}, err
		}
		fr, err := frameAt(r.f, r.at, st.Size())
		switch {
		case err == nil:
			r.at = fr.end()
			return fr, nil
		case !errors.Is(err, errCutOff):
			return frame{}, err
		case !alive:
			return frame{}, errCutOff
		case !wait:
			return frame{}, io.EOF
		}
		every := r.store.Poll
		if every == 0 {
			every = pollEvery
		}
		select {
		case <-ctx.Done():
			return frame{}, ctx.Err()
		case <-more:
		case <-time.After(every):
		}
	}
}

// data reads the compressed data of a frame.
func (r *frames) data(fr frame) ([]byte, error) {
	packed := make([]byte, fr.Len)
	_, err := r.f.ReadAt(packed, fr.data)
	return packed, err
}

// unpack returns the lines of a frame, which are valid until the next call.
func (r *frames) unpack(fr frame) ([]byte, error) {
	packed, err := r.data(fr)
	if err != nil {
		return nil, err
	}
	if r.dec == nil {
		if r.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostData)); err != nil {
			return nil, err
		}
	}
	if r.raw, err = r.dec.DecodeAll(packed, r.raw[:0]); err != nil {
		return nil, fmt.Errorf("part %d is damaged: %v", fr.N, err)
	}
	return r.raw, nil
}

// Close closes the file.
func (r *frames) Close() error {
	if r.dec != nil {
		r.dec.Close()
	}
	return r.f.Close()
}

// lines implements record.Lines.
type lines struct {
	frames
	o     record.Opening
	rest  []byte // lines of the frame in hand
	only  bool   // only those that define numbers
	stand record.Place
	began time.Time
	foot  bool // it was returned
}

// Next implements record.Lines.
func (r *lines) Next(ctx context.Context) (record.Line, error) {
	for {
		if r.foot {
			return record.Line{}, io.EOF
		}
		for len(r.rest) > 0 {
			if r.o.Bad && r.fine() {
				continue
			}
			l, err := r.line()
			if err != nil {
				return record.Line{}, inRun(r.run, err)
			}
			if wanted := !r.only && l.N >= r.o.From; wanted || l.Gives() {
				return l, nil
			}
		}
		if err := r.load(ctx); err != nil {
			return record.Line{}, err
		}
	}
}

// fine skips a result that is not wanted among the bad ones.
func (r *lines) fine() bool {
	text, rest := cutLine(r.rest)
	if !r.stand.Fine(text) {
		return false
	}
	r.rest = rest
	return true
}

// line reads the next line of the frame in hand.
func (r *lines) line() (record.Line, error) {
	var text []byte
	text, r.rest = cutLine(r.rest)
	l, err := r.stand.Line(text)
	if err == nil && l.Kind == record.KindHead {
		r.began = l.At
	}
	r.foot = err == nil && l.Kind == record.KindFoot
	return l, err
}

// load reads the next frame with lines that are wanted.
func (r *lines) load(ctx context.Context) error {
	for {
		fr, err := r.next(ctx, r.o.Follow)
		if errors.Is(err, errCutOff) {
			return &record.LostError{Run: r.run, Last: r.stand.Last, At: r.stand.Names.At()}
		}
		if err != nil {
			if errors.Is(err, io.EOF) || ctx.Err() != nil {
				return err
			}
			return inRun(r.run, err)
		}
		if fr.Kind == partFrame {
			r.stand.N, r.stand.Last = fr.First, r.began.Add(time.Duration(fr.At)*time.Microsecond)
			r.only = r.o.Bad && fr.Bad == 0
			if (r.only || fr.First+int64(fr.Lines) <= r.o.From) && !fr.Defines {
				continue
			}
		}
		if fr.Kind == footFrame {
			r.only = false
		}
		text, err := r.unpack(fr)
		if err != nil {
			return inRun(r.run, err)
		}
		r.rest = text
		return nil
	}
}

// cutLine separates the first line from the others.
func cutLine(text []byte) (line, rest []byte) {
	if at := bytes.IndexByte(text, '\n') + 1; at > 0 {
		return text[:at], text[at:]
	}
	return text, nil
}

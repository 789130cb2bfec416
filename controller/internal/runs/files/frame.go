package files

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"hark/controller/internal/runs/record"
)

// A record is one file. Before each zstd frame is a frame that zstd's own programs skip, with a label that describes
// the next one. So zstdcat prints the lines, and a search reads only the frames that it needs.
const (
	skippable  = 0x184D2A58 // one of the magic numbers of skippable frames
	prefixSize = 8          // magic number and length of the label, little endian
	mostLabel  = 4 << 10
	mostData   = 256 << 20 // of a part: outputs of hosts are not cut
)

// label describes the frame behind it.
type label struct {
	V    int    `json:"v"`
	Kind string `json:"k"` // head, part or foot
	Len  int64  `json:"len"`
	record.PartSum
	Lines int `json:"lines,omitempty"`
	Raw   int `json:"raw,omitempty"`
}

// The kinds of frames.
const (
	headFrame = "head"
	partFrame = "part"
	footFrame = "foot"
)

// appendFrame writes a frame with its label.
func appendFrame(to []byte, l label, data []byte) ([]byte, error) {
	l.V, l.Len = record.Version, int64(len(data))
	text, err := json.Marshal(l)
	if err != nil {
		return to, err
	}
	to = binary.LittleEndian.AppendUint32(to, skippable)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(text)))
	return append(append(to, text...), data...), nil
}

// errCutOff says that a frame is not complete: not yet, or never.
var errCutOff = errors.New("the record is cut off")

// frame is the position of a frame in a file.
type frame struct {
	label
	data int64 // offset of its data
}

func (f *frame) end() int64 { return f.data + f.Len }

// frameAt reads the label at an offset of a file of a given size. The error is errCutOff if the frame is not complete.
func frameAt(r io.ReaderAt, at, size int64) (frame, error) {
	var prefix [prefixSize]byte
	if at+prefixSize > size {
		return frame{}, errCutOff
	}
	if _, err := r.ReadAt(prefix[:], at); err != nil {
		return frame{}, err
	}
	n := int64(binary.LittleEndian.Uint32(prefix[4:]))
	if binary.LittleEndian.Uint32(prefix[:]) != skippable || n > mostLabel {
		return frame{}, fmt.Errorf("it is no record at byte %d", at)
	}
	if at+prefixSize+n > size {
		return frame{}, errCutOff
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, at+prefixSize); err != nil {
		return frame{}, err
	}
	f := frame{data: at + prefixSize + n}
	if err := json.Unmarshal(text, &f.label); err != nil {
		return frame{}, fmt.Errorf("it is no record at byte %d: %v", at, err)
	}
	switch {
	case f.V > record.Version:
		return frame{}, &record.NewerError{Version: f.V}
	case f.Len < 0 || f.Len > mostData:
		return frame{}, fmt.Errorf("it is no record at byte %d: a part of %d bytes", at, f.Len)
	case f.end() > size:
		return frame{}, errCutOff
	}
	return f, nil
}

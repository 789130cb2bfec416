package ledger

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"hark/agent/wire"
	"hark/controller/internal/runs/record"
)

// unpacker decompresses parts.
type unpacker struct{ dec *zstd.Decoder }

func newUnpacker() (unpacker, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0),
		zstd.WithDecoderMaxMemory(wire.MaxMessage+record.PartSize))
	return unpacker{dec}, err
}

// lines returns the lines of a part, without their ends.
func (u unpacker) lines(data []byte) ([][]byte, error) {
	text, err := u.dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("a part of the record cannot be unpacked: %v", err)
	}
	lines := bytes.Split(text, []byte("\n"))
	return lines[:len(lines)-1], nil
}

// line returns the one line of a beginning or an end.
func (u unpacker) line(data []byte) (record.Line, error) {
	lines, err := u.lines(data)
	if err != nil {
		return record.Line{}, err
	}
	if len(lines) != 1 {
		return record.Line{}, fmt.Errorf("the record has %d lines where one is due", len(lines))
	}
	return record.DecodeLine(lines[0])
}

// learn reads what the lines of a part say of tasks. It skips what it cannot read, which only makes a run's position
// less exact.
func (u unpacker) learn(names *record.Names, data []byte) {
	lines, err := u.lines(data)
	if err != nil {
		return
	}
	for _, text := range lines {
		if !bytes.HasPrefix(text, []byte(`{"k":"`+record.KindTaskStart+`"`)) && !bytes.HasPrefix(text,
			[]byte(`{"k":"`+record.KindStep+`"`)) {
			continue
		}
		if l, err := record.DecodeLine(text); err == nil {
			names.Learn(&l)
		}
	}
}

package record

// PartSize is how many bytes of lines make a part before compression. A part exceeds it only by one line: outputs of
// hosts are not cut.
const PartSize = 1 << 20

// Part is a finished range of whole lines: part N of a run never changes. Parts are numbered from 1, without gaps, and
// their lines follow each other. The head is line 0 and in no part; neither is the foot.
type Part struct {
	PartSum
	// Lines is how many lines there are, Raw how many bytes they have before compression.
	Lines int
	Raw   int
	// Data is one zstd frame with its content size and checksum.
	Data []byte
}

// Sink takes a record as it is made. The Writer calls it from one goroutine of its own, never concurrently: Begin once,
// then Part with N counting from 1, then End once, with the foot and its frame. A run that is killed makes no End. A
// call may block, which delays later ones. When too much waits, lines are lost (the record says so), but never the run.
// After an error, which the user sees once, no more parts come, but End does, with a foot that says what is missing. If
// Begin failed, only Close follows. Data belongs to the caller: sinks must not change it.
type Sink interface {
	Begin(h Head, data []byte) error
	Part(p Part) error
	End(f Foot, data []byte) error
	// Close ends the sink, after End or without it. It is called once.
	Close() error
}

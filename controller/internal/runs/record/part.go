package record

// PartSize is how many bytes of lines make a part before they are compressed. A part is larger only by one line: the
// outputs of hosts are not cut.
const PartSize = 1 << 20

// Part is a run of whole lines, finished: whatever happens later, part N of a run has these bytes. Parts are numbered
// from 1, without gaps, and their lines follow each other; the head is line 0 and in none of them, and neither is the
// foot.
type Part struct {
	PartSum
	// Lines is how many lines there are, Raw how many bytes they have before compression.
	Lines int
	Raw   int
	// Data is one zstd frame with its content size and checksum.
	Data []byte
}

// Sink takes a record as it is made. The Writer calls it from one goroutine of its own, never concurrently: Begin
// once, then Part with N counting from 1, then End once, with the foot and that as a frame; a run that is killed
// makes no End. A call may block, which holds back later ones and, when too much waits, loses lines (the record says
// so), but never the run. After an error, of which the user is told once, no more parts come, but End does, with a
// foot that says what is missing; where Begin failed, nothing comes but Close. Data belongs to the sinks, which do
// not write into it.
type Sink interface {
	Begin(h Head, data []byte) error
	Part(p Part) error
	End(f Foot, data []byte) error
	// Close ends the sink, after End or where there was none. It is called once.
	Close() error
}

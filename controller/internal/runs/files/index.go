package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"hark/agent/atomicfile"
	"hark/controller/internal/runs/record"
)

// indexed is a line of the index: a run that ended, or one that was lost and has lost its lines since.
type indexed struct {
	V      int                      `json:"v"`
	Head   record.Head              `json:"head"`
	Foot   *record.Foot             `json:"foot,omitempty"`
	Counts map[record.HostState]int `json:"counts,omitempty"`
	Bytes  int64                    `json:"bytes"`
	Bare   bool                     `json:"bare,omitempty"` // its lines were removed
}

// mostHosts is how many bytes of folded names a line of the index may have.
const mostHosts = 2 << 10

// entryOf returns the line of the index for a run that ended.
func entryOf(h record.Head, f *record.Foot, size int64) indexed {
	h.Screen = record.Screen{} // only needed to show the run
	x := indexed{V: record.Version, Head: h, Bytes: size}
	if f == nil {
		return x
	}
	short := *f
	short.Tasks, short.Parts = nil, nil
	n := 0
	x.Counts = map[record.HostState]int{}
	for state, names := range f.Hosts {
		x.Counts[state] = f.Count(state)
		for _, name := range names {
			n += len(name)
		}
	}
	if n > mostHosts {
		short.Hosts = nil
	}
	x.Foot = &short
	return x
}

func (s *Store) indexPath() string { return filepath.Join(s.Dir, "index") }

// note adds a run to the index. One write adds the line, so that lines of several processes do not mix.
func (s *Store) note(h record.Head, f record.Foot, size int64) error {
	return s.addToIndex(entryOf(h, &f, size))
}

func (s *Store) addToIndex(x indexed) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.indexPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// readIndex returns the index by run. It skips what it cannot read, which is rebuilt from the records.
func (s *Store) readIndex() map[string]*indexed {
	text, err := os.ReadFile(s.indexPath())
	if err != nil {
		return nil
	}
	const share = 512 << 10 // bytes for one goroutine
	var wait sync.WaitGroup
	texts := cutLines(text, share)
	pieces := make([][]*indexed, len(texts))
	for i, t := range texts {
		wait.Go(func() { pieces[i] = readPiece(t) })
	}
	wait.Wait()
	all := map[string]*indexed{}
	for _, p := range pieces {
		for _, x := range p {
			all[x.Head.Run] = x // the last line of a run counts
		}
	}
	return all
}

// cutLines cuts text into pieces of whole lines, each of about a size.
func cutLines(text []byte, size int) [][]byte {
	var out [][]byte
	for len(text) > size {
		end := bytes.IndexByte(text[size:], '\n') + 1
		if end == 0 {
			break
		}
		out = append(out, text[:size+end])
		text = text[size+end:]
	}
	return append(out, text)
}

func readPiece(text []byte) []*indexed {
	var out []*indexed
	for line := range bytes.Lines(text) {
		x := &indexed{}
		if json.Unmarshal(line, x) == nil && x.V <= record.Version {
			out = append(out, x)
		}
	}
	return out
}

// writeIndex rewrites the index. A line that another process adds meanwhile may be lost; its run is added again when it
// is found missing.
func (s *Store) writeIndex(all map[string]*indexed) error {
	var b bytes.Buffer
	for _, x := range all {
		text, err := json.Marshal(x)
		if err != nil {
			return err
		}
		b.Write(append(text, '\n'))
	}
	err := atomicfile.Write(s.indexPath(), b.Bytes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/wire"
)

// body is content of so many pieces and a bit.
func body(pieces int) []byte {
	b := make([]byte, pieces*wire.PieceSize+7)
	for i := range b {
		b[i] = byte(i * 31 >> 5)
	}
	return b
}

// server gives the pieces of a file in their true size, and notes where it was asked for them. From until on, if that
// is set, the line is cut.
type server struct {
	body  []byte
	until int64
	first int64 // offset of the first question
	asked int
}

func (s *server) piece(_ context.Context, offset int64) (Piece, error) {
	if s.asked++; s.asked == 1 {
		s.first = offset
	}
	if s.until > 0 && offset >= s.until {
		return Piece{}, errors.New("the line is cut")
	}
	at := min(offset, int64(len(s.body)))
	end := min(at+wire.PieceSize, int64(len(s.body)))
	return Piece{Data: s.body[at:end], Last: end == int64(len(s.body))}, nil
}

// inTurn makes a Pull of one that is called by one goroutine at a time.
func inTurn(p Pull) Pull {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, offset int64) (Piece, error) {
		turn <- struct{}{}
		defer func() { <-turn }()
		return p(ctx, offset)
	}
}

func read(t *testing.T, b *Blobs, digest string, p Pull) ([]byte, error) {
	t.Helper()
	f, err := b.Open(t.Context(), digest, inTurn(p))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return got, nil
}

func TestAPullGoesOnWhereItWasCut(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBlobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := body(9)
	cut := &server{body: want, until: 5 * wire.PieceSize}
	if _, err := read(t, b, digestOf(want), cut.piece); err == nil || !strings.Contains(err.Error(), "the line is cut") {
		t.Fatalf("err = %v", err)
	}
	if b, err = OpenBlobs(dir); err != nil { // the agent was started again
		t.Fatal(err)
	}
	rest := &server{body: want}
	got, err := read(t, b, digestOf(want), rest.piece)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if rest.first != 5*wire.PieceSize {
		t.Errorf("it went on at %d of %d", rest.first, len(want))
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 || list[0].Name() != digestOf(want) {
		t.Errorf("there is %v", list)
	}
}

// TestWhatIsLeftAndWrongIsPulledAnew: what a power cut or another hand has left under the name is no beginning of the
// file.
func TestWhatIsLeftAndWrongIsPulledAnew(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBlobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := body(3)
	for what, left := range map[string][]byte{
		"zeros": make([]byte, 2*wire.PieceSize), "more than there is": bytes.Repeat([]byte("x"), 10*wire.PieceSize),
		"its half and rubbish": append(want[:wire.PieceSize:wire.PieceSize], "rubbish"...),
	} {
		if err := os.WriteFile(filepath.Join(dir, ".part-"+digestOf(want)), left, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(t, b, digestOf(want), (&server{body: want}).piece)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", what, len(got), err)
		}
		if err := os.Remove(filepath.Join(dir, digestOf(want))); err != nil {
			t.Error(err)
		}
	}
	if _, err := read(t, b, digestOf([]byte("other")), (&server{body: want}).piece); err == nil ||
		!strings.Contains(err.Error(), "its sha256 is") {
		t.Errorf("another file: %v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("there is %v", list)
	}
}

func TestAFileThatCannotBeKeptIsAnError(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenBlobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := body(1)
	if err := os.Mkdir(filepath.Join(dir, ".part-"+digestOf(want)), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, b, digestOf(want), (&server{body: want}).piece); err == nil ||
		!strings.Contains(err.Error(), "cannot cache a file: ") {
		t.Errorf("err = %v", err)
	}
}

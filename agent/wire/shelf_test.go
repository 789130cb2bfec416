package wire

import (
	"bytes"
	"testing"
)

// TestPiecesAreWhatTheyAre: a piece opens as itself alone, for who has the key of its file.
func TestPiecesAreWhatTheyAre(t *testing.T) {
	var c Codec
	s := &BlobLocation{Operator: "op", Token: "t1", Key: NewKey(), Piece: 4, Ready: 3}
	data := bytes.Repeat([]byte("abcd"), PieceSize/4)
	raw, err := s.Pack(&c, "r1", 1, data)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("abcd")) {
		t.Error("its content is in clear")
	}
	if got, err := s.Open(&c, "r1", 1, raw); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	other := *s
	other.Key = NewKey()
	moved := *s
	moved.Token = "t2"
	for what, open := range map[string]func() ([]byte, error){
		"another place":   func() ([]byte, error) { return s.Open(&c, "r1", 2, raw) },
		"another run":     func() ([]byte, error) { return s.Open(&c, "r2", 1, raw) },
		"another file":    func() ([]byte, error) { return moved.Open(&c, "r1", 1, raw) },
		"another key":     func() ([]byte, error) { return other.Open(&c, "r1", 1, raw) },
		"nothing":         func() ([]byte, error) { return s.Open(&c, "r1", 1, nil) },
		"its end missing": func() ([]byte, error) { return s.Open(&c, "r1", 1, raw[:len(raw)-1]) },
		"a forged header": func() ([]byte, error) {
			return s.Open(&c, "r1", 2, bytes.Replace(raw, []byte(`"seq":2`), []byte(`"seq":3`), 1))
		},
	} {
		if got, err := open(); err == nil {
			t.Errorf("%s gave %d bytes", what, len(got))
		}
	}
}

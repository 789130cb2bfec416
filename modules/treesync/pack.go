package treesync

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// changeRecord is the record of an archive's entry that holds the change.
const changeRecord = "HARK.change"

// Pack writes changes, with the contents that they need, as an archive that Unpack reads.
func Pack(w io.Writer, changes []Change, open func(*Entry) (io.ReadCloser, error)) error {
	out := tar.NewWriter(w)
	for i := range changes {
		if err := packOne(out, &changes[i], open); err != nil {
			return err
		}
	}
	return out.Close()
}

func packOne(out *tar.Writer, c *Change, open func(*Entry) (io.ReadCloser, error)) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: c.Entry.Rel, Format: tar.FormatPAX,
		PAXRecords: map[string]string{changeRecord: string(raw)}}
	if !c.HasContent() {
		return out.WriteHeader(h)
	}
	in, err := open(&c.Entry)
	if err != nil {
		return err
	}
	defer in.Close()
	h.Size = c.Entry.Size
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, h.Size))
	if err == nil && n < h.Size {
		err = fmt.Errorf("cannot read %s: it changed while it was read", c.Entry.Rel)
	}
	return err
}

// HasContent reports whether bytes travel with the change.
func (c *Change) HasContent() bool { return !c.Delete && c.Content && c.Entry.Kind == File }

// Unpack makes the changes of an archive in a directory and reaches nothing outside of it, nor beyond what its bounds
// allow: whoever has made the archive may mean ill.
func Unpack(root *os.Root, b Bounds, r io.Reader) error {
	guard, err := b.guard(root)
	if err != nil {
		return err
	}
	in := tar.NewReader(r)
	w := NewWriter(root)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return w.Close()
		}
		if err != nil {
			return fmt.Errorf("cannot read the archive of changes: %w", err)
		}
		var c Change
		if err := json.Unmarshal([]byte(h.PAXRecords[changeRecord]), &c); err != nil {
			return fmt.Errorf("cannot read the archive of changes: %w", err)
		}
		if err := guard.allows(&c, h.Size); err != nil {
			return fmt.Errorf("cannot change %s: %w", c.Entry.Rel, err)
		}
		if err := w.Do(&c, in); err != nil {
			return err
		}
	}
}

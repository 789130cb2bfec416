package fsx

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"

	"hark/modules/internal/hostfs"
)

// Hash makes a hash by the name that Python's hashlib gives it.
func Hash(algorithm string) (hash.Hash, error) {
	switch algorithm {
	case "md5":
		return md5.New(), nil
	case "sha1", "sha":
		return sha1.New(), nil
	case "sha224":
		return sha256.New224(), nil
	case "sha256":
		return sha256.New(), nil
	case "sha384":
		return sha512.New384(), nil
	case "sha512":
		return sha512.New(), nil
	}
	return nil, fmt.Errorf("unknown checksum algorithm %q", algorithm)
}

// Sum returns the checksum of a file in hex.
func Sum(path, algorithm string) (string, error) {
	h, err := Hash(algorithm)
	if err != nil {
		return "", err
	}
	f, err := hostfs.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := feed(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// feed gives a file to a hash.
func feed(h hash.Hash, f *os.File) error {
	_, err := io.CopyBuffer(h, struct{ io.Reader }{f}, bufferFor(f)) // a file by itself would not take the buffer
	return err
}

// bufferFor returns a buffer for what is read, no larger than a file is.
func bufferFor(r io.Reader) []byte {
	const most = 32 << 10
	if f, ok := r.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() && st.Size() < most {
			return make([]byte, st.Size()+1)
		}
	}
	return make([]byte, most)
}

// Sums are the checksums of what is copied through them.
type Sums struct {
	SHA1, MD5, SHA256 string
	Size              int64
}

// SumText returns the sums of a text.
func SumText(text string) Sums {
	raw := []byte(text)
	a, b, c := sha1.Sum(raw), md5.Sum(raw), sha256.Sum256(raw)
	return Sums{SHA1: hex.EncodeToString(a[:]), MD5: hex.EncodeToString(b[:]), SHA256: hex.EncodeToString(c[:]),
		Size: int64(len(text))}
}

// CopySums copies and sums at once.
func CopySums(w io.Writer, r io.Reader) (Sums, error) {
	a, b, c := sha1.New(), md5.New(), sha256.New()
	n, err := io.CopyBuffer(io.MultiWriter(w, a, b, c), struct{ io.Reader }{r}, bufferFor(r))
	return Sums{SHA1: hex.EncodeToString(a.Sum(nil)), MD5: hex.EncodeToString(b.Sum(nil)),
		SHA256: hex.EncodeToString(c.Sum(nil)), Size: n}, err
}

package bootstrap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"hark/agent/atomicfile"
)

// format is how an agent is packed on its way to a host.
type format int

const (
	plain format = iota
	gzipped
	zstandard
)

// formats are their names, which are also the programs that unpack them.
var formats = [...]string{plain: "cat", gzipped: "gzip", zstandard: "zstd"}

// pack is a binary in one format.
type pack struct {
	once sync.Once
	text []byte // set by once
	err  error  // likewise
}

// body returns what is sent of the binary. It is packed once for each installation of the controller: it is in the
// cache afterwards. It is not packed before it has to be: that takes longer than all else that a host is asked.
func (b *Binary) body(f format) ([]byte, error) {
	if f == plain {
		return b.Text, nil
	}
	p := &b.packs[f]
	p.once.Do(func() {
		if text, ok := b.cached(f); ok {
			p.text = text
			return
		}
		if p.text, p.err = packed(b.Text, f); p.err != nil {
			p.err = fmt.Errorf("cannot pack the agent: %w", p.err)
			return
		}
		b.remember(f, p.text)
	})
	return p.text, p.err
}

// gzipLevel takes less than a second for an agent. The strongest level takes four times as long for a hundredth.
const gzipLevel = 7

// packed packs a text as strongly as the first run can wait for.
func packed(text []byte, f format) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	if f == gzipped {
		w, err = gzip.NewWriterLevel(&out, gzipLevel)
	} else {
		w, err = zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	}
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// packedName returns the name of a packed binary in the cache. Those of one architecture and format begin alike.
func (b *Binary) packedName(f format, digest string) string {
	return "agent-" + b.Arch + "." + formats[f] + "-" + digest
}

// cached reads the binary as an earlier run has packed it. A host compares the size of what it unpacks.
func (b *Binary) cached(f format) ([]byte, bool) {
	if b.cache == "" {
		return nil, false
	}
	text, err := os.ReadFile(filepath.Join(b.cache, b.packedName(f, b.Digest)))
	return text, err == nil && len(text) > 0
}

// remember leaves a packed binary to the next run, in place of those of other versions. Where it cannot be left it is
// packed again.
func (b *Binary) remember(f format, text []byte) {
	if b.cache == "" || os.MkdirAll(b.cache, 0o700) != nil {
		return
	}
	name := b.packedName(f, b.Digest)
	if atomicfile.Write(filepath.Join(b.cache, name), text) != nil {
		return
	}
	others, _ := filepath.Glob(filepath.Join(b.cache, b.packedName(f, "*")))
	for _, path := range others {
		if filepath.Base(path) != name {
			_ = os.Remove(path)
		}
	}
}

// identity is what the cache knows of a file: its digest as long as the rest is as it was.
type identity struct {
	Path, Digest string
	Size, Time   int64
}

// identify finds out the binary's digest and size, and reads it for that only if it is not the file that it was in an
// earlier run.
func (b *Binary) identify() error {
	if b.Digest != "" {
		return nil
	}
	info, err := os.Stat(b.Path)
	if err != nil {
		return fmt.Errorf("cannot read the agent: %w", err)
	}
	path, err := filepath.Abs(b.Path)
	if err != nil || b.cache == "" {
		return b.load()
	}
	now := identity{Path: path, Size: info.Size(), Time: info.ModTime().UnixNano()}
	record := filepath.Join(b.cache, "digest-"+b.Arch+".json")
	var was identity
	if text, err := os.ReadFile(record); err == nil && json.Unmarshal(text, &was) == nil {
		now.Digest = was.Digest
		if now == was && len(was.Digest) == 64 && strings.Trim(was.Digest, "0123456789abcdef") == "" {
			b.Digest, b.Size = was.Digest, was.Size
			return nil
		}
	}
	if err := b.load(); err != nil {
		return err
	}
	now.Digest = b.Digest
	if text, err := json.Marshal(now); err == nil && os.MkdirAll(b.cache, 0o700) == nil {
		_ = atomicfile.WriteLoose(record, text) // the next run reads the binary again
	}
	return nil
}

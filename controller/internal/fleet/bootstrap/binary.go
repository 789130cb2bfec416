package bootstrap

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Binary is an agent for one architecture.
type Binary struct {
	Path, Arch, Digest string
	Text               []byte

	packing sync.Once
	packed  []byte // set by packing
	failed  error  // likewise
}

// Binaries finds the agent for a host.
type Binaries struct {
	// Paths are the candidates: files, or patterns of them. Those that are not there, or not programs for Linux, are
	// passed over.
	Paths []string

	mu     sync.Mutex
	byArch map[string]*Binary // guarded by mu
	looked bool               // guarded by mu
}

// Named are the agents in the given files. A file that is none is an error, before any host is touched.
func Named(paths []string) (*Binaries, error) {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("cannot read the agent: %w", err)
		}
		if archOf(path) == "" {
			return nil, fmt.Errorf("%s is not a program for Linux on a machine that agents run on", path)
		}
	}
	return &Binaries{Paths: paths}, nil
}

// Beside are the places of agents for the program at path: beside it, and where packages put them.
func Beside(path string) []string {
	var out []string
	for _, dir := range []string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "..", "lib", "hark"), "/usr/lib/hark"} {
		out = append(out, filepath.Join(dir, "hark-agent"), filepath.Join(dir, `hark-agent[\-_.]*`))
	}
	return out
}

// For gives the agent for an operating system and an architecture as Go calls them.
func (b *Binaries) For(system, arch string) (*Binary, error) {
	if system != "linux" {
		return nil, fmt.Errorf("there is no agent for %s", system)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.looked {
		b.look()
	}
	found := b.byArch[arch]
	if found == nil {
		return nil, fmt.Errorf("there is no hark-agent for linux/%s beside hark: build it (GOARCH=%s) and name it with --agent-binary", arch, arch)
	}
	return found, found.load()
}

// All gives all agents for Linux that can be read.
func (b *Binaries) All() []*Binary {
	var all []*Binary
	for _, arch := range architectures() {
		if x, err := b.For("linux", arch); err == nil {
			all = append(all, x)
		}
	}
	return all
}

// look finds the candidates. It assumes mu held.
func (b *Binaries) look() {
	b.looked, b.byArch = true, map[string]*Binary{}
	for _, pattern := range b.Paths {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			paths = []string{pattern}
		}
		for _, path := range paths {
			if arch := archOf(path); arch != "" && b.byArch[arch] == nil {
				b.byArch[arch] = &Binary{Path: path, Arch: arch}
			}
		}
	}
}

// archOf is the architecture of a program, "" if the file is none.
func archOf(path string) string {
	if strings.HasSuffix(path, ".before") {
		return ""
	}
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_386:
		return "386"
	}
	return ""
}

// load reads the binary, once.
func (b *Binary) load() error {
	if b.Text != nil {
		return nil
	}
	text, err := os.ReadFile(b.Path)
	if err != nil {
		return fmt.Errorf("cannot read the agent: %w", err)
	}
	sum := sha256.Sum256(text)
	b.Text, b.Digest = text, hex.EncodeToString(sum[:])
	return nil
}

// packLevel packs a twentieth better than the fastest one in about the same time.
const packLevel = 3

// body is what is sent of the binary, packed by gzip or not. It is packed once, and not before it has to be: that
// takes longer than all else that a host is asked.
func (b *Binary) body(packed bool) ([]byte, error) {
	if !packed {
		return b.Text, nil
	}
	b.packing.Do(func() {
		var out bytes.Buffer
		w, err := gzip.NewWriterLevel(&out, packLevel)
		if err == nil {
			_, err = w.Write(b.Text)
			err = errors.Join(err, w.Close())
		}
		if err != nil {
			b.failed = fmt.Errorf("cannot pack the agent: %w", err)
		}
		b.packed = out.Bytes()
	})
	return b.packed, b.failed
}

// Loaded is the binary of a digest, if For has given it; else nil.
func (b *Binaries) Loaded(digest string) *Binary {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.byArch {
		if x.Digest == digest && x.Text != nil {
			return x
		}
	}
	return nil
}

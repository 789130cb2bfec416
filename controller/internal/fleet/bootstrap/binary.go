package bootstrap

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Binary is an agent for one architecture. Size is in bytes; Text is nil before For has read it.
type Binary struct {
	Path, Arch, Digest string
	Size               int64
	Text               []byte

	cache string // the directory of packed agents, "" for none
	packs [len(formats)]pack
}

// Binaries finds the agent for a host.
type Binaries struct {
	// Paths are the candidates: files, or patterns of them. Those that are not there, or not programs for Linux, are
	// passed over.
	Paths []string
	// Cache is a directory of this user's in which packed agents stay for the next run, "" for none.
	Cache string

	mu     sync.Mutex
	byArch map[string]*Binary // guarded by mu
	looked bool               // guarded by mu
}

// Named returns the agents in the given files. A file that is none is an error, before any host is touched.
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

// AgentPaths returns the places of agents for the program at path: beside it, and where packages put them.
func AgentPaths(path string) []string {
	var out []string
	for _, dir := range []string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "..", "lib", "hark"),
		"/usr/lib/hark"} {
		out = append(out, filepath.Join(dir, "hark-agent"), filepath.Join(dir, `hark-agent[\-_.]*`))
	}
	return out
}

// For returns the agent for an operating system and an architecture as Go calls them.
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
		return nil, fmt.Errorf("there is no hark-agent for linux/%s beside hark: build it (GOARCH=%s) and name it with "+
			"--agent-binary", arch, arch)
	}
	return found, found.load()
}

// All returns all agents for Linux that can be read, with their digests and sizes. Their texts may not have been read.
func (b *Binaries) All() []*Binary {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.looked {
		b.look()
	}
	var all []*Binary
	for _, arch := range architectures() {
		if x := b.byArch[arch]; x != nil && x.identify() == nil {
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
				b.byArch[arch] = &Binary{Path: path, Arch: arch, cache: b.Cache}
			}
		}
	}
}

// archOf returns the architecture of a program, "" if the file is none.
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
	b.Text, b.Size, b.Digest = text, int64(len(text)), hex.EncodeToString(sum[:])
	return nil
}

// Loaded returns the binary of a digest, if For has given it; else nil.
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

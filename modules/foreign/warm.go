package foreign

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/modules"
)

// A Python that stays serves the modules written in it: its children begin with everything imported, which takes most
// of the time of a module that does little. warm.py is what it runs, and describes the kinds of servers.

//go:embed warm.py
var warmSource string

// warmProgram is warm.py with what it shares with a Python that is started for one call.
func warmProgram() string {
	return strings.Replace(warmSource, "# name_secrets and TELLS_SECRETS are written here, see process.go",
		nameSecrets+"\n\nTELLS_SECRETS = b'"+tellsSecrets+"'", 1)
}

const (
	// warmIdle is how long a server stays that nobody needs, and how long one that could not be made is not tried
	// again.
	warmIdle = time.Minute
	// warmMost is how many servers of packs there may be. Those stay that were used again, and of these the last.
	warmMost = 32
)

// errCold says that the module must have a Python of its own. Nothing of it has run.
var errCold = errors.New("there is no Python that could be forked")

// pythons are the servers of this process, which run as its user.
type pythons struct {
	mu      sync.Mutex // held while a server is made
	servers map[string]*server
	failed  map[string]time.Time

	manifests manifests
}

// wanted is a module that is to be run.
type wanted struct {
	python  []string
	environ []string
	digest  string                 // of the pack
	read    func() ([]byte, error) // reads the pack, once
	m       manifest
}

// with returns a command line of its interpreter.
func (w wanted) with(args ...string) []string { return slices.Concat(w.python, args) }

// fork runs the module, or fails with errCold.
func (p *pythons) fork(ctx context.Context, w wanted) modules.Fork {
	return func(dir string, stdin, stdout, stderr *os.File) (*modules.Forked, error) {
		for range 2 { // the first may know of files that have changed since, or end just now for being idle
			s, err := p.await(ctx, w)
			if err != nil {
				return nil, err
			}
			forked, err := s.fork(map[string]any{"dir": dir}, stdin, stdout, stderr)
			if !errors.Is(err, errCold) {
				return forked, err
			}
		}
		return nil, errCold
	}
}

// await is ofPack for as long as ctx lasts. A server that is being made is for the next call then.
func (p *pythons) await(ctx context.Context, w wanted) (*server, error) {
	type outcome struct {
		s   *server
		err error
	}
	made := make(chan outcome, 1)
	go func() {
		s, err := p.ofPack(w)
		made <- outcome{s, err}
	}()
	select {
	case o := <-made:
		return o.s, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ofPack returns the server for one pack in one environment, since libraries may look at variables when they are
// imported.
func (p *pythons) ofPack(w wanted) (*server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server(append([]string{"pack", strings.Join(w.python, " "), w.digest}, w.environ...),
		func() (*server, error) {
			for range 2 {
				base, err := p.ofBase(w)
				if err != nil {
					return nil, err
				}
				s, err := base.forkServer(w)
				if !errors.Is(err, errCold) {
					return s, err
				}
			}
			return nil, errCold
		})
}

// ofBase returns the server that knows what all modules import of one version of Ansible.
func (p *pythons) ofBase(w wanted) (*server, error) {
	environ := slices.DeleteFunc(slices.Clone(w.environ), func(pair string) bool { return !early(pair) })
	return p.server(append([]string{base, strings.Join(w.python, " "), w.m.Base}, environ...), func() (*server, error) {
		return startServer(w, environ)
	})
}

// base is the first word of the keys of servers that others are forked from.
const base = "base"

// early reports whether an interpreter looks at a variable when it starts, and not later.
func early(pair string) bool {
	name, _, _ := strings.Cut(pair, "=")
	for _, prefix := range []string{"PYTHON", "LD_", "LC_", "LANG", "HOME", "PATH", "VIRTUAL_ENV"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// server returns the server of a key, which is made if there is none.
func (p *pythons) server(parts []string, start func() (*server, error)) (*server, error) {
	key := strings.Join(parts, "\x00")
	if s := p.servers[key]; s != nil && s.alive() {
		return s, nil
	}
	if at, ok := p.failed[key]; ok && time.Since(at) < warmIdle {
		return nil, errCold
	}
	delete(p.failed, key)
	s, err := start()
	if err != nil {
		if p.failed == nil {
			p.failed = map[string]time.Time{}
		}
		p.failed[key] = time.Now()
		return nil, fmt.Errorf("%w: %w", errCold, err)
	}
	if p.servers == nil {
		p.servers = map[string]*server{}
	}
	p.makeRoom()
	p.servers[key] = s
	return s, nil
}

// makeRoom forgets servers that have ended, and ends those of packs that are the least needed: a module in a loop
// whose items have environments of their own must not cost others theirs.
func (p *pythons) makeRoom() {
	var packs []string
	for key, s := range p.servers {
		switch {
		case !s.alive():
			delete(p.servers, key)
		case !strings.HasPrefix(key, base+"\x00"):
			packs = append(packs, key)
		}
	}
	slices.SortFunc(packs, func(a, b string) int { return p.servers[a].worth().compare(p.servers[b].worth()) })
	for ; len(packs) >= warmMost; packs = packs[1:] {
		p.servers[packs[0]].retire()
		delete(p.servers, packs[0])
	}
}

// close ends the servers and waits until no process of theirs is left: a user is not removed while one of his lives.
func (p *pythons) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.servers {
		s.retire()
	}
	limit := time.Now().Add(closing)
	for _, s := range p.servers {
		s.awaitEnd(limit)
	}
	p.servers = nil
}

// closing is how long servers may take to end.
const closing = 2 * time.Second

// imported returns the Python files of a pack but for the module itself, by their dotted names.
func imported(pack []byte, m manifest) ([]string, error) {
	z, err := zip.NewReader(bytes.NewReader(pack), int64(len(pack)))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".py")
		name = strings.ReplaceAll(strings.TrimSuffix(name, "/__init__"), "/", ".")
		if ok && name != m.Entry {
			names = append(names, name)
		}
	}
	return names, nil
}

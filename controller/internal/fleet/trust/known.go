package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
)

// KnownFile is the name of the record of agents in the operator's directory.
const KnownFile = "known_agents"

// Known is the record of which key belongs to which agent: lines of name and public key, in a file as people know it
// from ssh. The first key that is seen for a name is kept; another one is refused until somebody forgets the first. A
// line that is neither is passed over with a warning, and gone when the record is written next.
type Known struct {
	path string
	warn func(string)

	mu    sync.Mutex
	keys  map[string]string // guarded by mu
	stamp stamp             // of the file that keys are; guarded by mu
	// untidy: the file has lines that are passed over, or a last one that does not end; guarded by mu
	untidy bool
}

// stamp reports whether a file is still the one that was read. The zero stamp is that of no file.
type stamp struct {
	file    uint64 // inode
	size    int64
	changed time.Time
}

func stampOf(path string) (stamp, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	s := stamp{size: st.Size(), changed: st.ModTime()}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		s.file = uint64(sys.Ino)
	}
	return s, nil
}

// OpenKnown reads the record in dir; none is an empty one. warn, if it is not nil, is told of lines that are passed
// over.
func OpenKnown(dir string, warn func(string)) (*Known, error) {
	if warn == nil {
		warn = func(string) {}
	}
	k := &Known{path: filepath.Join(dir, KnownFile), warn: warn}
	return k, k.read()
}

// read takes the file as it is now, unless it is the one that was read last. It assumes mu held.
func (k *Known) read() error {
	now, err := stampOf(k.path)
	if err == nil && k.keys != nil && now == k.stamp {
		return nil
	}
	text, err := securefile.Read(k.path, securefile.Ours)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot read the record of agents: %v", err)
	}
	k.keys, k.stamp, k.untidy = map[string]string{}, now, len(text) > 0 && text[len(text)-1] != '\n'
	for i, line := range strings.Split(string(text), "\n") {
		if err := k.parse(line); err != nil {
			k.untidy = true
			k.warn(fmt.Sprintf("%s:%d %v", k.path, i+1, err))
		}
	}
	return nil
}

// parse takes one line. It assumes mu held.
func (k *Known) parse(line string) error {
	f := strings.Fields(line)
	switch {
	case len(f) == 0 || strings.HasPrefix(f[0], "#"):
	case len(f) != 2 || check(f[0], f[1]) != nil:
		return errors.New("is not the name and the public key of an agent: the line is passed over")
	case k.keys[f[0]] != "" && k.keys[f[0]] != f[1]:
		return fmt.Errorf("gives %s another key than a line before it, which counts", f[0])
	default:
		k.keys[f[0]] = f[1]
	}
	return nil
}

// ChangedKeyError says that an agent has another key than the one on record.
type ChangedKeyError struct{ Name, Had, Has, Path string }

func (e *ChangedKeyError) Error() string {
	return fmt.Sprintf(
		"the key of agent %s has changed: %s has %s, it shows %s; if it was installed again, run `hark agents remove %s`",
		e.Name, e.Path, e.Had, e.Has, e.Name)
}

// Key returns the key on record for a name, "" if there is none.
func (k *Known) Key(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[name]
}

// Names returns the names of all agents on record, sorted.
func (k *Known) Names() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.keys))
}

// Pin accepts key for name if it is the one on record or the first. The error is a *ChangedKeyError if it is another.
func (k *Known) Pin(name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys[name] != "" {
		return k.same(name, key)
	}
	if err := check(name, key); err != nil {
		return err
	}
	return k.locked(func() error {
		if k.keys[name] != "" { // another controller was first
			return k.same(name, key)
		}
		return k.add(name, key)
	})
}

// same reports whether key is the one on record for name. It assumes mu held.
func (k *Known) same(name, key string) error {
	if had := k.keys[name]; had != key {
		return &ChangedKeyError{Name: name, Had: had, Has: key, Path: k.path}
	}
	return nil
}

// Replace records key for name, whatever was on record: it came from the host itself, over ssh.
func (k *Known) Replace(name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys[name] == key {
		return nil
	}
	if err := check(name, key); err != nil {
		return err
	}
	return k.locked(func() error {
		k.keys[name] = key
		return k.write()
	})
}

func check(name, key string) error {
	if err := wire.CheckName(name); err != nil {
		return err
	}
	if !wire.ValidKey(key) {
		return fmt.Errorf("%.300q is not the public key of %s", key, name)
	}
	return nil
}

// Forget drops a name from the record.
func (k *Known) Forget(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.locked(func() error {
		delete(k.keys, name)
		return k.write()
	})
}

// locked changes the record while no other controller does, from what the file holds then. It assumes mu held.
func (k *Known) locked(change func() error) error {
	err := os.MkdirAll(filepath.Dir(k.path), 0o700)
	var unlock func()
	if err == nil {
		unlock, err = lockFile(k.path + ".lock")
	}
	if err != nil {
		return fmt.Errorf("cannot keep the record of agents: %v", err)
	}
	defer unlock()
	if err := k.read(); err != nil {
		return err
	}
	return change()
}

// add writes one line behind the others: a fleet's first contact costs a line for each agent and not the whole
// record. It is not synced: an agent whose line a power cut took is known by its operator's word as it was the first
// time. It assumes mu and the lock held.
func (k *Known) add(name, key string) error {
	if k.untidy {
		k.keys[name] = key
		return k.write()
	}
	f, err := os.OpenFile(k.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("cannot keep the record of agents: %v", err)
	}
	_, err = fmt.Fprintf(f, "%s %s\n", name, key)
	if err = errors.Join(err, f.Close()); err == nil {
		k.stamp, err = stampOf(k.path)
	}
	if err != nil {
		k.keys = nil // to be read again
		return fmt.Errorf("cannot keep the record of agents: %v", err)
	}
	k.keys[name] = key
	return nil
}

// write replaces the file whole. It assumes mu and the lock held.
func (k *Known) write() error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(k.keys)) {
		fmt.Fprintf(&b, "%s %s\n", name, k.keys[name])
	}
	err := atomicfile.Write(k.path, []byte(b.String()))
	if err == nil {
		k.stamp, err = stampOf(k.path)
	}
	if err != nil {
		k.keys = nil // to be read again
		return fmt.Errorf("cannot keep the record of agents: %v", err)
	}
	k.untidy = false
	return nil
}

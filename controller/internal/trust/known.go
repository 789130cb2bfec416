package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"hark/agent/atomicfile"
	"hark/agent/guarded"
	"hark/agent/wire"
)

// KnownFile is the name of the record of agents in the operator's directory.
const KnownFile = "known_agents"

// Known is the record of which key belongs to which agent: lines of name and public key, in a file as people know it from
// ssh. The first key that is seen for a name is kept; another one is refused until somebody forgets the first. A line that is neither is
// passed over with a warning, and gone when the record is written next.
type Known struct {
	path string
	warn func(string)

	mu   sync.Mutex
	keys map[string]string // guarded by mu
}

// OpenKnown reads the record in dir; none is an empty one. warn, if it is not nil, is told of lines that are passed over.
func OpenKnown(dir string, warn func(string)) (*Known, error) {
	if warn == nil {
		warn = func(string) {}
	}
	k := &Known{path: filepath.Join(dir, KnownFile), warn: warn}
	var err error
	k.keys, err = k.read()
	return k, err
}

func (k *Known) read() (map[string]string, error) {
	keys := map[string]string{}
	text, err := guarded.Read(k.path, guarded.Ours)
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the record of agents: %v", err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || strings.HasPrefix(f[0], "#"):
		case len(f) != 2 || wire.CheckName(f[0]) != nil || !wire.ValidKey(f[1]):
			k.warn(fmt.Sprintf("%s:%d is not the name and the public key of an agent: the line is passed over", k.path, i+1))
		case keys[f[0]] != "" && keys[f[0]] != f[1]:
			k.warn(fmt.Sprintf("%s:%d gives %s another key than a line before it, which counts", k.path, i+1, f[0]))
		default:
			keys[f[0]] = f[1]
		}
	}
	return keys, nil
}

// ChangedKeyError says that an agent has another key than the one on record.
type ChangedKeyError struct{ Name, Had, Has, Path string }

func (e *ChangedKeyError) Error() string {
	return fmt.Sprintf("the key of agent %s has changed: %s has %s, it shows %s; if it was installed anew, run `hark agents remove %s`",
		e.Name, e.Path, e.Had, e.Has, e.Name)
}

// Key is the key on record for a name, "" if there is none.
func (k *Known) Key(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys[name]
}

// Pin accepts key for name if it is the one on record or the first. The error is a *ChangedKeyError if it is another.
func (k *Known) Pin(name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if had := k.keys[name]; had != "" {
		if had != key {
			return &ChangedKeyError{Name: name, Had: had, Has: key, Path: k.path}
		}
		return nil
	}
	return k.put(name, key)
}

// Replace records key for name, whatever was on record: it came from the host itself, over ssh.
func (k *Known) Replace(name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys[name] == key {
		return nil
	}
	return k.put(name, key)
}

// put writes one line. It assumes mu held.
func (k *Known) put(name, key string) error {
	if err := wire.CheckName(name); err != nil {
		return err
	}
	if !wire.ValidKey(key) {
		return fmt.Errorf("%.300q is not the public key of %s", key, name)
	}
	return k.change(func(keys map[string]string) { keys[name] = key })
}

// Forget drops a name from the record.
func (k *Known) Forget(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.change(func(keys map[string]string) { delete(keys, name) })
}

// change reads the file again, since other controllers write it too, and replaces it whole. It assumes mu held.
func (k *Known) change(f func(map[string]string)) error {
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return fmt.Errorf("cannot keep the record of agents: %v", err)
	}
	unlock, err := lockFile(k.path + ".lock")
	if err != nil {
		return fmt.Errorf("cannot keep the record of agents: %v", err)
	}
	defer unlock()
	keys, err := k.read()
	if err != nil {
		return err
	}
	f(keys)
	names := make([]string, 0, len(keys))
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s %s\n", name, keys[name])
	}
	if err := atomicfile.Write(k.path, []byte(b.String())); err != nil {
		return fmt.Errorf("cannot keep the record of agents: %v", err)
	}
	k.keys = keys
	return nil
}

package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hark/agent/atomicfile"
	"hark/agent/securefile"
	"hark/agent/wire"
)

// ReadersFile is the name of the list of readers in the operator's directory.
const ReadersFile = "readers"

// Reader is somebody who may read the records of this operator's runs.
type Reader struct {
	Name string `json:"name"`
	Key  string `json:"key"` // public curve key
}

// Readers returns the list in dir: lines of name and public curve key. No file is an empty list; a line that is
// neither is an error, since somebody would go without records for it.
func Readers(dir string) ([]Reader, error) {
	path := filepath.Join(dir, ReadersFile)
	text, err := securefile.Read(path, securefile.Ours)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of readers: %w", err)
	}
	var readers []Reader
	for i, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != 2 || checkReader(f[0], f[1]) != nil {
			return nil, fmt.Errorf("%s:%d is not the name and the public reader's key of somebody", path, i+1)
		}
		readers = append(readers, Reader{f[0], f[1]})
	}
	return readers, nil
}

func checkReader(name, key string) error {
	if err := wire.CheckName(name); err != nil {
		return fmt.Errorf("%.300q cannot be the name of a reader: letters, digits and _ . @ + - can", name)
	}
	if !wire.ValidReader(key) {
		return fmt.Errorf("%.300q is not a reader's public key (X...): `hark runs readers list` shows him his own", key)
	}
	return nil
}

// AddReader enters a reader. A name that another key has is an error.
func AddReader(dir, name, key string) error {
	if err := checkReader(name, key); err != nil {
		return err
	}
	return changeReaders(dir, func(readers []Reader) ([]Reader, error) {
		for _, r := range readers {
			switch {
			case r == Reader{name, key}:
				return readers, nil
			case r.Name == name:
				return nil, fmt.Errorf("there is a reader %s with another key: `hark runs readers remove %s` takes him out", name,
					name)
			case r.Key == key:
				return nil, fmt.Errorf("this is the key of the reader %s", r.Name)
			}
		}
		return append(readers, Reader{name, key}), nil
	})
}

// RemoveReader takes a reader out, by name or key.
func RemoveReader(dir, what string) error {
	return changeReaders(dir, func(readers []Reader) ([]Reader, error) {
		left := slices.DeleteFunc(slices.Clone(readers), func(r Reader) bool { return r.Name == what || r.Key == what })
		if len(left) == len(readers) {
			return nil, fmt.Errorf("there is no reader %q", what)
		}
		return left, nil
	})
}

// changeReaders replaces the list while no other command does.
func changeReaders(dir string, change func([]Reader) ([]Reader, error)) error {
	path := filepath.Join(dir, ReadersFile)
	err := os.MkdirAll(dir, 0o700)
	var unlock func()
	if err == nil {
		unlock, err = lockFile(path + ".lock")
	}
	if err != nil {
		return fmt.Errorf("cannot keep the list of readers: %v", err)
	}
	defer unlock()
	readers, err := Readers(dir)
	if err != nil {
		return err
	}
	if readers, err = change(readers); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range readers {
		fmt.Fprintf(&b, "%s %s\n", r.Name, r.Key)
	}
	if err := atomicfile.Write(path, []byte(b.String())); err != nil {
		return fmt.Errorf("cannot keep the list of readers: %v", err)
	}
	return nil
}

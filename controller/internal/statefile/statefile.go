// Package statefile writes the files that the controller's side remembers things in: whole, readable by their owner alone, and, where
// they are JSON, with the version of their form.
package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write puts text in place of a file, which is the old or the new one, never half of it.
func Write(path string, text []byte) error {
	staged, err := stage(path, text)
	if err != nil {
		return err
	}
	defer os.Remove(staged)
	return os.Rename(staged, path)
}

// WriteNew is Write for a file that must not be there; if it is, the error is fs.ErrExist.
func WriteNew(path string, text []byte) error {
	staged, err := stage(path, text)
	if err != nil {
		return err
	}
	defer os.Remove(staged)
	return os.Link(staged, path) // fails if there is one, as a rename does not
}

// stage writes text into a file beside its place; the mode of such files is 0600.
func stage(path string, text []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Load reads JSON whose field version is at most the one given into v, which stays as it is if there is no file.
func Load(path string, version int, v any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	if head.Version > version {
		return fmt.Errorf("it has version %d, this hark knows %d", head.Version, version)
	}
	return json.Unmarshal(text, v)
}

// Save writes v as JSON. Its field version is the writer's to set.
func Save(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(text, '\n'))
}

// Package statefile keeps the files of JSON that the controller's side remembers things in, with the version of their
// form.
package statefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"hark/agent/atomicfile"
)

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
	return atomicfile.Write(path, append(text, '\n'))
}

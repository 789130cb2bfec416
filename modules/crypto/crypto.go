// Package crypto holds modules of the collection community.crypto: keys and what is made of them. It has no program of the host do the
// work, and knows the algorithms that Go's library knows: no DSA, no curves but NIST's, neither X448 nor Ed448.
package crypto

import (
	"os"
	"path/filepath"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/oserr"
	"hark/modules/internal/tool"
)

// All are the modules of this family.
func All() []*modules.Module {
	return []*modules.Module{OpensslPrivatekey}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// needDir fails unless the file's directory is there.
func needDir(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	return tool.Fail(map[string]any{"name": dir}, "The directory %s does not exist or the file is not a directory", dir)
}

// readExisting is a file's content, nil if there is none.
func readExisting(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, tool.Fail(nil, "Error while loading %s - %s", path, oserr.Path(err, path))
	case raw == nil:
		raw = []byte{}
	}
	return raw, nil
}

// keep makes a backup if one is wanted; its name goes to the result.
func keep(res *modules.Result, path string, wanted bool) error {
	if !wanted {
		return nil
	}
	name, err := fsx.Backup(path, time.Now())
	if err == nil && name != "" {
		res.Set("backup_file", name)
	}
	return err
}

// writeFile replaces a file. A new one is never open to more than mode says, an old one gets its attributes before its content.
func writeFile(path string, content []byte, mode os.FileMode, a fsx.FileArgs) error {
	if fsx.Exists(path) {
		if _, err := a.For(path, false).Apply(false, nil); err != nil {
			return err
		}
		return fsx.WriteFile(path, content, a.UnsafeWrites)
	}
	// What is written takes the mode of what was there.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return tool.Fail(nil, "Error while writing result: %s", oserr.Path(err, path))
	}
	f.Close()
	if err := fsx.WriteFile(path, content, a.UnsafeWrites); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// remove removes a file that may be there.
func remove(path string, check bool) (bool, error) {
	if _, err := os.Stat(path); err != nil {
		return false, nil
	}
	if check {
		return true, nil
	}
	if err := os.Remove(path); err != nil {
		return false, tool.Fail(nil, "%s", oserr.Path(err, path))
	}
	return true, nil
}

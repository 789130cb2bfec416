// Package crypto holds modules of the collection community.crypto, a file each, named as the module: keys and what is
// made of them. It has no program of the host do the work, and knows the algorithms that Go's library knows: no DSA,
// no curves but NIST's, neither X448 nor Ed448.
package crypto

import (
	"os"
	"path/filepath"
	"time"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

// All returns the modules of the collection.
func All() []*modules.Module {
	return []*modules.Module{
		OpensshKeypair,
		OpensslPrivatekey,
	}
}

// needDir fails unless the file's directory is there.
func needDir(path string) error {
	dir := filepath.Dir(path)
	if fsx.IsDir(dir) {
		return nil
	}
	return tool.Fail(value.DictOf("name", dir), "The directory %s does not exist or the file is not a directory", dir)
}

// readExisting returns a file's content, nil if there is none.
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

// saved adds to a result what was done to a file: its name, whether it changed and the name of a backup, in this order.
func saved(res *modules.Result, path string) {
	backup, kept := res.Data.Get("backup_file")
	if kept {
		res.Data.Delete(value.Str("backup_file"))
	}
	res.Set("filename", path)
	res.Set("changed", modules.Here)
	if kept {
		res.Set("backup_file", backup)
	}
}

// writeFile replaces a file. A new one is never open to more than mode says, an old one gets its attributes before
// its content.
func writeFile(path string, content []byte, mode os.FileMode, a fsx.FileArgs) error {
	if fsx.Exists(path) {
		if _, err := a.For(path, false).Apply(false, nil); err != nil {
			return err
		}
		return fsx.WriteFile(path, content, a.UnsafeWrites)
	}
	staged, err := fsx.Stage(path, a.UnsafeWrites)
	if err != nil {
		return tool.Fail(nil, "Error while writing result: %s", err)
	}
	defer staged.Discard()
	staged.Narrow(value.Int(mode))
	if _, err := staged.Write(content); err != nil {
		return err
	}
	return staged.Commit(a.UnsafeWrites)
}

// remove removes a file that may be there.
func remove(path string, check bool) (bool, error) {
	if !fsx.Exists(path) {
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

// file is one that may go.
type file struct {
	path          string
	backup, check bool
}

// drop removes a file, with a backup if one is wanted.
func drop(res *modules.Result, f file) error {
	if !f.check {
		if err := keep(res, f.path, f.backup); err != nil {
			return err
		}
	}
	var err error
	res.Changed, err = remove(f.path, f.check)
	return err
}

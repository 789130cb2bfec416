package answer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"hark/agent/wire"
	"hark/modules/mirror"
	"hark/playbook/plan"
)

// tree tells what a path of the controller stands for, to a step that synchronizes with it.
func (a *Answerer) tree(b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if ask.Tree == nil || !acts(step, "synchronize") || !argumentNames(step, ask.Name) {
		return wire.Answer{}, &refusal{fmt.Sprintf("step %s does not synchronize with %q", step.ID, ask.Name)}
	}
	var digest mirror.Digest
	if ask.Tree.Digests {
		digest = func(path string, info fs.FileInfo) (string, error) {
			f, err := a.digest(ask.Host, path, info, false)
			return f.Digest, err
		}
	}
	tree, err := mirror.Scan(synchronized(b, step, ask.Name), *ask.Tree, digest)
	return wire.Answer{Tree: tree}, err
}

// synchronized is the path that a step names: what is there by the search path, else beside the playbook. A slash at its end stays.
func synchronized(b *batch, step *plan.Step, name string) string {
	path, _, ok := b.Dir.Stack(searchPaths(b, step), "files", name)
	if !ok {
		path = b.Dir.Path(name)
	}
	if strings.HasSuffix(name, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}

// unpack makes the changes of an archive that a host sent. The directory that they are in may be new, but not the one above it.
func (u *upload) unpack(dest string, mode uint32) error {
	if _, err := u.tmp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	only := ""
	if mode&unix.S_IFMT == unix.S_IFREG {
		dest, only = filepath.Split(dest)
	} else if err := os.Mkdir(dest, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := os.OpenRoot(dest)
	if err != nil {
		return err
	}
	defer root.Close()
	return mirror.Unpack(root, only, u.tmp)
}

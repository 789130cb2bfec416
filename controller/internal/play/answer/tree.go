package answer

import (
	"io/fs"
	"strings"

	"hark/agent/wire"
	"hark/modules/treesync"
	"hark/playbook/plan"
)

// tree returns what a path of the controller stands for, to a step that synchronizes with it.
func (a *Answerer) tree(b *batch, step *plan.Step, ask wire.Ask) (wire.Answer, error) {
	if ask.Tree == nil {
		return wire.Answer{}, &refusal{"a tree without a question"}
	}
	var digest treesync.Digest
	if ask.Tree.Digests {
		digest = func(path string, info fs.FileInfo) (string, error) {
			f, _, err := a.files.digest(ask.Host, path, info, false)
			return f.Digest, err
		}
	}
	tree, err := treesync.Scan(synchronized(b, step, ask.Name), *ask.Tree, digest)
	return wire.Answer{Tree: tree}, err
}

// synchronized returns the path that a step names: what is there by the search path, else beside the playbook. A
// slash at its end stays.
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

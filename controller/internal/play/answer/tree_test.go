package answer

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hark/agent/wire"
	"hark/modules/treesync"
	"hark/playbook/plan"
)

func TestTreeIsListedAndItsFilesAreNamed(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "ansible.posix.synchronize", dict("src", "site/", "dest", "/srv")), task("2", "copy", dict("src", "site/")))
	if err := os.MkdirAll(filepath.Join(dir, "files", "site", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "files", "site", "sub", "f"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	list := func(step plan.ID, name string) wire.Answer {
		k := ask(wire.AskTree, "a", step)
		k.Name, k.Tree = name, &treesync.Query{Options: treesync.Options{Recursive: true}, Digests: true}
		return a.Answer(context.Background(), k)
	}
	got := list("1", "site/")
	if got.Err != "" || got.Tree == nil || got.Tree.Path != filepath.Join(dir, "files", "site")+"/" || len(got.Tree.Entries) != 3 {
		t.Fatalf("%+v", got)
	}
	k := ask(wire.AskBlob, "a", "1")
	k.Digest = got.Tree.Entries[2].Digest
	if blob := a.Answer(context.Background(), k); string(blob.Data) != "content" {
		t.Errorf("the file reads %+v", blob)
	}
}

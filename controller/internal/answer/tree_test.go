package answer

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hark/agent/wire"
	"hark/modules/mirror"
	"hark/playbook/plan"
)

func TestTreeIsListedToTheStepThatNamesIt(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "ansible.posix.synchronize", dict("src", "site/", "dest", "/srv")), task("2", "copy", dict("src", "site/")))
	if err := os.MkdirAll(filepath.Join(dir, "files", "site", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "files", "site", "sub", "f"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	list := func(step plan.ID, name string) wire.Answer {
		k := ask(wire.AskTree, "a", step)
		k.Name, k.Tree = name, &mirror.Query{Options: mirror.Options{Recursive: true}, Digests: true}
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
	if got := list("1", "none/"); got.Err == "" {
		t.Error("a directory was listed that no argument names")
	}
	if got := list("2", "site/"); !strings.HasPrefix(got.Err, "refused: ") {
		t.Errorf("a step of another module got %+v", got)
	}
}

func TestPulledChangesStayWhereTheStepSays(t *testing.T) {
	a, dir := begun(t, Config{}, nil, task("1", "synchronize", dict("src", "/etc/x", "dest", "got", "mode", "pull")))
	send := func(dest string, mode uint32, changes ...mirror.Change) string {
		var archive bytes.Buffer
		open := func(*mirror.Entry) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("text")), nil }
		if err := mirror.Pack(&archive, changes, open); err != nil {
			t.Fatal(err)
		}
		k := ask(wire.AskUpload, "a", "1")
		k.Upload = &wire.Upload{Dest: dest, Data: archive.Bytes(), Last: true, Mode: mode}
		return a.Answer(context.Background(), k).Err
	}
	file := mirror.Change{Entry: mirror.Entry{Rel: "f", Kind: mirror.File, Size: 4, Mode: 0o640}, New: true, Content: true, Perms: true}
	if err := send(filepath.Join(dir, "got"), unix.S_IFDIR, file); err != "" {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "got", "f")); err != nil || string(raw) != "text" {
		t.Errorf("%q, %v", raw, err)
	}
	if err := send(filepath.Join(dir, "other"), unix.S_IFDIR, file); !strings.HasPrefix(err, "refused: ") {
		t.Errorf("another directory was written: %q", err)
	}
	file.Entry.Rel = "../f"
	if err := send(filepath.Join(dir, "got"), unix.S_IFDIR, file); err == "" {
		t.Error("a file outside was written")
	}
	file.Entry.Rel = "beside"
	if err := send(filepath.Join(dir, "got"), unix.S_IFREG, file); err == "" {
		t.Error("a file beside the one that is meant was written")
	}
}

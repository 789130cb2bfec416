package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/wire"
	"hark/controller/internal/fleet/trust"
)

// TestRootReadsTheFilesOfTheConsolesUser: an administrator gives the service its access by commands that run as root.
func TestRootReadsTheFilesOfTheConsolesUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	const user = 4242
	dir := filepath.Join(t.TempDir(), "console")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	made, err := Reader(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Reader(dir)
	if err != nil || again.Key != made.Key {
		t.Fatalf("the key is read as %+v, %v", again, err)
	}
	if err := Use(dir, trust.Access{URL: "tls://broker:4222"}); err != nil {
		t.Fatal(err)
	}
	keeper, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if err := Believe(dir, keeper.Key); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ReaderFile, accessFile} {
		if owner := ownerOf(filepath.Join(dir, name)); owner != user {
			t.Errorf("%s belongs to %d", name, owner)
		}
	}
	if err := os.Chown(filepath.Join(dir, ReaderFile), user+1, user+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Reader(dir); err == nil || !strings.Contains(err.Error(), "belongs to somebody else") {
		t.Errorf("a key of another user is used: %v", err)
	}
}

package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hark/agent/wire"
)

func TestOperatorKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hark", "operator.nk")
	_, err := Load(path)
	var none *NoKeyError
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "hark key create") {
		t.Errorf("no key: %v", err)
	}
	made, created, err := LoadOrCreate(path)
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	again, created, err := LoadOrCreate(path)
	if err != nil || created || again.Key != made.Key {
		t.Errorf("the second time: created %v, %v", created, err)
	}
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a key was replaced: %v", err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

func TestOperatorKeyThatOthersReadIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operator.nk")
	if _, err := Create(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("err = %v", err)
	}
	if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v", err)
	}
}

func TestFirstKeyOfAnAgentIsKept(t *testing.T) {
	dir := t.TempDir()
	keys := make([]string, 3)
	for i := range keys {
		id, err := wire.NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = id.Key
	}
	known := func() *Known {
		t.Helper()
		k, err := OpenKnown(dir)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	k := known()
	if err := errors.Join(k.Pin("web1", keys[0]), k.Pin("web1", keys[0]), known().Pin("web2", keys[1])); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedKeyError
	if err := known().Pin("web1", keys[2]); !errors.As(err, &changed) || !strings.Contains(err.Error(), "hark agents remove web1") {
		t.Errorf("another key: %v", err)
	}
	if got := known().Key("web2"); got != keys[1] {
		t.Errorf("what another controller wrote is %q", got)
	}
	if err := k.Forget("web1"); err != nil {
		t.Fatal(err)
	}
	if err := known().Pin("web1", keys[2]); err != nil {
		t.Errorf("after Forget: %v", err)
	}
}

func TestRecordOfAgentsNamesTheBadLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, KnownFile)
	if err := os.WriteFile(path, []byte("# agents\nweb1 nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKnown(dir); err == nil || !strings.Contains(err.Error(), path+":2:") {
		t.Errorf("err = %v", err)
	}
}

func TestControllersShareTheRecord(t *testing.T) {
	dir := t.TempDir()
	id, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			k, err := OpenKnown(dir)
			if err == nil {
				err = k.Pin("web"+string(rune('a'+i)), id.Key)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	k, err := OpenKnown(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.keys) != 20 {
		t.Errorf("%d of 20 agents are on record", len(k.keys))
	}
}

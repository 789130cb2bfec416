package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hark/agent/wire"
)

func TestListOfReaders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	key := func() string {
		id, err := wire.NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		return id.XKey
	}
	anna, bela := key(), key()
	if list, err := Readers(dir); err != nil || len(list) != 0 {
		t.Errorf("without a file: %v, %v", list, err)
	}
	for _, c := range []struct{ name, key, want string }{
		{"anna", anna, ""},
		{"anna", anna, ""}, // the second time changes nothing
		{"bela", bela, ""},
		{"anna", bela, "there is a reader anna with another key"},
		{"carl", bela, "this is the key of the reader bela"},
		{"a b", anna, "cannot be the name"},
		{"carl", "UABC", "is not a reader's public key"},
	} {
		err := AddReader(dir, c.name, c.key)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("add %s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := RemoveReader(dir, "carl"); err == nil {
		t.Error("somebody was removed who is not there")
	}
	if err := RemoveReader(dir, "anna"); err != nil {
		t.Error(err)
	}
	if list, err := Readers(dir); err != nil || len(list) != 1 || list[0] != (Reader{"bela", bela}) {
		t.Errorf("%v, %v", list, err)
	}
	path := filepath.Join(dir, ReadersFile)
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if err := os.WriteFile(path, []byte("# who\nbela\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Readers(dir); err == nil || !strings.Contains(err.Error(), "readers:2 ") {
		t.Errorf("a line that is none: %v", err)
	}
}

package fleet

import (
	"os"
	"path/filepath"
	"testing"

	"hark/agent/wire"
)

// again is the same operator in another process.
func again(t *testing.T, id *wire.Identity) *wire.Identity {
	t.Helper()
	text, err := id.Text()
	if err != nil {
		t.Fatal(err)
	}
	id, err = wire.ParseIdentity(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The keys that an operator shares with agents are made once: the next process has them, unless their file is of no
// use; then it makes them anew.
func TestPairsAreMadeOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, pairsFile)
	operator, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	agent, err := wire.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	makes := func(id *wire.Identity) bool {
		t.Helper()
		loadSharedKeys(dir, id, &wire.Verified{})
		closed, err := id.Close(wire.NewKey(), agent.XKey)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := agent.Open(closed, id.XKey); err != nil {
			t.Errorf("the agent cannot open it: %v", err)
		}
		before, _ := os.ReadFile(path)
		keep(dir, id, &wire.Verified{})
		after, _ := os.ReadFile(path)
		return string(before) != string(after)
	}
	if !makes(operator) || makes(again(t, operator)) {
		t.Error("the first makes them and the second does not")
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !makes(again(t, operator)) || makes(again(t, operator)) {
		t.Error("what is of no use is made anew, once")
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if !makes(again(t, operator)) {
		t.Error("a file that others may write is taken")
	}
}

package answer

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAFileIsReadOnceUntilItChanges: what has only just changed may change again without bearing another time, and is
// read each time.
func TestAFileIsReadOnceUntilItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	later := time.Duration(0)
	s := sums{now: func() time.Time { return time.Now().Add(later) }}
	of := func() *sum {
		t.Helper()
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.of(path, st)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	later = -time.Hour
	first := of()
	if again := of(); again == first || *again != *first {
		t.Errorf("a file that has just changed gave %v and %v", first, again)
	}
	later = time.Hour
	kept := of()
	if *kept != *first || of() != kept {
		t.Error("a file that has not changed for long was read again")
	}
	write("$ANSIBLE_VAULT;1.1;AES256\n61")
	if got := of(); got.sha256 == first.sha256 || !got.vault {
		t.Errorf("after a change it is %v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(filepath.Dir(path)); err == nil {
		if _, err := s.of(path, st); err == nil {
			t.Error("a file that is not there was read")
		}
	}
}

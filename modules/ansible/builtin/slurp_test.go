package builtin

import (
	"testing"
)

func TestEndlessFilesAreReadUpToALimit(t *testing.T) {
	if raw, err := readUpTo("/dev/zero", 10); len(raw) != 11 || err != nil {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}

package inventory

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAScriptMayLeaveAChild(t *testing.T) {
	child := filepath.Join(t.TempDir(), "child")
	out, _, err := runScript(t.Context(), "/bin/sh", "-c", "sleep 600 & echo $! > "+child+"; echo '{}'")
	if string(out) != "{}\n" || err != nil {
		t.Errorf("it said %q (%v)", out, err)
	}
	pid := 0
	text, err := os.ReadFile(child)
	if err == nil {
		_, err = fmt.Sscan(string(text), &pid)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

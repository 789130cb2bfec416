package builtin

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"hark/modules"
	"hark/modules/modtest"
)

func TestWaitForTakesAnEmptyPathForNone(t *testing.T) {
	r := WaitFor.Run(context.Background(), &modules.Env{}, modtest.Args(map[string]any{"path": "", "timeout": int64(0)}))
	if path, ok := r.Data.Get("path"); r.Failed || r.Data.Text("state") != "started" || !ok || r.Data.Text("path") != "" {
		t.Errorf("it waits, and then goes on: %v: %+v", path, r)
	}
}

func TestWaitForSaysThatALinkToNothingIsAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", path); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"path": path, "timeout": int64(1), "state": "absent"}
	r := WaitFor.Run(context.Background(), &modules.Env{}, modtest.Args(args))
	if r.Failed || r.Data.Text("state") != "absent" {
		t.Errorf("it is told as the module in Python does: %+v", r)
	}
}

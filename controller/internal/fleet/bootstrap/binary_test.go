package bootstrap

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestAgentsAreFoundWherePackagesPutThem: under each name that is given to them, beside the program and in the
// directory of libraries next to it.
func TestAgentsAreFoundWherePackagesPutThem(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the agent that is played by this program must be one of Linux")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin/hark-agent", "bin/hark-agent-linux-" + runtime.GOARCH, "bin/hark-agent_1.0",
		"bin/hark-agent.new", "lib/hark/hark-agent-" + runtime.GOARCH} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(self, path); err != nil {
				t.Fatal(err)
			}
			b := Binaries{Paths: AgentPaths(filepath.Join(dir, "bin", "hark"))[:4]} // without that of this machine
			b.look()
			if found := b.byArch[runtime.GOARCH]; found == nil {
				t.Errorf("%s is not found", name)
			} else if found.Path != path && found.Path != filepath.Join(dir, "bin", "..", name) {
				t.Errorf("found is %s", found.Path)
			}
		})
	}
}

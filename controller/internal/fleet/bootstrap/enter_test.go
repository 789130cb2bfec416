package bootstrap

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAShellThatCleansUpIsNotStopped: a shell that is told to end while it removes its directory removes it all the
// same. Its trace, each line of which takes a while, says when that is.
func TestAShellThatCleansUpIsNotStopped(t *testing.T) {
	dir := t.TempDir()
	sh := exec.Command("/bin/sh", "-x")
	sh.Env = append(os.Environ(), "TMPDIR="+dir, "PS4=$(sleep 0.05)+ ")
	in, err := sh.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	trace, err := sh.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte(enterScript(nil))); err != nil {
		t.Fatal(err)
	}
	in.Close()
	stopped := false
	lines := bufio.NewScanner(trace)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), "+ exit 0") && !stopped {
			stopped = true
			if err := sh.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = sh.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); !stopped || len(left) > 0 {
		t.Errorf("stopped: %v, left behind: %q", stopped, left)
	}
}

package tempdir

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestMain lets the test's own binary play a process that keeps a directory until it is killed.
func TestMain(m *testing.M) {
	if os.Getenv("SCRATCH_KEEPER") == "" {
		os.Exit(m.Run())
	}
	d, err := Make("case")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(d.Path, "file"), nil, 0o400); err != nil {
		panic(err)
	}
	os.Stdout.WriteString(d.Path + "\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// keeper starts a process with a directory; kill ends it as nothing can be caught.
func keeper(t *testing.T) (path string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SCRATCH_KEEPER=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = in.Close()
	}
	t.Cleanup(kill)
	lines := bufio.NewScanner(out)
	lines.Scan()
	return lines.Text(), kill
}

func there(path string) bool { _, err := os.Lstat(path); return err == nil }

func TestTheDeadAreSweptAndTheLivingAreNot(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	living, _ := keeper(t)
	dead, kill := keeper(t)
	kill()
	elsewhere := filepath.Join(t.TempDir(), "precious")
	for _, dir := range []string{elsewhere, filepath.Join(base, "hark-other.1"), filepath.Join(base, "case.1")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(base, "hark-case.link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	d, err := Make("case")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		d.Path: true, living: true, living + "/file": true, dead: false, link: true, elsewhere: true,
		base + "/hark-other.1": true, base + "/case.1": true,
	} {
		if there(path) != want {
			t.Errorf("%s is there: %v", path, !want)
		}
	}
	if err := d.Remove(); err != nil || there(d.Path) {
		t.Errorf("%s is still there, %v", d.Path, err)
	}
}

// Many that begin at once sweep nothing of each other.
func TestThoseThatBeginAtOnceKeepTheirOwn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			d, err := Make("case")
			if err != nil {
				t.Error(err)
				return
			}
			if !there(d.Path) {
				t.Errorf("%s was swept", d.Path)
			}
			if err := d.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
}

func TestADirectoryOfAnotherUserStays(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make one")
	}
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	path := filepath.Join(base, "hark-case.foreign")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	sweep(base, "hark-case.")
	if !there(path) {
		t.Error("it is gone")
	}
}

package leash

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// victim is what the tests below kill: a run of this binary, on a leash of its own, that has files and a process
// which nobody would end.
func victim(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"=", "TMPDIR="+dir, "LEASH_VICTIM=1")
	return cmd
}

// TestVictim waits to be killed, where it was started for that.
func TestVictim(t *testing.T) {
	if os.Getenv("LEASH_VICTIM") == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(t.TempDir(), "file"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	stray := exec.Command("setsid", "sleep", "1000")
	stray.Stdout = os.Stdout
	if err := stray.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stdout.WriteString("\nready\n"); err != nil {
		t.Fatal(err)
	}
	_ = stray.Wait()
}

// However a test binary is killed, what it has started ends and what it has written goes.
func TestNothingIsLeftOfARunThatIsKilled(t *testing.T) {
	for _, how := range []string{"-KILL", "-QUIT", "-INT"} {
		dir := t.TempDir()
		cmd := victim(t, dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() && lines.Text() != "ready" {
		}
		if made, _ := filepath.Glob(dir + "/ht.*/*/*/file"); len(made) != 1 {
			t.Errorf("%s: %v, want a file in the directory of the run", how, made)
		}
		if err := exec.Command("kill", how, strconv.Itoa(cmd.Process.Pid)).Run(); err != nil {
			t.Fatal(err)
		}
		// The sleeping process holds the pipe, and so does who sweeps: it is at its end when both are.
		if _, err := io.Copy(io.Discard, out); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", how, left, err)
		}
	}
}

// The script says what a command has left behind, and it goes too.
func TestTheScriptTellsOfWhatIsLeft(t *testing.T) {
	for command, want := range map[string]string{
		"true":                       "",
		"echo $TMPDIR/x":             "",
		"touch $TMPDIR/forgotten":    "forgotten",
		"mkdir $LEASH/home/anything": "anything",
	} {
		dir := t.TempDir()
		cmd := exec.Command("./leash.sh", "sh", "-c", command)
		cmd.Env = append(os.Environ(), mark+"=", "TMPDIR="+dir)
		out, err := cmd.CombinedOutput()
		if (err != nil) != (want != "") || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", command, err, out)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, %v", command, left, err)
		}
	}
}

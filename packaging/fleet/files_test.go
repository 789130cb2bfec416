//go:build fleet

package fleet

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// bigFile writes size bytes that do not compress, and gives their sha256.
func bigFile(t *testing.T, path string, size int64) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	_, err = io.CopyN(io.MultiWriter(f, sum), rand.NewChaCha8([32]byte{1}), size)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// TestLargeFiles: 200 MB to three hosts and back arrive whole, and neither side ever holds a file in memory.
func TestLargeFiles(t *testing.T) {
	const size, limit = 200 << 20, 110 << 20
	hosts := fleetOf(t, 3)
	for _, m := range hosts {
		m.sh(t, "systemctl restart hark-agent; rm -f /root/big")
	}
	present(t, hosts...)
	dir := project(t, hosts, map[string]string{"big.yml": `
- hosts: all
  gather_facts: false
  tasks:
    - name: copy
      copy: {src: big, dest: /root/big, mode: "0640"}
    - name: fetch
      fetch: {src: /root/big, dest: back}
`})
	sum := bigFile(t, filepath.Join(dir, "big"), size)
	p := site.control.start(t, dir, "play", "-i", "inventory", "big.yml")
	got := p.wait(t)
	if got.code != 0 {
		t.Fatalf("exit code %d", got.code)
	}
	for _, m := range hosts {
		if is := m.sh(t, "sha256sum </root/big; stat -c %a /root/big"); is != sum+"  -\n640" {
			t.Errorf("%s has %s, want %s", m, is, sum)
		}
		back, err := os.Open(filepath.Join(dir, "back", string(m), "root/big"))
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		_, err = io.Copy(h, back)
		back.Close()
		if is := fmt.Sprintf("%x", h.Sum(nil)); err != nil || is != sum {
			t.Errorf("from %s came %s (%v), want %s", m, is, err, sum)
		}
		if peak := peakMemory(t, m); peak > limit {
			t.Errorf("the agent of %s took %d MB", m, peak>>20)
		} else {
			t.Logf("the agent of %s took %d MB at most", m, peak>>20)
		}
		m.sh(t, "rm /root/big; rm -f /var/lib/hark/blobs/*")
	}
	usage := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if peak := usage.Maxrss << 10; peak > 2*limit {
		t.Errorf("the controller took %d MB", peak>>20)
	} else {
		t.Logf("the controller took %d MB at most", peak>>20)
	}
}

// peakMemory is the most that the agent of a host ever had in memory, in bytes.
func peakMemory(t *testing.T, m machine) int64 {
	t.Helper()
	line := strings.Fields(m.sh(t, "grep VmHWM /proc/$(pgrep -P $(systemctl show hark-agent -p MainPID --value))/status"))
	kb, err := strconv.ParseInt(line[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

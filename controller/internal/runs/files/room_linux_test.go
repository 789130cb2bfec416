package files_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
)

// fullDisk is the variable that has the test's own binary record a run on a disk that becomes full.
const fullDisk = "RECORD_ON_A_FULL_DISK"

func recordOnAFullDisk(dir string) error {
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=2m"); err != nil {
		return err
	}
	s := &files.Store{Dir: dir + "/runs"}
	sink := saying{s.Sink(), make(chan bool, 100)}
	failed := 0
	w := record.NewWriter(record.WriterOptions{Now: time.Now, Failed: func(error) { failed++ }}, sink)
	w.Begin(record.Head{Run: "r1", At: time.Now(), Line: []string{"hark"}})
	w.Tell(&record.Line{Kind: record.KindSaid, Text: "first"})
	<-sink.wrote
	if f, err := os.Create(dir + "/ballast"); err == nil { // somebody else's
		noise := make([]byte, 4<<10)
		_, _ = rand.Read(noise)
		for err == nil {
			_, err = f.Write(noise)
		}
	}
	w.Tell(&record.Line{Kind: record.KindSaid, Text: "second"})
	<-sink.wrote
	text := make([]byte, 20<<10)
	_, _ = rand.Read(text)
	w.End(record.Foot{Status: record.OK, Error: base64.StdEncoding.EncodeToString(text)})
	e, err := s.Find(context.Background(), "r1")
	switch {
	case err != nil:
		return err
	case e.State != record.Ended || e.Foot == nil || e.Foot.Status != record.OK:
		return errors.New("the run is " + string(e.State))
	case failed > 0 && e.Foot.Incomplete == "":
		return errors.New("the record does not say what is missing")
	}
	return os.Remove(dir + "/ballast")
}

// TestARunWhoseDiskBecomesFullHasAnEnd: it is not taken for a run that was lost.
func TestARunWhoseDiskBecomesFullHasAnEnd(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) || cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 {
		t.Skip("needs user namespaces")
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

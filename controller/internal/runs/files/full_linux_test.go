package files_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"hark/controller/internal/runs/files"
	"hark/controller/internal/runs/record"
)

// fullRoom is the variable that has the test's own binary record a run where files cannot grow beyond 64 KB.
const fullRoom = "RECORD_WITHOUT_ROOM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(fullRoom); dir != "" {
		recordWithoutRoom(dir)
		return
	}
	if dir := os.Getenv(fullDisk); dir != "" {
		err := recordOnAFullDisk(dir)
		switch {
		case errors.Is(err, unix.EPERM):
			os.Exit(77)
		case err != nil:
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// saying is a sink that says when it has a part.
type saying struct {
	record.Sink
	wrote chan bool
}

func (s saying) Part(p record.Part) error {
	err := s.Sink.Part(p)
	s.wrote <- true
	return err
}

func recordWithoutRoom(dir string) {
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
		panic(err)
	}
	sink := saying{(&files.Store{Dir: dir}).Sink(), make(chan bool, 100)}
	w := record.NewWriter(record.WriterOptions{Now: time.Now, Failed: func(err error) { fmt.Println(err) }}, sink)
	w.Begin(record.Head{Run: "r1", At: time.Now(), Line: []string{"hark"}})
	w.Tell(&record.Line{Kind: record.KindSaid, Text: "first"})
	<-sink.wrote
	noise := make([]byte, 20<<10)
	for range 80 {
		_, _ = rand.Read(noise)
		w.Tell(&record.Line{Kind: record.KindSaid, Text: base64.StdEncoding.EncodeToString(noise)})
	}
	w.End(record.Foot{Status: record.OK})
}

// TestFullDiskCostsLinesAndNotTheRun: it is told once, what was written before can be read, and the record does not
// pass for whole.
func TestFullDiskCostsLinesAndNotTheRun(t *testing.T) {
	s := &files.Store{Dir: t.TempDir()}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullRoom+"="+s.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "cannot record the run") {
		t.Errorf("it says %q, %v", out, err)
	}
	e, err := s.Find(t.Context(), "r1")
	if err != nil || e.Foot == nil || e.Foot.Incomplete == "" {
		t.Fatalf("%+v, %v", e, err)
	}
	lines, err := s.Open(t.Context(), "r1", record.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	first := false
	for {
		l, err := lines.Next(t.Context())
		first = first || l.Text == "first"
		var lost *record.LostError
		if errors.Is(err, io.EOF) || errors.As(err, &lost) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !first {
		t.Error("what was written before is not there")
	}
}

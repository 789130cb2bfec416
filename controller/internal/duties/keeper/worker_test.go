package keeper

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// workerEnv makes this test binary a worker, which notes the end of its run in the file of that name.
const workerEnv = "HARK_TEST_KEEPER_WORKER"

func TestWorkerEndsItsRunsWhenItsKeeperWasKilled(t *testing.T) {
	if file := os.Getenv(workerEnv); file != "" {
		beWorker(t, file)
		return
	}
	file := filepath.Join(t.TempDir(), "ended")
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), workerEnv+"="+file)
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
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if err := json.NewEncoder(in).Encode(Job{ID: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // the run goes on
		t.Fatal(err)
	}
	_, _ = in.Close(), out.Close()
	_ = cmd.Wait()
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the run was not ended: %v, %v", err, cmd.ProcessState)
	}
}

func beWorker(t *testing.T, file string) {
	err := Work(os.Stdin, os.Stdout, func(ctx context.Context, _ Job) map[string]Outcome {
		_, _ = os.Stdout.WriteString("x")
		<-ctx.Done()
		_, _ = os.Stdout.WriteString("what is left to say")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

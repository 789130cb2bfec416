// Package profile writes what a process spent, for whoever wants to make hark faster: its processor time and its
// memory, in the form that `go tool pprof` reads. It does nothing unless the environment asks for it.
package profile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

// Dir is the environment variable that names the directory for profiles. Processes that hark starts inherit it and
// write theirs beside.
const Dir = "HARK_PROFILE"

// Start begins a profile of this process in the directory that the environment names: <program>-<pid>.cpu and, when
// stop is called, <program>-<pid>.heap, both for their owner only. Without the variable it does nothing. stop may be
// called once.
func Start(program string) (stop func() error, err error) {
	dir := os.Getenv(Dir)
	if dir == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot write profiles (%s): %w", Dir, err)
	}
	base := filepath.Join(dir, fmt.Sprintf("%s-%d", program, os.Getpid()))
	cpu, err := create(base + ".cpu")
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot profile: %w", err), cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(cpu.Close(), writeHeap(base+".heap"))
	}, nil
}

// writeHeap writes what is in use and what was allocated since the start.
func writeHeap(path string) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	runtime.GC() // figures are those of the last collection
	return errors.Join(pprof.WriteHeapProfile(f), f.Close())
}

func create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write profiles (%s): %w", Dir, err)
	}
	return f, nil
}

package main

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// bindToParent has this process be killed when its parent is, until release is called. Linux keeps that for the thread
// that has asked for it.
func bindToParent(parent int) (release func() error, err error) {
	bound, free, freed := make(chan error), make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
		if err == nil && os.Getppid() != parent {
			err = errors.New("the process that has started this one has gone")
		}
		bound <- err
		<-free
		freed <- unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	}()
	return func() error { close(free); return <-freed }, <-bound
}

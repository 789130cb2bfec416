// Package leash makes sure that tests which start programs leave no process and no file behind, whatever ends them: a
// separate process waits for the end of the test binary, ends what comes from it, and removes its directory.
// leash.sh does the work, for scripts too.
package leash

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

//go:embed leash.sh
var script string

// mark is the variable by which the processes of a run are known.
const mark = "LEASH"

// Main runs the tests of a package on a leash and gives their exit code. Temporary files lie in a directory that goes
// with them. It is called from TestMain, before anything else. Under leash.sh it only runs the tests: that has them
// on its leash.
func Main(m interface{ Run() int }) int {
	if os.Getenv(mark) != "" {
		return m.Run()
	}
	let, err := tie()
	if err != nil {
		fmt.Fprintln(os.Stderr, "leash:", err)
		return 1
	}
	code := m.Run()
	if err := let(); err != nil {
		fmt.Fprintln(os.Stderr, "leash:", err)
		return 1
	}
	return code
}

// tie makes the directory of this process and what sweeps it. let waits until that is done.
func tie() (let func() error, err error) {
	room, err := os.MkdirTemp("", "ht.") // short: the paths of sockets lie below it
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(room, 0o711); err != nil { // some tests run programs as other users
		return nil, err
	}
	sweeper := exec.Command("sh", "-c", script, "leash.sh", "--sweep", room)
	sweeper.Stdout, sweeper.Stderr = os.Stdout, os.Stderr
	sweeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives signals to the group
	alive, err := sweeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := sweeper.Start(); err != nil {
		return nil, err
	}
	for name, v := range map[string]string{mark: room, "TMPDIR": room} {
		if err := os.Setenv(name, v); err != nil {
			return nil, err
		}
	}
	return func() error {
		_ = os.Unsetenv(mark)
		_ = alive.Close()
		return sweeper.Wait()
	}, nil
}

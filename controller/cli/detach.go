package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
)

// The flags of detached runs: the user's, and the one with which hark calls the process that drives
// such a run.
const (
	detachFlag = "detach"
	driverFlag = "driver"
)

// readyFD is the file to which a driver writes its run's id once the run has begun.
const readyFD = 3

// detached has a process of its own drive the run, and ends when that has begun.
func (j *playJob) detached() error {
	switch {
	case j.o.Connect.AskPassword, j.o.Become.AskPassword, j.o.Vault.Ask, j.step,
		slices.ContainsFunc(j.o.Vault.IDs, func(id string) bool { return strings.HasSuffix(id, "prompt") }):
		return ansibleerror.Errorf("a run with --detach cannot ask: give passwords in files, and leave out --step")
	case j.cfg.Text("HARK_RECORD") == "off":
		return ansibleerror.Errorf("a run with --detach is seen by its record only: HARK_RECORD cannot be off")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ready, told, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	out, err1 := terminal.FileOf(j.term.Out).(*os.File)
	errs, err2 := terminal.FileOf(j.term.Err).(*os.File)
	cmd := exec.Command(self)
	cmd.Args, cmd.ExtraFiles, cmd.SysProcAttr = driverArgs(j.args), []*os.File{told}, &syscall.SysProcAttr{Setsid: true}
	if err1 && err2 {
		cmd.Stdout, cmd.Stderr = out, errs
	}
	err = cmd.Start()
	_ = told.Close()
	if err != nil {
		return fmt.Errorf("cannot start the driver of the run: %w", err)
	}
	id, err := io.ReadAll(ready)
	if err == nil && len(id) > 0 {
		j.display.Print(view.NoColor, string(id))
		j.hint("`hark runs tail -f " + string(id) + "` shows the run, `hark runs stop " + string(id) + "` stops it")
		return cmd.Process.Release()
	}
	_ = cmd.Wait() // its code says it
	return &quietError{cmd.ProcessState.ExitCode()}
}

// driverArgs returns the arguments of the process that drives a run.
func driverArgs(args []string) []string {
	var out []string
	for i, w := range args {
		if w == "--" {
			return append(out, args[i:]...)
		}
		if len(w) > len("--de") && strings.HasPrefix("--"+detachFlag, w) {
			w = "--" + driverFlag
		}
		out = append(out, w)
	}
	return out
}

// apart returns who started this driver that the run has begun, and parts with the terminal.
func apart(id string) error {
	ready := os.NewFile(readyFD, "ready")
	if _, err := ready.WriteString(id); err != nil {
		return err
	}
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer none.Close()
	for _, fd := range []int{1, 2} {
		if err := unix.Dup2(int(none.Fd()), fd); err != nil {
			return err
		}
	}
	return ready.Close()
}

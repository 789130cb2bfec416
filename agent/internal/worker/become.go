package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"hark/agent/internal/login"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/nss"
)

// launch is how a worker is started.
type launch struct {
	cmd *exec.Cmd
	// program is handed to the shell that cmd is, if that asks for it; "" if cmd is the program itself.
	program string
	// terminal are both ends of the terminal that cmd has, nil if it has none.
	terminal []*os.File
	// limits are those of a login of the user.
	limits []modules.Limit
}

// command returns how to start the worker: with the user's ids, or through a become method. A shell of the user runs a
// program that not everybody may run, see handover.
func command(argv []string, as wire.RunAs, environ []string) (*launch, error) {
	l := &launch{}
	var err error
	if as.User == "" { // the agent's own: it is confined to some paths
		if l.limits, err = login.OfService(); err != nil {
			return nil, err
		}
		l.cmd = exec.Command(argv[0], argv[1:]...)
		l.cmd.Env, l.cmd.Dir = environ, "/"
		l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return l, nil
	}
	if !everybodyRuns(argv[0]) {
		info, err := os.Stat(argv[0])
		if err != nil {
			return nil, fmt.Errorf("cannot run as %s: cannot find the agent's program: %w", as.User, err)
		}
		l.program, argv = argv[0], handover(argv, info.Size())
	}
	if os.Geteuid() != 0 {
		words, err := dialect.RunAs(as).Command(argv)
		if err != nil {
			return nil, err
		}
		l.cmd = exec.Command(words[0], words[1:]...)
		l.cmd.Env = append(os.Environ(), "LANG=C", "LC_ALL=C")
		l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return l, nil
	}
	u, err := lookup(as.User)
	if err != nil {
		return nil, err
	}
	cred := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	ids, err := u.Groups()
	if err != nil {
		return nil, fmt.Errorf("cannot find the groups of %s: %w", as.User, err)
	}
	for _, id := range ids {
		cred.Groups = append(cred.Groups, uint32(id))
	}
	if l.limits, err = login.Limits(login.PAM, u); err != nil {
		return nil, err
	}
	dir := home(u)
	if !enters(dir, cred) {
		dir = "/"
	}
	l.cmd = exec.Command(argv[0], argv[1:]...)
	l.cmd.Env, l.cmd.Dir = environ, dir
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: cred}
	return l, nil
}

// home returns where the user's processes begin: at home, if that is a directory.
func home(u *nss.User) string {
	if at, err := os.Stat(u.Home); err == nil && at.IsDir() {
		return u.Home
	}
	return "/"
}

// enters reports whether the user may work in a directory.
func enters(dir string, cred *syscall.Credential) bool {
	probe := exec.Command("/bin/sh", "-c", ":")
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	probe.Dir = dir
	return !errors.Is(probe.Run(), fs.ErrPermission)
}

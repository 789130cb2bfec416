package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"hark/agent/atomicfile"
	"hark/agent/tempdir"
	"hark/agent/wire"
	"hark/playbook/dialect"
)

// command is how the worker is started: with the user's ids, or through a become method.
func command(argv []string, as wire.RunAs, environ []string) (cmd *exec.Cmd, cleanup func(), err error) {
	if os.Geteuid() != 0 {
		words, err := dialect.RunAs(as).Command(argv)
		if err != nil {
			return nil, nil, err
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = append(os.Environ(), "LANG=C", "LC_ALL=C")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd, func() {}, nil
	}
	u, err := lookup(as.User)
	if err != nil {
		return nil, nil, err
	}
	cred := &syscall.Credential{Uid: systemID(u.Uid), Gid: systemID(u.Gid)}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find the groups of %s: %w", as.User, err)
	}
	for _, id := range ids {
		cred.Groups = append(cred.Groups, systemID(id))
	}
	path, cleanup, err := reachable(argv[0], cred)
	if err != nil {
		return nil, nil, err
	}
	dir := home(u)
	if !runs(path, dir, cred) { // the user may not go there
		dir = "/"
	}
	cmd = exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Dir = environ, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: cred}
	return cmd, cleanup, nil
}

// home is where the user's processes begin: at home, if that is a directory.
func home(u *user.User) string {
	if at, err := os.Stat(u.HomeDir); err == nil && at.IsDir() {
		return u.HomeDir
	}
	return "/"
}

func systemID(id string) uint32 {
	n, _ := strconv.ParseUint(id, 10, 32)
	return uint32(n)
}

// reachable gives a path at which the user may run the binary. One that lies where only root may go is copied
// beside, for as long as the worker lives.
func reachable(path string, cred *syscall.Credential) (string, func(), error) {
	if runs(path, "/", cred) {
		return path, func() {}, nil
	}
	own, err := tempdir.Make("worker")
	if err != nil {
		return "", nil, err
	}
	dir, cleanup := own.Path, func() { _ = own.Remove() }
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	program, staged := filepath.Join(dir, "hark-worker"), ""
	if err == nil {
		staged, err = atomicfile.Stage(program, bytes.NewReader(text), 0o755)
	}
	if err == nil {
		err = os.Rename(staged, program)
	}
	if err != nil {
		cleanup()
		return "", nil, err
	}
	return program, cleanup, nil
}

// runs tells whether the user may run the binary in a directory.
func runs(path, dir string, cred *syscall.Credential) bool {
	probe := exec.Command(path, "version")
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	probe.Dir = dir
	return !errors.Is(probe.Run(), fs.ErrPermission)
}

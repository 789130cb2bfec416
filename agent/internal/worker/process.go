package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"hark/agent/internal/call"
	"hark/agent/internal/peer"
	"hark/agent/wire"
	"hark/modules"
)

// startLimit is how long sudo, su and the worker itself may take to come up.
const startLimit = 20 * time.Second

// process is one worker.
type process struct {
	conn  *peer.Conn
	stdin io.Closer
	over  chan struct{} // closed when the process has ended
	idle  time.Duration

	mu      sync.Mutex
	running int         // calls; guarded by mu
	ended   bool        // by idling or Close; guarded by mu
	timer   *time.Timer // counts idle time; guarded by mu
}

func start(ctx context.Context, argv []string, as wire.RunAs, environ []string, idle time.Duration) (*process, error) {
	cmd, cleanup, err := command(argv, as, environ)
	if err != nil {
		return nil, err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var said limited
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		cleanup()
		return nil, fmt.Errorf("cannot run as %s: %w", as.User, err)
	}
	w := &process{stdin: stdin, over: make(chan struct{}), idle: idle}
	if as.Password != "" {
		// The worker drops what comes before the first frame, so that it does no harm when nobody asks for the password.
		if _, err := io.WriteString(stdin, as.Password+"\n"); err != nil {
			said.Write([]byte(err.Error()))
		}
	}
	dialed := make(chan error, 1)
	go func() {
		var err error
		w.conn, err = peer.Dial(stdout, stdin)
		dialed <- err
		if err == nil {
			_ = w.conn.Listen() // ends when the process does
		}
		if err != nil {
			stdin.Close()
		}
		_ = cmd.Wait() // why it ended is told by what it said
		cleanup()
		close(w.over)
	}()
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case err = <-dialed:
	case <-timer.C:
		err = errors.New("no answer")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		_ = cmd.Process.Kill()
		<-w.over
		return nil, why(as, said.String()+"\n"+err.Error())
	}
	w.timer = time.AfterFunc(idle, func() { w.retire() })
	return w, nil
}

// command is how the worker is started: with the user's ids, or through a become method.
func command(argv []string, as wire.RunAs, environ []string) (cmd *exec.Cmd, cleanup func(), err error) {
	if os.Geteuid() != 0 {
		words, err := become(argv, as)
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
	cred := &syscall.Credential{Uid: number(u.Uid), Gid: number(u.Gid)}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find the groups of %s: %w", as.User, err)
	}
	for _, id := range ids {
		cred.Groups = append(cred.Groups, number(id))
	}
	path, cleanup, err := reachable(argv[0], cred)
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Dir = environ, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: cred}
	return cmd, cleanup, nil
}

func number(id string) uint32 {
	n, _ := strconv.ParseUint(id, 10, 32)
	return uint32(n)
}

// reachable gives a path at which the user may run the binary. One that lies where only root may go is copied
// beside, for as long as the worker lives.
func reachable(path string, cred *syscall.Credential) (string, func(), error) {
	probe := exec.Command(path, "version")
	probe.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	probe.Dir = "/"
	err := probe.Run()
	if !errors.Is(err, fs.ErrPermission) {
		return path, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "hark-worker")
	if err != nil {
		return "", nil, err
	}
	cleanup := func() { _ = os.RemoveAll(dir) }
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(dir+"/hark-worker", text, 0o755)
	}
	if err != nil {
		cleanup()
		return "", nil, err
	}
	return dir + "/hark-worker", cleanup, nil
}

// become is the command of an agent that is not root.
func become(argv []string, as wire.RunAs) ([]string, error) {
	exe, flags := as.Exe, strings.Fields(as.Flags)
	if exe == "" {
		exe = as.Method
	}
	switch as.Method {
	case "sudo", "":
		if exe == "" {
			exe = "sudo"
		}
		if as.Password != "" {
			flags = append(flags, "-S", "-p", "")
		} else {
			flags = append(flags, "-n")
		}
		return append(append([]string{exe, "-H"}, append(flags, "-u", as.User, "--")...), argv...), nil
	case "su":
		return append(append([]string{exe}, flags...), as.User, "-s", "/bin/sh", "-c", quoteAll(argv)), nil
	}
	return nil, fmt.Errorf("cannot run as %s: the become method %q is not supported by an agent that is not root", as.User, as.Method)
}

func quoteAll(argv []string) string {
	var words []string
	for _, w := range argv {
		words = append(words, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return "exec " + strings.Join(words, " ")
}

// passwordError is worded as Ansible words it.
type passwordError string

func (e passwordError) Error() string { return string(e) }

// why words a worker that did not come up, with Ansible's messages for passwords.
func why(as wire.RunAs, said string) error {
	method := as.Method
	if method == "" {
		method = "sudo"
	}
	lower := strings.ToLower(said)
	switch {
	case strings.Contains(lower, "a password is required"), as.Password == "" && strings.Contains(lower, "authentication failure"):
		return passwordError("Missing " + method + " password")
	case strings.Contains(lower, "incorrect password"), strings.Contains(lower, "sorry, try again"), strings.Contains(lower, "authentication failure"):
		return passwordError("Incorrect " + method + " password")
	}
	return fmt.Errorf("cannot run as %s: %s", as.User, strings.TrimSpace(said))
}

func (w *process) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.over:
		return false
	default:
		return !w.ended
	}
}

func (w *process) ranOut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

func (w *process) run(ctx context.Context, inv call.Invocation) (modules.Result, error) {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return modules.Result{}, peer.ErrGone
	}
	w.running++
	w.timer.Stop()
	w.mu.Unlock()
	defer w.rest()
	return w.conn.Run(ctx, inv)
}

// rest starts the idle time when the last call is done.
func (w *process) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running--; w.running == 0 && !w.ended {
		w.timer.Reset(w.idle)
	}
}

// retire ends a worker that is idle, and tells whether it has ended or soon will.
func (w *process) retire() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == 0 && !w.ended {
		w.ended = true
		w.stdin.Close()
	}
	return w.ended
}

// stop ends a worker, whatever it does, and waits for its end.
func (w *process) stop() {
	w.mu.Lock()
	w.ended = true
	w.timer.Stop()
	w.stdin.Close()
	w.mu.Unlock()
	<-w.over
}

// limited keeps the beginning of what a process says.
type limited struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := 4<<10 - l.b.Len(); room > 0 {
		l.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

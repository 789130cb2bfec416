package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"hark/agent/internal/call"
	"hark/agent/internal/peer"
	"hark/agent/wire"
	"hark/modules"
)

// startLimit is how long sudo, su and the worker itself may take to start.
const startLimit = 20 * time.Second

// endPatience is how long a worker may take to end after its input has ended.
const endPatience = 3 * time.Second

// process is one worker.
type process struct {
	conn  *peer.Conn
	stdin io.WriteCloser
	over  chan struct{} // closed when the process has ended
	kill  func()
	limits

	mu      sync.Mutex
	running int         // calls; guarded by mu
	ended   bool        // it idled out or was closed; guarded by mu
	last    bool        // it ends after its present calls; guarded by mu
	timer   *time.Timer // counts idle time; guarded by mu
}

// limits are those of Pool.
type limits struct{ idle, patience time.Duration }

// start starts a worker, without a terminal if it does not need one.
func start(ctx context.Context, argv []string, as wire.RunAs, environ []string, l limits) (*process, error) {
	w, err := startWith(ctx, argv, as, environ, l, asksTerminal(as))
	if errors.Is(err, errTerminal) {
		w, err = startWith(ctx, argv, as, environ, l, true)
	}
	return w, err
}

func startWith(ctx context.Context, argv []string, as wire.RunAs, environ []string, l limits,
	terminal bool) (*process, error) {
	said := newStartupOutput(as)
	going, err := command(argv, as, environ)
	if err != nil {
		return nil, err
	}
	if terminal {
		if err := going.addTerminal(said); err != nil {
			return nil, fmt.Errorf("cannot run as %s: cannot open a terminal: %w", as.User, err)
		}
	}
	cmd := going.cmd
	cmd.Stderr = said
	stdin, stdout, err := pipes(cmd)
	if err == nil {
		err = modules.StartLimited(cmd, going.limits)
	}
	if err != nil {
		going.over()
		return nil, fmt.Errorf("cannot run as %s: %w", as.User, err)
	}
	w := &process{stdin: stdin, over: make(chan struct{}), limits: l, kill: func() { _ = cmd.Process.Kill() }}
	if as.Password != "" && !asksTerminal(as) {
		// The worker drops what comes before the first frame, so a password that nobody asks for does no harm.
		if _, err := io.WriteString(stdin, as.Password+"\n"); err != nil {
			fmt.Fprint(said, err)
		}
	}
	dialed := make(chan error, 1)
	go func() {
		w.serve(stdout, going.program, dialed)
		stdin.Close()
		// a program that no longer speaks our protocol would be asked again and again
		deaf := time.AfterFunc(endPatience, w.kill)
		_ = cmd.Wait() // its output says why it ended
		deaf.Stop()
		going.over()
		close(w.over)
	}()
	if err := up(ctx, dialed, said.complained); err != nil {
		// The end of its input ends the worker, which first removes what was made for it.
		stdin.Close()
		w.leave(endPatience)
		return nil, said.why(err)
	}
	w.timer = time.AfterFunc(l.idle, func() { w.retire() })
	return w, nil
}

func pipes(cmd *exec.Cmd) (io.WriteCloser, io.ReadCloser, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := cmd.StdoutPipe()
	return stdin, stdout, err
}

// serve sends the program if the shell asks for it, and answers the worker's requests until it ends. It reports to
// dialed whether the worker came up.
func (w *process) serve(stdout io.Reader, program string, dialed chan<- error) {
	said, err := bufio.NewReader(stdout), error(nil)
	if program != "" {
		err = handOver(program, said, w.stdin)
	}
	if err == nil {
		w.conn, err = peer.Dial(said, w.stdin)
	}
	dialed <- err
	if err != nil {
		return
	}
	_ = w.conn.Listen() // ends when the process does
}

// up waits until the worker runs, or has failed to start.
func up(ctx context.Context, dialed <-chan error, complained <-chan struct{}) error {
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	select {
	case err := <-dialed:
		return err
	case <-complained:
		return errors.New("it was refused")
	case <-timer.C:
		return errors.New("no answer")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *process) alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.over:
		return false
	default:
		return !w.ended && !w.conn.Over()
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
	defer w.watch(ctx)()
	return w.conn.Run(ctx, inv)
}

// watch kills a worker that does not end a cancelled call: its user may have stopped it. end ends the watch.
func (w *process) watch(ctx context.Context) (end func()) {
	done := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		select {
		case <-done:
		case <-time.After(w.patience):
			w.kill()
		}
	})
	return func() { unwatch(); close(done) }
}

// rest starts the idle time after the last call.
func (w *process) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running--; w.running > 0 || w.ended {
		return
	}
	if w.timer.Reset(w.idle); w.last {
		w.ended = true
		w.stdin.Close()
	}
}

// retire ends an idle worker, and reports whether it has ended or soon will.
func (w *process) retire() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == 0 && !w.ended {
		w.ended = true
		w.stdin.Close()
	}
	return w.ended
}

// takeNoMore ends a worker after its present calls.
func (w *process) takeNoMore() {
	w.mu.Lock()
	w.last = true
	w.mu.Unlock()
	w.retire()
}

// stop ends a worker, whatever it does, and waits for its end.
func (w *process) stop() {
	w.mu.Lock()
	w.ended = true
	w.timer.Stop()
	w.stdin.Close()
	w.mu.Unlock()
	w.leave(w.patience)
}

// leave waits for the end of a worker that was told to end, and kills it if it does not: its user may have stopped it.
func (w *process) leave(patience time.Duration) {
	for range 2 { // a killed sudo may have left a worker that nobody waits for
		select {
		case <-w.over:
			return
		case <-time.After(patience):
			w.kill()
		}
	}
}

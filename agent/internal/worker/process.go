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

// startLimit is how long sudo, su and the worker itself may take to come up.
const startLimit = 20 * time.Second

// endPatience is how long one whose input has ended may take to end.
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
	ended   bool        // by idling or Close; guarded by mu
	last    bool        // whether it ends with the calls that it has; guarded by mu
	timer   *time.Timer // counts idle time; guarded by mu
}

// limits are those of Pool.
type limits struct{ idle, patience time.Duration }

// start starts a worker, without a terminal if that is enough.
func start(ctx context.Context, argv []string, as wire.RunAs, environ []string, l limits) (*process, error) {
	w, err := startWith(ctx, argv, as, environ, l, asksTerminal(as))
	if errors.Is(err, errTerminal) {
		w, err = startWith(ctx, argv, as, environ, l, true)
	}
	return w, err
}

func startWith(ctx context.Context, argv []string, as wire.RunAs, environ []string, l limits, terminal bool) (*process, error) {
	said := newSpeech(as)
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
		err = cmd.Start()
	}
	if err != nil {
		going.over()
		return nil, fmt.Errorf("cannot run as %s: %w", as.User, err)
	}
	w := &process{stdin: stdin, over: make(chan struct{}), limits: l, kill: func() { _ = cmd.Process.Kill() }}
	if as.Password != "" && !asksTerminal(as) {
		// The worker drops what comes before the first frame, so that it does no harm when nobody asks for the password.
		if _, err := io.WriteString(stdin, as.Password+"\n"); err != nil {
			fmt.Fprint(said, err)
		}
	}
	dialed := make(chan error, 1)
	go func() {
		w.serve(stdout, going.program, dialed)
		stdin.Close()
		deaf := time.AfterFunc(endPatience, w.kill) // one that no longer speaks our language would be asked again and again
		_ = cmd.Wait()                              // why it ended is told by what it said
		deaf.Stop()
		going.over()
		close(w.over)
	}()
	if err := up(ctx, dialed, said.complained); err != nil {
		// The end of its input ends it, and before that it removes what was made for it.
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

// serve hands the program over if that is asked for, and answers what the worker asks until it ends. dialed is told
// whether it came up.
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

// up waits until the worker is there, or will not be.
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

// watch kills a worker that does not end a call which was cancelled: its user may have stopped it. end ends the watch.
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

// rest starts the idle time when the last call is done.
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

// retire ends a worker that is idle, and reports whether it has ended or soon will.
func (w *process) retire() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == 0 && !w.ended {
		w.ended = true
		w.stdin.Close()
	}
	return w.ended
}

// takeNoMore ends a worker when it has done what it was called for.
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

// leave waits for the end of a worker that was told to end. One that does not is killed: its user may have stopped it.
func (w *process) leave(patience time.Duration) {
	for range 2 { // what was killed as sudo may have left a worker behind, for which nobody waits
		select {
		case <-w.over:
			return
		case <-time.After(patience):
			w.kill()
		}
	}
}

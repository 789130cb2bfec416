package plugins

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"hark/modules/py/value"
)

//go:embed action.py
var actionServer string

// Action is one run of an action plug-in.
type Action struct {
	// Path is the plug-in's file, for messages; About tells of the task all that action.py reads.
	Path  string
	About *value.Dict
	// Ask answers what the plug-in wants of its host or of the controller. An *UnreachableError says that its host is
	// not there. Calls come one at a time.
	Ask func(ctx context.Context, op string, about json.RawMessage) (any, error)
	// Tell shows what the plug-in has to say.
	Tell func(warning bool, text string)
}

// UnreachableError is the reason why a plug-in's host cannot be reached.
type UnreachableError struct{ Reason string }

func (e *UnreachableError) Error() string { return e.Reason }

// Acted is how an action plug-in has come out: with a result, or else with an error.
type Acted struct {
	// Result is what it returned, as value.Encode writes it. Ended says that it was raised, and that nothing judges
	// it any further.
	Result json.RawMessage `json:"result"`
	Ended  bool            `json:"ended"`
	// Unreachable is why its host could not be reached.
	Unreachable string `json:"unreachable"`
	// Error is what it raised, Class the class of that, "" for an AnsibleError.
	Error string `json:"error"`
	Class string `json:"class"`
}

// Actions runs action plug-ins. Each runs in a process of its own, forked off one that has Ansible's base classes in
// memory and is started when the first is needed. It is safe for concurrent use.
type Actions struct {
	// Homes and Collections are as in Runner.
	Homes, Collections []string

	mu      sync.Mutex
	server  *exec.Cmd     // nil if none runs; guarded by mu
	control *net.UnixConn // to the server; guarded by mu
}

// Run runs a plug-in. An error means that it could not be run; what became of it is in Acted.
func (r *Actions) Run(ctx context.Context, a Action) (Acted, error) {
	about, err := value.Encode(a.About)
	if err != nil {
		return Acted{}, fmt.Errorf("cannot give the task to the action plug-in %s: %w", a.Path, err)
	}
	conn, err := r.connect()
	if err != nil {
		return Acted{},
			fmt.Errorf("cannot run the action plug-in %s: it is written in Python and needs ansible-core on this machine: %w",
				a.Path, err)
	}
	defer conn.Close()
	t := &talk{action: a, conn: conn, conversation: newConversation("it", conn, conn)}
	done, err := t.converse(ctx, about)
	switch {
	case ctx.Err() != nil:
		return Acted{}, ctx.Err()
	case err != nil:
		return Acted{}, fmt.Errorf("cannot talk to the Python that runs the action plug-in %s: %w", a.Path, err)
	}
	return done, nil
}

// connect has the server fork, and gives the socket to the fork.
func (r *Actions) connect() (net.Conn, error) {
	near, far, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer far.Close()
	defer near.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server == nil {
		if err := r.start(); err != nil {
			return nil, err
		}
	}
	if _, _, err := r.control.WriteMsgUnix([]byte{'+'}, syscall.UnixRights(int(far.Fd())), nil); err != nil {
		r.stop()
		return nil, err
	}
	return net.FileConn(near)
}

// start starts the server. It assumes mu held.
func (r *Actions) start() error {
	near, far, err := socketPair()
	if err != nil {
		return err
	}
	defer far.Close()
	defer near.Close()
	cmd := python(r.Homes, r.Collections, codec+versions+hostVars+actionServer)
	cmd.Stdin = far
	if err := cmd.Start(); err != nil {
		return err
	}
	conn, err := net.FileConn(near)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	r.server, r.control = cmd, conn.(*net.UnixConn)
	return nil
}

// stop ends the server; the processes that run plug-ins see their conversations end. It assumes mu held.
func (r *Actions) stop() {
	_ = r.control.Close()
	_ = r.server.Process.Kill()
	_ = r.server.Wait()
	r.server = nil
}

// Close ends the server, if one runs.
func (r *Actions) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		r.stop()
	}
}

// socketPair is two ends of a stream. The files do not block, as package net wants them.
func socketPair() (near, far *os.File, err error) {
	syscall.ForkLock.RLock() // no process is started that would inherit them
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far"), nil
}

// talk is the conversation with one plug-in.
type talk struct {
	action Action
	conn   net.Conn
	conversation
}

// said is a line from the plug-in: who it is, a question, something to show, or how it has come out.
type said struct {
	Acted
	PID  int    `json:"pid"`
	Op   string `json:"op"`
	Text string `json:"text"`
	Over bool   `json:"over"`
}

// converse tells the plug-in of its task and answers it until it is done. When ctx is over first, it is ended with
// all that it has started.
func (t *talk) converse(ctx context.Context, about json.RawMessage) (Acted, error) {
	unhear := context.AfterFunc(ctx, func() { _ = t.conn.Close() })
	defer unhear()
	var who said
	_, err := t.hear(&who)
	if err == nil && who.PID <= 1 {
		err = errors.New("it does not say who it is")
	}
	if err != nil {
		return Acted{}, err
	}
	spare := context.AfterFunc(ctx, func() { killGroup(who.PID) })
	defer spare()
	if err := t.say(about); err != nil {
		return Acted{}, err
	}
	for {
		var m said
		raw, err := t.hear(&m)
		switch {
		case err != nil:
			return Acted{}, err
		case m.Over:
			return m.Acted, nil
		case m.Op == "warn" || m.Op == "say":
			t.action.Tell(m.Op == "warn", m.Text)
		default:
			if err := t.answer(ctx, m.Op, raw); err != nil {
				return Acted{}, err
			}
		}
	}
}

// answer answers a question.
func (t *talk) answer(ctx context.Context, op string, about json.RawMessage) error {
	v, err := t.action.Ask(ctx, op, about)
	a := map[string]any{"value": v}
	var gone *UnreachableError
	switch {
	case errors.As(err, &gone):
		a = map[string]any{"unreachable": gone.Reason}
	case err != nil:
		a = map[string]any{"error": err.Error()}
	}
	return t.say(a)
}

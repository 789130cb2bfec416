package plugins

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/inventory"
	"hark/playbook/plan"
)

//go:embed callback.py
var callbackServer string

//go:embed callback_objects.py
var callbackObjects string

// patience is how long a callback may take to end when the run is cancelled: once before it is interrupted, if it
// began after that, and once before it is killed.
const patience = 3 * time.Second

// CallbackOptions are what the callbacks of a run need of the world.
type CallbackOptions struct {
	// Command is the command line as Ansible's own command would be called, with the program's name.
	Command []string
	// Stdout is the callback that gets the screen, "" if a view of hark's own has it; Enabled are the callbacks_enabled.
	Stdout  string
	Enabled []string
	// Native tells the callbacks that are views of hark's own, by their short names.
	Native []string
	// Dirs are the project's and the settings' directories of callbacks, Books those of its playbooks.
	Dirs, Books []string
	// Homes and Collections are those of a Runner.
	Homes, Collections []string
	// Out and Err are where callbacks print. Lend keeps the screen free while they do.
	Out, Err io.Writer
	Lend     func(func())
	// Inventory knows the hosts that callbacks ask about.
	Inventory *inventory.Inventory
	// Warn tells of what went wrong.
	Warn func(text string)
	// Detach, when it is closed, ends the callbacks at once.
	Detach <-chan struct{}
}

// Callbacks are the callback plug-ins in Python of one run, in a Python of their own: what they keep lives as long as
// the run. Calls come one at a time, as those of a view do, and return when the plug-ins are done, so that what they
// print stands where Ansible would print it.
type Callbacks struct {
	// Order returns what to call beside the view on the screen, in order: the name of a view of hark's own, or "" for
	// the next in Python.
	Order []string

	o                 CallbackOptions
	ctx               context.Context
	cmd               *exec.Cmd
	requests, answers *os.File
	conversation
	// lost says that Python has ended before its time.
	lost bool

	hosts map[string]bool  // those that were described
	tasks map[plan.ID]bool // those of the current play
	vars  func(host string) *value.Dict
}

// MissingError is a callback for the screen that does not exist.
type MissingError struct{ Name string }

func (e *MissingError) Error() string { return dialect.CallbackNotFound.Text(e.Name) }

// ErrNoCore says that there is nothing to make callbacks in Python of: no Python, or none with an ansible-core.
var ErrNoCore = errors.New("callbacks that are written in Python need ansible-core on this machine")

// StartCallbacks starts Python and lets it load the callbacks, or fails with ErrNoCore. When ctx ends, a callback
// that is busy is interrupted. The caller closes what it gets.
func StartCallbacks(ctx context.Context, o CallbackOptions) (*Callbacks, error) {
	c := &Callbacks{o: o, ctx: ctx, hosts: map[string]bool{}, tasks: map[plan.ID]bool{}}
	if err := c.start(); err != nil {
		return nil, err
	}
	reply, err := c.exchange(map[string]any{
		"kind": "load", "command": o.Command, "stdout": o.Stdout, "enabled": o.Enabled, "native": o.Native, "dirs": o.Dirs,
		"books": o.Books,
	})
	switch {
	case err == nil && reply.Coreless:
		err = ErrNoCore
	case err == nil && reply.Error != "":
		err = errors.New(reply.Error)
	case err == nil && reply.Missing != "":
		err = &MissingError{reply.Missing}
	}
	if err != nil {
		c.lost = true
		return nil, errors.Join(err, c.Close())
	}
	for _, entry := range reply.Order {
		name, _ := entry.(string)
		c.Order = append(c.Order, name)
	}
	return c, nil
}

// start starts Python. It has the descriptors of hark's output, and a pair of its own to talk over.
func (c *Callbacks) start() error {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirIn.Close(), in.Close())
	}
	c.cmd = python(c.o.Homes, c.o.Collections, codec+versions+callbackServer+callbackObjects)
	c.cmd.Stdout, c.cmd.Stderr = c.o.Out, c.o.Err
	c.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	err = c.cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return fmt.Errorf("%w: %w", ErrNoCore, err)
	}
	c.requests, c.answers, c.conversation = in, out, newConversation("their Python", in, out)
	return nil
}

// callbackReply is what callback.py answers.
type callbackReply struct {
	Order   []any   `json:"order"`
	Missing string  `json:"missing"`
	Error   string  `json:"error"`
	Ask     *string `json:"ask"` // the host whose variables a callback wants, "" for the play's
	// Coreless says that its Python has no ansible-core.
	Coreless bool `json:"coreless"`
}

// tell hands an event to the callbacks and waits until they are done. Python that has ended is told of once.
func (c *Callbacks) tell(event any) {
	if c.lost {
		return
	}
	var reply callbackReply
	var err error
	c.o.Lend(func() { reply, err = c.exchange(event) })
	switch {
	case err != nil:
		c.lost = true
		if c.ctx.Err() == nil {
			c.o.Warn(fmt.Sprintf("The callbacks that are written in Python hear no more of this run: %v", err))
		}
	case reply.Error != "":
		c.o.Warn("Failure in what calls the callbacks that are written in Python: " + reply.Error)
	}
}

// exchange writes a request, answers what is asked meanwhile, and gives the answer.
func (c *Callbacks) exchange(request any) (callbackReply, error) {
	answered := c.press()
	defer answered()
	for {
		if err := c.say(request); err != nil {
			return callbackReply{}, err
		}
		var reply callbackReply
		if _, err := c.hear(&reply); err != nil || reply.Ask == nil {
			return reply, err
		}
		request = c.variables(*reply.Ask)
	}
}

// variables returns those of a host; nothing where no play runs.
func (c *Callbacks) variables(host string) any {
	if c.vars == nil {
		return nil
	}
	raw, err := value.Encode(c.vars(host))
	if err != nil {
		return nil
	}
	return json.RawMessage(raw)
}

// press sees to it that nothing waits for a callback for ever when the run is cancelled, until the func that it gives
// is called.
func (c *Callbacks) press() (answered func()) {
	done := make(chan struct{})
	late := c.ctx.Err() != nil
	stop := context.AfterFunc(c.ctx, func() {
		if late && c.within(done) {
			return
		}
		_ = c.cmd.Process.Signal(syscall.SIGINT)
		if !c.within(done) {
			killGroup(c.cmd.Process.Pid)
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		stop()
	})
}

// within reports whether done is closed before patience is over.
func (c *Callbacks) within(done <-chan struct{}) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-c.o.Detach:
	case <-limit.C:
	}
	return false
}

// Close lets Python end, with all that callbacks do at their end, and waits for it.
func (c *Callbacks) Close() error {
	_ = c.requests.Close()
	answered := c.press()
	_, _ = c.hear(&callbackReply{}) // all is done then, or Python has ended
	answered()
	overdue := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	_ = c.cmd.Wait() // how it ends is the plug-ins' affair
	overdue.Stop()
	return c.answers.Close()
}

package bootstrap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ssh"
	"hark/modules/py/shlex"
)

// Ephemeral is an agent that lives as long as its ssh connection, which is its line to the broker too. It runs as the user of
// the connection; nothing is installed, and nothing is left.
type Ephemeral struct {
	Key, XKey string

	cancel context.CancelFunc
	done   chan struct{} // closed when ssh has ended
}

// UnfitError is why a host that was reached can have no agent.
type UnfitError struct{ Cause error }

func (e *UnfitError) Error() string { return e.Cause.Error() }

// EphemeralConfig is what agents of one run share.
type EphemeralConfig struct {
	Client    *ssh.Client
	Binaries  *Binaries
	Operators []string
	// Grant gives credentials to an agent's key.
	Grant func(key string) (string, error)
	// Open gives a connection to the broker.
	Open func() (net.Conn, error)
	// Keep leaves the program in the cache of the user of the connection, and takes it from there.
	Keep bool
}

// Start brings up an agent on a host.
func (c *EphemeralConfig) Start(ctx context.Context, h Host) (*Ephemeral, error) {
	if h.Err != nil {
		return nil, h.Err
	}
	p, err := probe(ctx, c.Client, h.Target, c.Keep)
	if err != nil {
		return nil, err
	}
	path, err := c.place(ctx, h, p)
	if err != nil {
		return nil, errors.Join(err, p.remove(context.WithoutCancel(ctx), c.Client, h.Target))
	}
	life, cancel := context.WithCancel(context.Background())
	e := &Ephemeral{cancel: cancel, done: make(chan struct{})}
	dir := shlex.Quote(p.dir)
	command := fmt.Sprintf("trap %s EXIT; trap : HUP PIPE; mkdir -p -m 700 %s; %s ephemeral %s", shlex.Quote("rm -rf "+dir), dir, shlex.Quote(path), dir)
	if err := c.run(ctx, life, h, "exec /bin/sh -c "+shlex.Quote(command), e); err != nil {
		cancel()
		return nil, err
	}
	return e, nil
}

func (c *EphemeralConfig) place(ctx context.Context, h Host, p *place) (string, error) {
	b, err := c.Binaries.For(p.os, p.arch)
	if err != nil {
		return "", &UnfitError{err}
	}
	if path := p.have[b.Digest]; path != "" {
		return path, nil
	}
	path, err := p.upload(ctx, c.Client, h.Target, b)
	if err != nil || !c.Keep {
		return path, err
	}
	return p.keep(ctx, c.Client, h.Target, b, path), nil
}

// run starts the agent, makes it known to the broker, and then passes on what the two say to each other.
func (c *EphemeralConfig) run(ctx, life context.Context, h Host, command string, e *Ephemeral) error {
	cmd := c.Client.Command(life, h.Target, command)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	said := &words{more: make(chan struct{}, 1)}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot run ssh: %w", err)
	}
	stop := context.AfterFunc(ctx, e.cancel) // while the greeting lasts
	reader := bufio.NewReaderSize(out, maxLine)
	err = c.greet(h, e, in, reader)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	var conn net.Conn
	if err == nil {
		conn, err = c.Open()
	}
	if err != nil {
		in.Close()
		e.cancel()
		if failed := cmd.Wait(); failed != nil && said.String() != "" {
			err = ssh.Failure(failed, said.String())
		}
		return err
	}
	go func() {
		_, _ = io.Copy(in, conn)
		in.Close()
	}()
	go func() {
		_, _ = io.Copy(conn, reader)
		conn.Close()
		_ = cmd.Wait() // why it ended shows in what the run misses
		close(e.done)
	}()
	return nil
}

func (c *EphemeralConfig) greet(h Host, e *Ephemeral, in io.Writer, out *bufio.Reader) error {
	t := &talk{out: out}
	var keys wire.SetupKeys
	if err := t.hear(&keys); err != nil {
		return err
	}
	if keys.Err != "" {
		return errors.New(keys.Err)
	}
	if err := keys.Check(); err != nil {
		return err
	}
	token, err := c.Grant(keys.Key)
	if err != nil {
		return err
	}
	e.Key, e.XKey = keys.Key, keys.XKey
	line, err := json.Marshal(wire.EphemeralGrant{Name: h.Name, JWT: token, Operators: c.Operators})
	if err != nil {
		return err
	}
	_, err = in.Write(append(line, '\n'))
	return err
}

// Over tells that the agent has ended.
func (e *Ephemeral) Over() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// endLimit is how long an agent may take to clean up.
const endLimit = 10 * time.Second

// End ends the agent: its line is closed, by which it knows.
func (e *Ephemeral) End() {
	select {
	case <-e.done:
	case <-time.After(endLimit):
		e.cancel()
		<-e.done
	}
}

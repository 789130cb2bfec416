package bootstrap

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/ssh"
	"hark/modules"
	"hark/modules/dialect"
)

// install brings the agent to a host: look, upload, set up, and hear of it.
func (c *Config) install(ctx context.Context, h Host, r *Result) error {
	c.Progress(h.Name, "connecting")
	p, err := probe(ctx, c.Client, h.Target)
	if err != nil {
		return err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		_ = p.remove(clean, c.Client, h.Target)
	}()
	r.OS, r.Arch = p.os, p.arch
	binary, err := c.Binaries.For(p.os, p.arch)
	if err != nil {
		return err
	}
	path := p.have[binary.Digest]
	if path == "" {
		body, err := binary.body(p.format)
		if err != nil {
			return err
		}
		c.Progress(h.Name, fmt.Sprintf("uploading %d MB", len(body)>>20+1))
		if path, err = p.upload(ctx, c.Client, h.Target, binary); err != nil {
			return err
		}
	}
	c.Progress(h.Name, "setting up")
	command, err := h.Become.Command(p.uid, []string{path, "setup"})
	if err != nil {
		return err
	}
	talk, err := c.open(ctx, h, p.uid, command)
	if err != nil {
		return err
	}
	err = c.converse(ctx, h, talk, r)
	return errors.Join(err, talk.close(err != nil))
}

// Command returns what becomes root and runs argv. Nothing is needed by a user who is.
func (b Become) Command(uid string, argv []string) (string, error) {
	if uid == "0" || !b.On {
		return modules.QuoteWords(argv), nil
	}
	as := b.RunAs
	if as.User == "" {
		as.User = "root"
	}
	words, err := as.Command(argv)
	return modules.QuoteWords(words), err
}

// talk is a conversation with the setup on a host.
type talk struct {
	in   io.WriteCloser
	out  *bufio.Reader
	said *words
	wait func() error
	kill func()
}

// words keeps the beginning of what a program says.
type words struct {
	more chan struct{} // one slot, filled when there is more

	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
	if room := 8<<10 - w.b.Len(); room > 0 {
		w.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

func (c *Config) open(ctx context.Context, h Host, uid, command string) (*talk, error) {
	cmd := c.Client.Command(ctx, h.Target, command)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t := &talk{in: in, out: bufio.NewReaderSize(out, maxLine), said: &words{more: make(chan struct{}, 1)}, wait: cmd.Wait,
		kill: func() { _ = cmd.Cancel() }}
	cmd.Stderr = t.said
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot run ssh: %w", err)
	}
	if h.Become.On && uid != "0" && h.Become.Password != "" {
		_, err = io.WriteString(in, h.Become.Password+"\n")
	}
	if err == nil {
		err = t.ready(ctx, h)
	}
	if err != nil {
		return nil, c.why(h, t, err)
	}
	setup := c.Setup
	setup.Name = h.Name
	if err := t.send(setup); err != nil {
		return nil, errors.Join(err, t.close(true))
	}
	return t, nil
}

// becomeLimit is how long a become program may take.
const becomeLimit = 30 * time.Second

// ready waits until the setup runs. A program that asks again for the password would wait for ever.
func (t *talk) ready(ctx context.Context, h Host) error {
	heard := make(chan error, 1)
	go func() {
		var r wire.SetupReady
		heard <- t.hear(&r) // ends with the stream, which why closes
	}()
	timer := time.NewTimer(becomeLimit)
	defer timer.Stop()
	for {
		select {
		case err := <-heard:
			return err
		case <-t.said.more:
			if h.Become.Complaint(t.said.String()) != dialect.NoComplaint {
				return errSilent
			}
		case <-timer.C:
			return fmt.Errorf("%w within %s", errSilent, becomeLimit)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (t *talk) send(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = t.in.Write(append(line, '\n'))
	}
	return err
}

// A host may say so much: lines of that many bytes, and so many that are none of the setup's.
const (
	maxLine      = 64 << 10
	maxGreetings = 1000
)

// hear reads the setup's next line. What is none of its lines (greetings of a shell) is passed over.
func (t *talk) hear(into any) error {
	for range maxGreetings {
		line, err := t.out.ReadSlice('\n')
		if err != nil {
			return errSilent
		}
		if bytes.HasPrefix(line, []byte("{")) {
			return json.Unmarshal(line, into)
		}
	}
	return errSilent
}

// until reads lines up to one that ends them, and gives each before it away. It is false if none came.
func (t *talk) until(last string, each func(line string)) bool {
	for range maxGreetings {
		line, err := t.out.ReadSlice('\n')
		if err != nil {
			return false
		}
		text := strings.TrimSpace(string(line))
		if text == last {
			return true
		}
		each(text)
	}
	return false
}

var errSilent = errors.New("the agent's setup ended without an answer")

// close ends the conversation. How ssh or the become program failed is the error that counts.
func (t *talk) close(failed bool) error {
	t.in.Close()
	err := t.wait()
	if !failed || err == nil {
		return nil
	}
	return ssh.Failure(err, t.said.String())
}

// converse is the controller's side of the conversation.
func (c *Config) converse(ctx context.Context, h Host, t *talk, r *Result) error {
	var keys wire.SetupKeys
	if err := t.hear(&keys); err != nil {
		return c.why(h, t, err)
	}
	if keys.Err != "" {
		return errors.New(keys.Err)
	}
	if err := keys.Check(); err != nil {
		return err
	}
	r.Key, r.Version = keys.Key, keys.Version
	if keys.Unchanged && c.Heard(ctx, keys.Key) == nil {
		if err := c.Enrol(ctx, h.Name, keys); err != nil {
			return err
		}
		return t.send(wire.SetupGrant{Done: true})
	}
	grant, err := c.Grant(ctx, h.Name, keys)
	if err != nil {
		return fmt.Errorf("cannot enrol the agent: %w", err)
	}
	if err := t.send(grant); err != nil {
		return err
	}
	var result wire.SetupResult
	if err := t.hear(&result); err != nil {
		return c.why(h, t, err)
	}
	if result.Err != "" {
		return errors.New(result.Err)
	}
	c.Progress(h.Name, "waiting for its hello")
	heard := c.Heard(ctx, keys.Key)
	if heard != nil {
		heard = fmt.Errorf("the agent was installed and not heard of at the broker (%w), so it was taken away again", heard)
	} else if err := c.Enrol(ctx, h.Name, keys); err != nil {
		heard = fmt.Errorf("the agent was installed and not let in (%w), so it was taken away again", err)
	}
	if err := t.send(wire.SetupVerdict{Commit: heard == nil}); err != nil {
		return err
	}
	if err := t.hear(&result); err != nil {
		return err
	}
	if heard != nil {
		return heard
	}
	r.Changed, r.Did = true, result.Did
	return nil
}

// why words a setup that did not come up, in the become program's words.
func (c *Config) why(h Host, t *talk, err error) error {
	t.in.Close()
	if h.Become.Complaint(t.said.String()) != dialect.NoComplaint {
		t.kill()
	}
	_ = t.wait()
	t.wait = func() error { return nil }
	said := strings.TrimSpace(t.said.String())
	switch h.Become.Complaint(said) {
	case dialect.PasswordRefused:
		return fmt.Errorf("the become password is wrong: %s", said)
	case dialect.PasswordMissing:
		method, _ := dialect.MethodNamed(h.Become.Method) // it has complained by its row
		return fmt.Errorf("%s asks for a password: give it with -K or ansible_become_password", method.Shown())
	}
	switch {
	case said != "":
		return fmt.Errorf("%w: %s", err, said)
	case errors.Is(err, errSilent):
		return fmt.Errorf("%w: is the program that was put there (--agent-binary) a hark-agent, and one for this host's "+
			"machine?", err)
	}
	return err
}

package bootstrap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/ssh"
)

// Ephemeral is an agent that lives as long as its ssh connection, which is its line to the broker too. It runs as the
// user of the connection; nothing is installed, and nothing is left.
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
	// Keep leaves the program in the cache of the user of an ssh connection, and takes it from there. Kept is told
	// each time when it was left where it was not; nil is nobody.
	Keep bool
	Kept func()
}

// enterScript is read by the shell in which a host is entered: it looks, as a probe does, hears what to run, takes
// the program from its standard input if it is not there, and runs it. One session of ssh is all that takes, and no
// word of the controller if one of keep is there, which are those that may be taken from the cache of the user, and
// be left in it. A shell executes it when it has read the last brace, and nothing is sent after that before the shell
// has said that it is ready, so it does not read ahead.
func enterScript(keep []*Binary) string {
	kept, into, tidy := "", "", ""
	if len(keep) > 0 {
		kept, into, tidy = keptScript(keep), keepScript, tidyScript
	}
	return "{\nmask=$(umask) path=\n" + lookScript + kept + `clean() { [ -z "$d" ] || rm -rf "$d"; }
trap clean EXIT; trap : HUP PIPE; trap 'clean; exit 1' TERM # by itself: it may come while the shell ends
` + dirScript() + `echo ready=1
if [ -z "$path" ]; then
  read -r how sent whole digest path || exit 0
  if [ "$how" != run ]; then
    path="$d/hark-agent"
    case $how in
    gzip | zstd) head -c "$sent" | "$how" -dc >"$path" ;;
    *) head -c "$sent" >"$path" ;;
    esac
    [ "$(wc -c <"$path")" -eq "$whole" ] && chmod 700 "$path" || exit 1
    ` + into + `    echo there=1
  fi
fi
umask "$mask"
"$path" ephemeral "$d"
code=$?
` + tidy + `exit $code
}
`
}

// Start brings up an agent on a host.
func (c *EphemeralConfig) Start(ctx context.Context, h Host) (e *Ephemeral, err error) {
	if h.Err != nil {
		return nil, h.Err
	}
	err = h.Target.Again(ctx, func() (err error) {
		e, err = c.enter(ctx, h)
		return err
	})
	return e, err
}

// enter starts the agent, makes it known to the broker, and then passes on what the two say to each other.
func (c *EphemeralConfig) enter(ctx context.Context, h Host) (*Ephemeral, error) {
	life, cancel := context.WithCancel(context.Background())
	e := &Ephemeral{cancel: cancel, done: make(chan struct{})}
	cmd := c.Client.Command(life, h.Target, "exec /bin/sh")
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	said := &words{more: make(chan struct{}, 1)}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("cannot run ssh: %w", err)
	}
	stop := context.AfterFunc(ctx, cancel) // while the greeting lasts
	reader := bufio.NewReaderSize(out, maxLine)
	err = c.begin(h, e, in, &talk{out: reader})
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	var conn net.Conn
	if err == nil {
		conn, err = c.Open()
	}
	if err != nil {
		in.Close()
		return nil, because(err, cmd, said, cancel)
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
	return e, nil
}

// because ends an ssh that brought up no agent, and gives the reason in its words, if it has any.
func because(err error, cmd *exec.Cmd, said *words, cancel func()) error {
	var ended *silentError
	if !errors.As(err, &ended) {
		cancel()
	}
	patience := time.AfterFunc(endLimit, cancel) // its output has ended, and so should it
	failed := cmd.Wait()
	patience.Stop()
	cancel()
	var exit *exec.ExitError
	if ended == nil || failed == nil || said.String() == "" && !(errors.As(failed, &exit) && exit.ExitCode() > 0) {
		return err
	}
	failed = ssh.Failure(failed, said.String())
	if ended.uploading {
		return fmt.Errorf("cannot upload the agent: %w", failed)
	}
	return failed
}

// silentError is a shell or an agent on a host that ended where it should have said something.
type silentError struct{ uploading bool }

func (e *silentError) Error() string { return errSilent.Error() }

// begin tells the shell what it needs to run the agent, and the agent what it needs to know.
func (c *EphemeralConfig) begin(h Host, e *Ephemeral, in io.Writer, t *talk) error {
	var keep []*Binary
	if c.Keep && len(h.Target.Enter) == 0 { // a directory or a container may be an image in the making
		keep = c.Binaries.All()
	}
	if _, err := io.WriteString(in, enterScript(keep)); err != nil {
		return &silentError{}
	}
	p := newPlace()
	if !t.until("ready=1", p.note) {
		return &silentError{}
	}
	if p.os == "" || p.arch == "" || p.dir == "" {
		return errors.New("the host's shell gave no sense")
	}
	if !p.kept {
		if err := c.place(p, in, t); err != nil {
			return err
		}
	}
	return c.greet(h, e, in, t)
}

// place has the shell run the agent, and brings it there if it is not.
func (c *EphemeralConfig) place(p *place, in io.Writer, t *talk) error {
	b, err := c.Binaries.For(p.os, p.arch)
	if err != nil {
		return &UnfitError{err}
	}
	path := p.have[b.Digest]
	if path != "" {
		_, err = fmt.Fprintf(in, "run 0 0 - %s\n", path)
		return err
	}
	body, err := b.body(p.format)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(in, "%s %d %d %s -\n", formats[p.format], len(body), len(b.Text), b.Digest); err == nil {
		_, err = in.Write(body)
	}
	stays := false
	if err != nil || !t.until("there=1", func(line string) { stays = stays || line == "stays=1" }) {
		return &silentError{uploading: true}
	}
	if stays && c.Kept != nil {
		c.Kept()
	}
	return nil
}

// greet gives the agent credentials and tells it who it is.
func (c *EphemeralConfig) greet(h Host, e *Ephemeral, in io.Writer, t *talk) error {
	var keys wire.SetupKeys
	if err := t.hear(&keys); err != nil {
		return &silentError{}
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

// Over reports whether the agent has ended.
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

// End ends the agent by closing its line.
func (e *Ephemeral) End() {
	select {
	case <-e.done:
	case <-time.After(endLimit):
		e.cancel()
		<-e.done
	}
}

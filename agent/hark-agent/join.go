package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent"
	"hark/agent/version"
	"hark/agent/wire"
	"hark/agent/wire/nats"
)

// joiner asks to be enrolled.
type joiner struct {
	settings
	token   string
	install bool
	wait    time.Duration
	out     io.Writer
}

func joinCommand() *cobra.Command {
	j := &joiner{}
	cmd := &cobra.Command{
		Use:   "join TOKEN",
		Short: "Enrol this host with a token of its operator",
		Long: "Enrols this host with the token that `hark agents token` prints; - reads it from standard input, where it " +
			"does not show in the list of processes. The agent's keys are made on this host and stay here. When an operator " +
			"must approve the host first, it waits for that.",
		Args:    cobra.ExactArgs(1),
		Example: "  hark-agent join --install - <token",
	}
	f := cmd.Flags()
	f.StringVar(&j.Name, "name", "", "the host's name in inventories (default: the token's, or the host name)")
	f.StringVar(&j.StateDir, "state-dir", defaultState, "directory of the agent's state")
	f.BoolVar(&j.install, "install", false, "install the agent as a service and start it")
	f.DurationVar(&j.wait, "wait", 24*time.Hour, "for how long to wait for an operator's approval")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		j.token, j.out = args[0], cmd.OutOrStdout()
		if j.token == "-" {
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), 64<<10))
			if err != nil {
				return fmt.Errorf("cannot read the join token: %w", err)
			}
			j.token = string(text)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return j.join(ctx)
	}
	return cmd
}

func (j *joiner) join(ctx context.Context) error {
	token, err := wire.ParseJoinToken(j.token)
	if err != nil {
		return err
	}
	if j.Name == "" {
		j.Name = token.Name
	}
	if j.Name == "" {
		if j.Name, err = os.Hostname(); err != nil {
			return fmt.Errorf("cannot find this host's name: %w", err)
		}
	}
	if err := j.enrol(ctx, token); err != nil {
		return err
	}
	fmt.Fprintf(j.out, "%s is enrolled with the broker at %s\n", j.Name, token.URL)
	if !j.install {
		return nil
	}
	s, err := agentService(defaultConfig)
	if err != nil {
		return err
	}
	return install(s, defaultConfig)
}

// enrol asks until there is an answer, and keeps it.
func (j *joiner) enrol(ctx context.Context, token wire.JoinToken) error {
	state, err := agent.OpenState(j.StateDir)
	if err != nil {
		return err
	}
	defer state.Close()
	identity, err := state.Identity()
	if err != nil {
		return err
	}
	bearer, err := token.Identity()
	if err != nil {
		return err
	}
	secure, err := nats.TLS(token.CA)
	if err != nil {
		return fmt.Errorf("cannot trust the broker: %w", err)
	}
	bus, err := nats.Dial(ctx, nats.Config{
		URL: token.URL, ID: bearer.ID(), Name: "hark-agent join " + j.Name, Identity: bearer, JWT: token.JWT, TLS: secure,
		Timeout: 15 * time.Second, Logger: zerolog.Nop(),
	})
	if nats.Refused(err) {
		return fmt.Errorf("the broker at %s does not take this token: %s", token.URL, stale(token.JWT, time.Now()))
	}
	if err != nil {
		return fmt.Errorf("cannot reach the broker at %s with this token: %w", token.URL, err)
	}
	defer bus.Close()
	ctx, cancel := context.WithTimeout(ctx, j.wait)
	defer cancel()
	answer, err := j.ask(ctx, bus, identity, bearer)
	if err != nil {
		return err
	}
	e := &agent.Enrolment{Name: j.Name, Broker: token.URL, CA: answer.CA, JWT: answer.JWT, Operators: token.Operators,
		Fleet: token.Fleet}
	if err := j.check(token, e); err != nil {
		return err
	}
	return e.Write(j.StateDir)
}

// stale returns why a token is not taken, as far as this host can tell.
func stale(jwt string, now time.Time) string {
	if t, err := wire.ParseToken(jwt); err == nil && !t.Expires.IsZero() && now.After(t.Expires) {
		return fmt.Sprintf("it expired at %s: `hark agents token` makes another", t.Expires.Format(time.DateTime))
	}
	return "it has expired, or the broker has another authority than it had: `hark agents token` makes another"
}

// check makes sure that the authority in the answer is the one that the token speaks of.
func (j *joiner) check(token wire.JoinToken, e *agent.Enrolment) error {
	if token.CA == "" {
		e.CA = "" // the system's authorities were good for this connection
		return nil
	}
	if strings.HasPrefix(token.CA, "-----") {
		e.CA = token.CA
		return nil
	}
	print, err := nats.Fingerprint([]byte(e.CA))
	if err != nil || print != token.CA {
		return errors.New("the registrar names another certificate authority than the token")
	}
	return nil
}

// The pauses between two requests: while nobody answers, and while the approval is awaited.
const (
	askSoon  = time.Second
	askLater = 3 * time.Second
)

// ask puts the request until it is granted or refused.
func (j *joiner) ask(ctx context.Context, bus wire.Transport, identity, bearer *wire.Identity) (*wire.Joined, error) {
	told := false
	for tries := 0; ; tries++ {
		answer, err := j.put(ctx, bus, identity, bearer)
		pause := askSoon
		switch {
		case errors.Is(err, wire.ErrNoResponder) && tries >= 5:
			return nil, errors.New("nobody enrols agents at this broker")
		case err == nil && answer.Err != "":
			return nil, fmt.Errorf("this host was not enrolled: %s", answer.Err)
		case err == nil && !answer.Pending:
			return answer, nil
		case err == nil:
			pause = askLater
			if !told {
				fmt.Fprintf(j.out, "waiting for an operator: hark agents approve %s   (key %s)\n", j.Name, identity.Key)
				told = true
			}
		}
		select {
		case <-ctx.Done():
			if told {
				return nil, errors.New("no operator has approved this host yet: run the command again later")
			}
			return nil, fmt.Errorf("cannot enrol this host: %w", errors.Join(err, ctx.Err()))
		case <-time.After(pause):
		}
	}
}

// put asks once.
func (j *joiner) put(ctx context.Context, bus wire.Transport, identity, bearer *wire.Identity) (*wire.Joined, error) {
	nonce := wire.NewNonce()
	proof, err := bearer.Sign(wire.JoinProof(identity.Key, j.Name, nonce))
	if err != nil {
		return nil, err
	}
	var c wire.Codec
	frame, err := c.Pack(wire.Header{Kind: wire.KindJoin, Nonce: nonce}, wire.Join{
		Name: j.Name, XKey: identity.XKey, OS: runtime.GOOS, Arch: runtime.GOARCH, Version: version.String(),
		Token: bearer.Key, Proof: proof,
	}, wire.Packing{Sign: identity})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	raw, err := bus.Request(ctx, wire.JoinSubject, frame)
	if err != nil {
		return nil, err
	}
	var answer wire.Joined
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("cannot read the registrar's answer: %w", err)
	}
	return &answer, nil
}

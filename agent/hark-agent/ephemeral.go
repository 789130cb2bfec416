package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent"
	"hark/agent/version"
	"hark/agent/wire"
	"hark/agent/wire/nats"
)

// ephemeralCommand is an agent for one run: its standard streams are its connection to the broker, its keys are in
// memory, and it ends with the connection.
func ephemeralCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ephemeral DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return serveEphemeral(ctx, args[0])
		},
	}
}

func serveEphemeral(ctx context.Context, dir string) error {
	identity, err := wire.NewIdentity()
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	grant, err := introduce(identity, in)
	if err != nil {
		return err
	}
	c, err := commands()
	if err != nil {
		return err
	}
	processes, err := agent.OpenProcesses(dir, c)
	if err != nil {
		return err
	}
	defer processes.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	bus, err := nats.Dial(ctx, nats.Config{
		Open: func() (net.Conn, error) { return &stdio{in: in, out: os.Stdout}, nil }, Once: true, ID: identity.ID(),
		Name: "hark-agent " + grant.Name, Identity: identity, JWT: grant.JWT, Logger: zerolog.Nop(),
		OnClosed: func(error) { stop() },
	})
	if err != nil {
		return fmt.Errorf("cannot reach the broker through ssh: %w", err)
	}
	defer bus.Close()
	a := agent.New(agent.Config{
		Transport: bus, Identity: identity, Name: grant.Name, Version: version.String(),
		Trusted: func(key string) bool { return slices.Contains(grant.Operators, key) },
		Modules: registry(), Cache: filepath.Join(dir,
			"cache"), Logger: zerolog.New(os.Stderr).Level(zerolog.WarnLevel), Host: processes.Host(),
		Grace: -1, // it ends with its line, on which nobody hears last words
	})
	return a.Run(ctx)
}

// introduce tells the controller this agent's keys and receives its name and operators.
func introduce(identity *wire.Identity, in *bufio.Reader) (*wire.EphemeralGrant, error) {
	keys := wire.SetupKeys{Key: identity.Key, XKey: identity.XKey, Version: version.String(), OS: runtime.GOOS,
		Arch: runtime.GOARCH}
	if err := json.NewEncoder(os.Stdout).Encode(keys); err != nil {
		return nil, err
	}
	text, err := in.ReadBytes('\n')
	if err != nil {
		return nil, errors.New("the controller has gone")
	}
	var grant wire.EphemeralGrant
	if err := json.Unmarshal(text, &grant); err != nil {
		return nil, fmt.Errorf("cannot read the controller's answer: %w", err)
	}
	return &grant, nil
}

// stdio is the connection to the broker. It cannot be had again: when it ends, so does the agent.
type stdio struct {
	in  io.Reader
	out io.Writer
}

func (s *stdio) Read(p []byte) (int, error) { return s.in.Read(p) }

func (s *stdio) Write(p []byte) (int, error) { return s.out.Write(p) }

// Close implements net.Conn. The streams are the process's.
func (s *stdio) Close() error { return nil }

// The rest of net.Conn: ssh has its own time-outs, and its addresses are its own.
func (s *stdio) LocalAddr() net.Addr              { return pipeAddr{} }
func (s *stdio) RemoteAddr() net.Addr             { return pipeAddr{} }
func (s *stdio) SetDeadline(time.Time) error      { return nil }
func (s *stdio) SetReadDeadline(time.Time) error  { return nil }
func (s *stdio) SetWriteDeadline(time.Time) error { return nil }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "ssh" }
func (pipeAddr) String() string  { return "ssh" }

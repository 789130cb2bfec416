package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent"
	"hark/agent/profile"
	"hark/agent/version"
	"hark/agent/wire"
	"hark/agent/wire/nats"
)

func runCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:     "run",
		Short:   "Serve this host until told to stop",
		Args:    cobra.NoArgs,
		Example: "  hark-agent run --name web1 --broker nats://127.0.0.1:4222 --operator UABC... --state-dir /var/lib/hark",
	}
	file := s.flags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := s.complete(*file)
		if err != nil {
			return &configError{err}
		}
		s.file = *file
		if underSystemd() && !supervised() {
			return superviseAgent(logger(s.LogLevel))
		}
		if supervised() {
			if s.supervisor, err = newSupervisor(); err != nil {
				return err
			}
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		written, err := profile.Start("hark-agent")
		if err != nil {
			return &configError{err}
		}
		return errors.Join(serve(ctx, s), written())
	}
	return cmd
}

// serve runs the agent until ctx is over. An error is for systemd to start it again.
func serve(ctx context.Context, s settings) error {
	log := logger(s.LogLevel)
	state, err := agent.OpenState(s.StateDir)
	if err != nil {
		return err
	}
	defer state.Close()
	identity, err := state.Identity()
	if err != nil {
		return err
	}
	c, err := commands()
	if err != nil {
		return err
	}
	processes, err := agent.OpenProcesses(s.StateDir, c)
	if err != nil {
		return err
	}
	defer processes.Close()
	policy, err := s.policy()
	if err != nil {
		return &configError{err}
	}
	told := ctx
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	connected := make(chan struct{}, 1)
	operators := s.operators()
	bus, err := s.dial(ctx, nats.Config{
		ID: identity.ID(), Identity: identity, Token: operators.Token, Logger: log, FleetSize: state.FleetSize(),
		OnConnect: func() {
			select {
			case connected <- struct{}{}:
			default:
			}
		},
		Explain: func(err error) error { return explain(operators.Token(), time.Now(), err) },
	})
	if err != nil {
		return err
	}
	defer bus.Close()
	retire := &retirement{end: func() { stop(nil) }}
	up := &upgrader{settings: s, config: s.file, log: log, retire: retire.want}
	resting := time.AfterFunc(restFor, debug.FreeOSMemory) // an agent that waits should cost next to nothing
	defer resting.Stop()
	a := agent.New(agent.Config{
		Transport: bus, Connected: connected, Identity: identity, Name: s.Name, Fleet: s.Fleet, Version: version.String(),
		Trusted: operators.Obeys, Operators: operators, Policy: policy,
		Modules: registry(), State: state, Logger: log, Host: processes.Host(),
		Idle: func() {
			resting.Reset(restFor)
			retire.consider()
		},
		Credentials: s.renewed(operators,
			bus), Upgrade: up.upgrade, Program: sync.OnceValue(running), Greeted: func() { confirm(s.StateDir, log) },
		FleetSizeChanged: bus.SetFleetSize,
		Ready: func() {
			log.Info().Str("name", s.Name).Str("id", identity.ID()).Str("version", version.String()).Msg("agent ready")
			s.notify(log, daemon.SdNotifyReady)
		},
	})
	defer s.notify(log, daemon.SdNotifyStopping)
	here, away := context.WithCancel(ctx) // over when another process is the agent of this host
	defer away()
	if s.supervisor != nil {
		go s.supervisor.await(func() {
			if shuttingDown() || !a.HandOver() {
				stop(nil)
				return
			}
			away()
			s.leaveSupervisor(log)
		})
	}
	go s.watchdog(here, log, a)
	collect()
	debug.SetMemoryLimit(memoryGoal)
	go giveBack(ctx)
	retire.busy, up.busy = a.Busy, a.Playing
	go retire.await(here, log)
	var telling sync.WaitGroup
	telling.Go(func() {
		tellMetrics(here, s.StateDir, numbers{version: version.String(), since: time.Now(), playing: a.Playing,
			connected: bus.Since, refused: a.Refused}, log)
	})
	defer telling.Wait()
	defer stop(nil)
	if err := a.Run(ctx); err != nil {
		return err
	}
	if cause := context.Cause(ctx); told.Err() == nil && cause != context.Canceled {
		return cause
	}
	return nil
}

// dial connects to the broker of the settings, and waits for it as long as it takes.
func (s *settings) dial(ctx context.Context, c nats.Config) (*nats.Transport, error) {
	secure, err := s.tls()
	if err != nil {
		return nil, &configError{err}
	}
	c.URL, c.Name, c.Credentials, c.TLS, c.Patient = s.Broker, "hark-agent "+s.Name, s.Creds, secure, true
	return nats.Dial(ctx, c)
}

// explain says why the broker does not let this agent in, if it does not. The agent tries on: an operator may let it
// in again.
func explain(token string, now time.Time, err error) error {
	if !nats.Refused(err) {
		return err
	}
	if t, bad := wire.ParseToken(token); bad == nil && !t.Expires.IsZero() && now.After(t.Expires) {
		return fmt.Errorf(
			"the credentials of this agent expired on %s: enrol it again, with `hark bootstrap`, or with `systemctl stop "+
				"hark-agent` and `hark-agent join --install`",
			t.Expires.Format(time.DateTime))
	}
	return fmt.Errorf(
		"the broker does not let this agent in (%w): it may have been revoked (`hark agents approve NAME` lets it in "+
			"again), or the broker has another authority than it had", err)
}

// watchdog tells systemd that the agent is alive, as often as systemd asks for, until ctx is over.
func (s *settings) watchdog(ctx context.Context, log zerolog.Logger, a *agent.Agent) {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil || every == 0 {
		return
	}
	tick := time.NewTicker(every / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			a.Alive() // waits for ever if the agent hangs, and then systemd starts it again
			s.notify(log, daemon.SdNotifyWatchdog)
		}
	}
}

// notify reports the state to systemd, through the supervisor if there is one.
func (s *settings) notify(log zerolog.Logger, state string) {
	var err error
	if s.supervisor != nil {
		err = s.supervisor.tell(state)
	} else {
		_, err = daemon.SdNotify(false, state)
	}
	if err != nil {
		log.Debug().Err(err).Msg("cannot tell systemd of the state")
	}
}

// leaveSupervisor goes on without the supervisor, which ends.
func (s *settings) leaveSupervisor(log zerolog.Logger) {
	err := s.supervisor.release()
	if err == nil {
		err = s.supervisor.tell(wordHandedOver)
	}
	if err != nil {
		log.Error().Err(err).Msg("cannot go on without the process that systemd has started")
	}
}

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent"
	"hark/controller/internal/fleet"
	"hark/controller/internal/play"
	"hark/controller/internal/play/link"
	"hark/controller/internal/ui/view"
)

// onBroker returns a command the flags that every command of the broker has, and runs it on a connection that is
// closed in the end. The command's own flags go into the set.
func onBroker(a *app, cmd *cobra.Command,
	run func(ctx context.Context, b *fleet.Connection, args []string) error) flags {
	var verbosity int
	var url string
	fs := a.flags(cmd)
	fs.verbosity(&verbosity)
	fs.broker(&url)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.begin(cmd, verbosity); err != nil {
			return err
		}
		b, err := a.fleet.Dial(cmd.Context(), url)
		if err != nil {
			return err
		}
		defer b.Close()
		return run(cmd.Context(), b, args)
	}
	return fs
}

// logTo returns where the rooms below log: stderr, from -vvvv on.
func (a *app) logTo() zerolog.Logger {
	if a.display.Verbosity() < 4 {
		return zerolog.New(io.Discard)
	}
	return zerolog.New(zerolog.ConsoleWriter{Out: a.term.Err, NoColor: true}).With().Timestamp().Logger()
}

// connect opens the link of a run. A broker that cannot be reached is no error of the run: it is why the hosts that
// need it are unreachable.
func (p *run) connect(run string) func(context.Context, play.Serve) (link.Link, error) {
	return func(ctx context.Context, s play.Serve) (link.Link, error) {
		state, err := stateDir(p.app)
		if err != nil {
			return nil, err
		}
		commands, err := innerCommands()
		if err != nil {
			return nil, err
		}
		cfg := link.Config{
			Run: run, Agent: agent.Local{Modules: p.Modules, StateDir: state, Commands: commands, Logger: p.logTo(),
				Hidden: p.display.Hidden()}.Run,
			Local: s.Local, AgentName: s.AgentName, Asks: s.Asks,
			Lease: time.Duration(p.cfg.Float("HARK_LEASE") * float64(time.Second)), Logger: p.logTo(),
			Warn: func(text string) { p.display.PrintErr(view.ColorWarn, "[WARNING]: "+text) },
		}
		if none, _ := p.noAgents(); !none {
			cfg.OnRecord, cfg.Dial, cfg.Opens, cfg.Keep = p.met(), p.far.dial, p.far.opens, p.far.keep
		}
		if p.drive != nil {
			p.drive.connect(&cfg)
			return &watchedLink{p.linkOf(cfg), p.drive.absent}, nil
		}
		return p.linkOf(cfg), nil
	}
}

// stateDir returns where this machine's own agent keeps its jobs.
func stateDir(a *app) (string, error) {
	dir := filepath.Join(a.fleet.Home, "local")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make hark's directory: %w", err)
	}
	return dir, nil
}

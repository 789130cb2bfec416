package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/argparse"
	"hark/controller/internal/enrol"
	"hark/controller/internal/link"
	"hark/controller/internal/play"
	"hark/controller/internal/roster"
	"hark/controller/internal/trust"
	"hark/controller/internal/view"
)

// errNoBroker is why a host has no agent when nobody said where the broker is.
var errNoBroker = errors.New("no broker is configured: set HARK_BROKER, broker= in the [hark] section of ansible.cfg, or --broker, or start one with `hark broker run` " +
	"(hosts with ansible_connection=local need none)")

// brokerLink is a connection to the broker with what goes with it.
type brokerLink struct {
	*nats.Transport
	url      string
	access   trust.Access
	operator *wire.Identity
	believed []string // operators whose word for an agent is taken
	known    *trust.Known
	roster   *roster.Roster
}

// registrar is the operator's side of who enrols agents.
func (b *brokerLink) registrar() *enrol.Client {
	return &enrol.Client{Transport: b, Operator: b.operator, Access: b.access.Token}
}

// onBroker gives a command the flags that every command of the broker has, and runs it on a connection that is closed in the end. The
// command's own flags go into the set.
func (a *app) onBroker(cmd *cobra.Command, run func(ctx context.Context, b *brokerLink, args []string) error) argparse.Flags {
	o := &options{}
	fs := argparse.NewFlags(cmd.Flags())
	a.baseFlags(fs, o)
	a.brokerFlag(fs, o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.begin(cmd, o); err != nil {
			return err
		}
		b, err := a.dial(cmd.Context(), o.broker)
		if err != nil {
			return err
		}
		defer b.Close()
		return run(cmd.Context(), b, args)
	}
	return fs
}

// dial connects to the broker of the flags or settings, or to the one that the operator has access to.
func (a *app) dial(ctx context.Context, url string) (*brokerLink, error) {
	access, err := a.access(url)
	if err != nil {
		return nil, err
	}
	operator, created, err := trust.LoadOrCreate(a.cfg.Text("HARK_OPERATOR_KEY"))
	if err != nil {
		return nil, err
	}
	if created {
		a.display.Verbose(1, "", "Made an operator key: "+a.cfg.Text("HARK_OPERATOR_KEY"))
	}
	known, err := trust.OpenKnown(a.harkHome(), a.display.Warn)
	if err != nil {
		return nil, err
	}
	if own := a.cfg.Text("HARK_CREDENTIALS"); own != "" {
		if access.Token, err = nats.ReadToken(own); err != nil {
			return nil, err
		}
	}
	t, err := a.reach(ctx, operator, access, a.cfg.Text("HARK_CREDENTIALS"))
	if err != nil {
		return nil, err
	}
	b := &brokerLink{Transport: t, url: access.URL, access: access, operator: operator, believed: append([]string{operator.Key}, access.Operators...), known: known}
	b.roster = roster.New(t.Conn(), known)
	if access.Token != "" {
		b.roster.Vouch = b.vouch
	}
	return b, nil
}

// reach connects an operator to a broker. A file with credentials replaces the access's own.
func (a *app) reach(ctx context.Context, operator *wire.Identity, access trust.Access, credentials string) (*nats.Transport, error) {
	conf, err := a.tlsOf(access.CA)
	if err != nil {
		return nil, err
	}
	t, err := nats.Dial(ctx, nats.Config{
		URL: access.URL, ID: operator.ID(), Name: "hark " + Version, Identity: operator, JWT: access.Token, Credentials: credentials, TLS: conf,
		Logger: a.logTo(), Timeout: time.Duration(a.cfg.Int("DEFAULT_TIMEOUT")) * time.Second,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the broker at %s: %w", access.URL, err)
	}
	return t, nil
}

// vouch gives the key of the agent of a name, if somebody whom this operator believes has signed that it is its: the broker is not
// believed. A name that is on record is not asked for.
func (b *brokerLink) vouch(ctx context.Context, name string) (string, error) {
	x, err := b.registrar().Find(ctx, name)
	switch {
	case errors.Is(err, enrol.ErrNoRegistrar):
		return "", fmt.Errorf("the agent of %s is not on record here, and nobody answers who could show an operator's word for it: %w", name, err)
	case err != nil:
		return "", err
	case x == nil:
		return "", fmt.Errorf("the agent of %s is not on record here, and was not enrolled at this broker: write its name and its key into %s, if you know it",
			name, trust.KnownFile)
	}
	return x.Vouched(b.believed)
}

// access is how to reach a broker, "" for the operator's own.
func (a *app) access(url string) (trust.Access, error) {
	brokers, err := trust.OpenBrokers(a.harkHome())
	if err != nil {
		return trust.Access{}, err
	}
	access := brokers.For(url)
	if access.URL == "" {
		return access, errNoBroker
	}
	return access, nil
}

// harkHome is the directory of the operator's own files.
func (a *app) harkHome() string { return a.cfg.Text("HARK_HOME") }

// tlsOf trusts the authority of the settings, or the broker's own (PEM), nil for the system's.
func (a *app) tlsOf(own string) (*tls.Config, error) {
	path := a.cfg.Text("HARK_CA")
	if path == "" {
		return nats.TLS(own)
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the broker's certificate authority: %w", err)
	}
	c, err := nats.TLS(string(pem))
	if err != nil {
		return nil, fmt.Errorf("cannot use %s as certificate authority: %w", path, err)
	}
	return c, nil
}

// logTo is where the rooms below log: stderr, from -vvvv on.
func (a *app) logTo() zerolog.Logger {
	if a.display.Verbosity() < 4 {
		return zerolog.New(io.Discard)
	}
	return zerolog.New(zerolog.ConsoleWriter{Out: a.term.Err, NoColor: true}).With().Timestamp().Logger()
}

// connect opens the link of a run. A broker that cannot be reached is no error of the run: it is why the hosts
// that need it are unreachable.
func (p *project) connect(run string) func(context.Context, play.Serve) (link.Link, error) {
	return func(ctx context.Context, s play.Serve) (link.Link, error) {
		state, err := p.stateDir()
		if err != nil {
			return nil, err
		}
		commands, err := innerCommands()
		if err != nil {
			return nil, err
		}
		cfg := link.Config{
			Run: run, Commands: commands, Local: s.Local, AgentName: s.AgentName, Asks: s.Asks, Modules: p.modules, StateDir: state,
			Lease: time.Duration(p.cfg.Float("HARK_LEASE") * float64(time.Second)), Logger: p.logTo(),
			Warn: func(text string) { p.display.PrintErr(view.ColorWarn, "[WARNING]: "+text) },
		}
		if yes, implied := p.bySSH(); yes {
			return p.connectOverSSH(cfg, implied), nil
		}
		b, err := p.brokerOf(ctx, s.Local)
		if err != nil {
			cfg.BrokerErr = err
			return link.New(cfg), nil
		}
		cfg.Broker, cfg.Operator, cfg.Roster, cfg.Standing = b.Transport, b.operator, b.roster, b.standings()
		return &ownedLink{Link: link.New(cfg), owned: b.Transport}, nil
	}
}

// brokerOf connects to the broker if any host of the inventory needs it.
func (p *project) brokerOf(ctx context.Context, local func(string) bool) (*brokerLink, error) {
	if _, err := p.access(p.o.broker); err != nil {
		return nil, err
	}
	needed := false
	for _, h := range p.inventory.Hosts() {
		needed = needed || !local(h.Name)
	}
	if !needed {
		return nil, errors.New("this run was started without a connection to the broker, since all hosts of the inventory are this machine")
	}
	return p.dialPatiently(ctx)
}

// The wait for a broker that is being started again: systemd takes two seconds for it.
const (
	restartLimit = 4 * time.Second
	restartPause = 200 * time.Millisecond
)

// dialPatiently connects to the broker. One that is on record, and whose machine says that nobody listens, may be being started again.
func (p *project) dialPatiently(ctx context.Context) (*brokerLink, error) {
	for until := time.Now().Add(restartLimit); ; {
		b, err := p.dial(ctx, p.o.broker)
		if !errors.Is(err, syscall.ECONNREFUSED) || !p.onRecord() || time.Now().After(until) {
			return b, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(restartPause):
		}
	}
}

// onRecord tells whether the broker of the flags or settings was given to this operator, under this URL.
func (p *project) onRecord() bool {
	brokers, err := trust.OpenBrokers(p.harkHome())
	if err != nil {
		return false
	}
	_, ok := brokers.Brokers[cmp.Or(p.o.broker, brokers.Default)]
	return ok
}

// stateDir is where this machine's own agent keeps its jobs.
func (a *app) stateDir() (string, error) {
	dir := filepath.Join(a.harkHome(), "local")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot make hark's directory: %w", err)
	}
	return dir, nil
}

// ownedLink closes the transport that was opened for it.
type ownedLink struct {
	link.Link
	owned io.Closer
}

func (l *ownedLink) Close() error { return errors.Join(l.Link.Close(), l.owned.Close()) }

package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/link"
	"hark/controller/internal/play"
	"hark/controller/internal/roster"
	"hark/controller/internal/trust"
)

// errNoBroker is why a host has no agent when nobody said where the broker is.
var errNoBroker = errors.New("no broker is configured: set HARK_BROKER, broker= in the [hark] section of ansible.cfg, or --broker " +
	"(hosts with ansible_connection=local need none)")

// brokerLink is a connection to the broker with what goes with it.
type brokerLink struct {
	*nats.Transport
	operator *wire.Identity
	roster   *roster.Roster
}

// dial connects to the broker of the flags or settings.
func (a *app) dial(ctx context.Context, url string) (*brokerLink, error) {
	if url == "" {
		return nil, errNoBroker
	}
	operator, created, err := trust.LoadOrCreate(a.cfg.Text("HARK_OPERATOR_KEY"))
	if err != nil {
		return nil, err
	}
	if created {
		a.display.Verbose(1, "", "Made an operator key: "+a.cfg.Text("HARK_OPERATOR_KEY"))
	}
	known, err := trust.OpenKnown(a.harkHome())
	if err != nil {
		return nil, err
	}
	conf, err := a.tls()
	if err != nil {
		return nil, err
	}
	t, err := nats.Dial(ctx, nats.Config{
		URL: url, ID: operator.ID(), Name: "hark " + Version, Identity: operator, Credentials: a.cfg.Text("HARK_CREDENTIALS"),
		TLS: conf, Logger: a.logTo(),
		Timeout: time.Duration(a.cfg.Int("DEFAULT_TIMEOUT")) * time.Second,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the broker at %s: %w", url, err)
	}
	return &brokerLink{Transport: t, operator: operator, roster: roster.New(t.Conn(), known)}, nil
}

// harkHome is the directory of the operator's own files.
func (a *app) harkHome() string { return a.cfg.Text("HARK_HOME") }

// tls trusts the authority of the settings, nil for the system's.
func (a *app) tls() (*tls.Config, error) {
	path := a.cfg.Text("HARK_CA")
	if path == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the broker's certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("cannot use %s as certificate authority: there is no certificate in it", path)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// logTo is where the rooms below log: stderr, from -vvvv on.
func (a *app) logTo() zerolog.Logger {
	if a.display.Verbosity() < 4 {
		return zerolog.New(io.Discard)
	}
	return zerolog.New(zerolog.ConsoleWriter{Out: a.Err, NoColor: true}).With().Timestamp().Logger()
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
		}
		b, err := p.brokerOf(ctx, s.Local)
		if err != nil {
			cfg.BrokerErr = err
			return link.New(cfg), nil
		}
		cfg.Broker, cfg.Operator, cfg.Roster = b.Transport, b.operator, b.roster
		return &ownedLink{Link: link.New(cfg), owned: b.Transport}, nil
	}
}

// brokerOf connects to the broker if any host of the inventory needs it.
func (p *project) brokerOf(ctx context.Context, local func(string) bool) (*brokerLink, error) {
	if p.o.broker == "" {
		return nil, errNoBroker
	}
	needed := false
	for _, h := range p.inventory.Hosts() {
		needed = needed || !local(h.Name)
	}
	if !needed {
		return nil, errors.New("this run was started without a connection to the broker, since all hosts of the inventory are this machine")
	}
	return p.dial(ctx, p.o.broker)
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

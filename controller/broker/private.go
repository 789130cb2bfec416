package broker

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"hark/agent/tempdir"
)

// Private is a broker for one run: it listens nowhere, and whoever shall use it is handed a connection.
type Private struct {
	Authority *Authority

	srv *server.Server
	dir *tempdir.Dir
}

// OpenPrivate starts a private broker. Close it.
func OpenPrivate(ctx context.Context, log zerolog.Logger) (*Private, error) {
	dir, err := tempdir.Make("broker")
	if err != nil {
		return nil, err
	}
	p := &Private{dir: dir}
	if err := p.start(ctx, log); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start the run's broker: %w", err), p.Close())
	}
	return p, nil
}

func (p *Private) start(ctx context.Context, log zerolog.Logger) error {
	var err error
	if p.Authority, err = OpenAuthority(p.dir.Path); err != nil {
		return err
	}
	cfg := Config{Data: p.dir.Path, Listen: DefaultListen, Authority: p.Authority, Logger: log}
	o, err := cfg.options()
	if err != nil {
		return err
	}
	o.DontListen = true
	if p.srv, err = server.NewServer(o); err != nil {
		return err
	}
	p.srv.SetLoggerV2(&logger{log: log}, false, false, false)
	p.srv.Start()
	if !p.srv.ReadyForConnections(readyLimit) {
		return fmt.Errorf("it is not ready after %s", readyLimit)
	}
	return cfg.prepare(ctx, p.srv)
}

// Open returns a connection.
func (p *Private) Open() (net.Conn, error) { return p.srv.InProcessConn() }

// Close ends the broker and removes what it kept.
func (p *Private) Close() error {
	if p.srv != nil {
		p.srv.Shutdown()
		p.srv.WaitForShutdown()
	}
	return p.dir.Remove()
}

// Package broker is the NATS server that hark embeds: for fleets that have none of their own. It keeps the roster's
// stream on disk and nothing else; what runs live passes through it.
package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"hark/agent/atomicfile"
	"hark/agent/wire"
	"hark/controller/internal/fleet/streams"
)

// DefaultListen is where the broker listens when nothing else is said: this machine only.
const DefaultListen = "127.0.0.1:4222"

// URLFile, in the directory of a broker, says where it was reached when it last ran.
const URLFile = "url"

// readyLimit is how long the server may take to open its stores and listen.
const readyLimit = 30 * time.Second

// Config is what a broker needs.
type Config struct {
	// Data is the directory of its stores; it is made if need be, 0700.
	Data string
	// Listen is host:port; port 0 takes a free one. A host that is not this machine's loopback needs Authority and
	// Certificates.
	Listen string
	// Advertise is the host, or host:port, where others reach the broker; "" is the one it listens on, or this
	// machine's first address if that is all.
	Advertise string
	// Authority, if set, decides who may connect. Without one everybody on this machine may.
	Authority *Authority
	// Certificates, if set, make every connection TLS.
	Certificates *Certificates
	// OnStart, if set, is called when the server runs, with what opens connections to it without a network; stop is
	// called before the server ends.
	OnStart func(open func() (net.Conn, error)) (stop func(), err error)
	// URLFile, if set, gets the broker's URL after ready has returned, written whole, and is removed at the end.
	URLFile string
	// Watch, if set, is called once the server runs, with what reports whether it does; stop is called before it
	// ends.
	Watch  func(check func(context.Context) error) (stop func())
	Logger zerolog.Logger
}

// Run runs a broker until ctx is over. ready is called with its URL when agents and controllers can connect: once, and
// again if the server had to be started anew, since its store did not take anything any more after the disk was full.
func Run(ctx context.Context, cfg Config, ready func(url string)) error {
	if _, err := cfg.options(); err != nil {
		return err
	}
	unlock, err := cfg.claim()
	if err != nil {
		return err
	}
	defer unlock()
	for {
		again, err := cfg.serve(ctx, &cfg.Listen, ready)
		if err != nil || !again {
			return err
		}
	}
}

// serve runs a server until ctx is over, or until another has to take its place; then listen is where that listens.
func (c Config) serve(ctx context.Context, listen *string, ready func(url string)) (again bool, err error) {
	cfg := c
	opts, err := cfg.options()
	if err != nil {
		return false, err
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return false, fmt.Errorf("cannot start the broker: %w", err)
	}
	store := newStoreWatch(cfg.Data, srv)
	srv.SetLoggerV2(&logger{cfg.Logger, store}, false, false, false)
	srv.Start()
	defer func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	}()
	if !srv.ReadyForConnections(readyLimit) {
		return false, fmt.Errorf("cannot start the broker: it is not ready after %s", readyLimit)
	}
	defer cfg.keepRoster(ctx, srv)()
	if cfg.OnStart != nil {
		stop, err := cfg.OnStart(srv.InProcessConn)
		if err != nil {
			return false, err
		}
		defer stop()
	}
	if cfg.Watch != nil {
		defer cfg.Watch(store.check)()
	}
	url := cfg.url(srv.Addr())
	ready(url)
	if cfg.URLFile != "" { // last, as who waits for the file must find what ready has noted
		if err := atomicfile.Write(cfg.URLFile, []byte(url+"\n")); err != nil {
			return false, fmt.Errorf("cannot write the broker's URL: %w", err)
		}
		defer os.Remove(cfg.URLFile)
	}
	cfg.Logger.Info().Str("url", url).Str("data", cfg.Data).Msg("broker ready")
	if store.failedWithRoom(ctx) {
		cfg.Logger.Error().Msg(
			"the store takes nothing since the disk was full, and there is room again: the server is restarted")
		if strings.HasSuffix(*listen, ":0") {
			*listen = srv.Addr().String()
		}
		return true, nil
	}
	cfg.Logger.Info().Msg("broker stopping")
	return false, nil
}

func (c Config) options() (*server.Options, error) {
	listen := c.Listen
	if listen == "" {
		listen = DefaultListen
	}
	host, number, err := splitListen(listen)
	if err != nil {
		return nil, err
	}
	if !Loopback(listen) && (c.Authority == nil || c.Certificates == nil) {
		return nil, fmt.Errorf(
			"cannot listen on %q: without TLS and credentials the broker serves this machine only (127.0.0.1)", listen)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	if c.Data == "" {
		return nil, errors.New("cannot start the broker: it needs a directory for its data")
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return nil, fmt.Errorf("cannot start the broker: %v", err)
	}
	o := &server.Options{
		ServerName: "hark",
		Host:       host,
		Port:       number,
		JetStream:  true,
		StoreDir:   filepath.Join(c.Data, "jetstream"),
		NoSigs:     true,
		// A reconnect storm of a large fleet takes longer than the server's two seconds.
		AuthTimeout:  30,
		PingInterval: 20 * time.Second,
		MaxPingsOut:  2,
	}
	if c.Certificates != nil {
		o.TLSConfig, o.TLSTimeout = c.Certificates.tls, 30
	}
	if c.Authority != nil {
		if err := c.Authority.configure(o); err != nil {
			return nil, fmt.Errorf("cannot start the broker: %w", err)
		}
	}
	return o, nil
}

// Loopback reports whether host:port is of this machine only.
func Loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// url returns where others find the broker that listens on addr.
func (c Config) url(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		host = addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = firstAddress()
	}
	if c.Advertise != "" {
		if h, p, err := net.SplitHostPort(c.Advertise); err == nil {
			host, port = h, p
		} else {
			host = c.Advertise
		}
	}
	scheme := "nats"
	if c.Certificates != nil {
		scheme = "tls"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// firstAddress returns an address where this machine can be reached, its loopback if there is no other.
func firstAddress() string {
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// claim makes sure that nobody else has the data or the address: the server itself would only log that it cannot
// listen, and two servers on one store would destroy it.
func (c Config) claim() (unlock func(), err error) {
	lock, err := os.OpenFile(filepath.Join(c.Data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot start the broker: %v", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("cannot start the broker: another one uses the directory %s", c.Data)
	}
	listen := c.Listen
	if listen == "" {
		listen = DefaultListen
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("cannot start the broker: %v", err)
	}
	l.Close()
	return func() { lock.Close() }, nil
}

// again is how long a broker without its roster waits until it tries anew to keep it.
const again = 30 * time.Second

// keepRoster makes what controllers expect to find. A broker whose disk is full serves without: what runs needs the
// roster to begin, and nothing to go on. What it returns ends the trying.
func (c Config) keepRoster(ctx context.Context, srv *server.Server) (end func()) {
	err := c.prepare(ctx, srv)
	if err == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	var trying sync.WaitGroup
	trying.Go(func() {
		for err != nil {
			c.Logger.Error().AnErr("cause", err).AnErr("disk", atomicfile.Room(c.Data)).
				Msg("the broker serves without its roster: nothing new of agents can be kept")
			select {
			case <-ctx.Done():
				return
			case <-time.After(again):
			}
			err = c.prepare(ctx, srv)
		}
		c.Logger.Info().Msg("the broker keeps its roster")
	})
	return func() {
		stop()
		trying.Wait()
	}
}

// prepare makes what controllers expect to find.
func (c Config) prepare(ctx context.Context, srv *server.Server) error {
	o := []nats.Option{nats.InProcessServer(srv)}
	api := ""
	if c.Authority != nil {
		self, err := wire.NewIdentity()
		if err != nil {
			return err
		}
		token, err := c.Authority.Registrar(self.Key)
		if err == nil {
			api, err = c.Authority.StreamAPI()
		}
		if err != nil {
			return err
		}
		o = append(o, nats.CustomInboxPrefix(wire.Inbox(self.ID())),
			nats.UserJWT(func() (string, error) { return token, nil }, self.Sign))
	}
	conn, err := nats.Connect("", o...)
	if err != nil {
		return fmt.Errorf("cannot reach the broker in this process: %w", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	return EnsureStreams(ctx, streams.Manager{Conn: conn, API: api}, c.Logger)
}

// logger passes the server's lines on.
type logger struct {
	log   zerolog.Logger
	store *storeWatch // nil for nobody
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug().Msgf(format, v...) }
func (l *logger) Warnf(format string, v ...any)   { l.log.Warn().Msgf(format, v...) }
func (l *logger) Fatalf(format string, v ...any)  { l.log.Error().Msgf(format, v...) }

// Errorf passes an error on, and has a store that has failed noticed.
func (l *logger) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.log.Error().Msg(text)
	l.store.hear(text)
}
func (l *logger) Debugf(format string, v ...any) { l.log.Trace().Msgf(format, v...) }
func (l *logger) Tracef(format string, v ...any) { l.log.Trace().Msgf(format, v...) }

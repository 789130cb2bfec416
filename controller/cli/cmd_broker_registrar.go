package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/broker"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/streams"
)

// registrarSite is where a registrar serves.
type registrarSite struct {
	dir       string
	authority *broker.Authority
	ca        string
	// url or open reach the servers as the registrar, servers as one of them.
	url     string
	open    func() (net.Conn, error)
	servers func(...natsgo.Option) (*natsgo.Conn, error)
}

// ensureLimit is how long servers may take until they keep the roster: those of a cluster have to find each other.
const ensureLimit = time.Minute

// startLimit is how long servers may take until they can be reached: they may have been started together with the
// registrar.
const startLimit = 20 * time.Second

// dialStarting connects to servers that may be starting. One that refuses is there.
func dialStarting(c nats.Config) (*nats.Transport, error) {
	for until := time.Now().Add(startLimit); ; time.Sleep(200 * time.Millisecond) {
		bus, err := nats.Dial(context.Background(), c)
		if err == nil || c.Open != nil || nats.Refused(err) || time.Now().After(until) {
			return bus, err
		}
	}
}

// serveRegistrar lets agents be enrolled until stop is called.
func (j *brokerJob) serveRegistrar(r registrarSite) (stop func(), err error) {
	self, err := wire.NewIdentity()
	if err != nil {
		return nil, err
	}
	token, err := r.authority.Registrar(self.Key)
	if err != nil {
		return nil, err
	}
	api, err := r.authority.StreamAPI()
	if err != nil {
		return nil, err
	}
	var secure *tls.Config // none within this process
	if r.open == nil {
		if secure, err = j.fleet.TLS(r.ca); err != nil {
			return nil, err
		}
	}
	bus, err := dialStarting(nats.Config{
		URL: r.url, Open: r.open, ID: self.ID(), Name: "hark registrar", Identity: self, JWT: token, TLS: secure,
		Logger: j.c.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the broker: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), ensureLimit)
	defer cancel()
	// beside the broker in this process, that cares for it
	if err := broker.EnsureStreams(ctx, streams.Manager{Conn: bus.Conn(), API: api}, j.c.Logger); err != nil &&
		r.open == nil {
		return nil, errors.Join(err, bus.Close())
	}
	heard := roster.New(bus.Conn(), nil)
	heard.API = api
	registrar, err := enrol.Serve(enrol.Config{
		Dir: r.dir, Transport: bus, Authority: r.authority, CA: r.ca, Logger: j.c.Logger,
		Forget:  heard.Forget,
		Publish: func(ctx context.Context) error { return broker.Publish(ctx, r.authority, r.servers) },
	})
	if err != nil {
		return nil, errors.Join(err, bus.Close())
	}
	telling, end := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		roster.PublishFleetSize(telling, bus.Conn(), func(err error) {
			j.c.Logger.Warn().AnErr("cause", err).Msg("cannot tell the agents how many they are")
		})
	})
	work.Go(func() {
		roster.Sweep(telling, streams.Manager{Conn: bus.Conn(), API: api}, registrar.Enrolled, func(ids int) {
			j.c.Logger.Warn().Int("ids", ids).
				Msg("somebody has filled the roster with ids that nobody has enrolled: they are swept out")
		}, func(err error) {
			j.c.Logger.Warn().AnErr("cause", err).Msg("cannot sweep the roster")
		})
	})
	return func() {
		end()
		work.Wait()
		registrar.Close()
		_ = bus.Close()
	}, nil
}

func newBrokerRegistrarCommand(a *app) *cobra.Command {
	j := &brokerJob{app: a}
	var caFile string
	cmd := &cobra.Command{
		Use: "registrar", Short: "Enrol agents at a NATS cluster of your own", Args: argparse.NoArgs,
		Long: "Enrols agents, as `hark broker run` does beside its own server, at NATS servers with the configuration that " +
			"`hark broker config` prints. The operator who starts it gets access to them.",
		Example: "  hark broker registrar --data /etc/hark/authority --url tls://n1:4222,tls://n2:4222 --ca ca.pem",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	fs.data(&j.c.Data)
	j.lifeFlag(fs)
	var url string
	fs.Text(&url, "url", "", "", "URL", "the servers, separated by commas")
	fs.Text(&caFile, "ca", "", "", "FILE", "certificate authority of the servers (default: the system's)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if url == "" {
			return &argparse.UsageError{Text: "the following arguments are required: --url"}
		}
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		ca := ""
		if caFile != "" {
			text, err := os.ReadFile(caFile)
			if err != nil {
				return fmt.Errorf("cannot read the certificate authority: %w", err)
			}
			ca = string(text)
		}
		return j.attend(cmd.Context(), url, ca)
	}
	return cmd
}

// attend runs a registrar until ctx is over.
func (j *brokerJob) attend(ctx context.Context, url, ca string) error {
	j.c.Logger = serverLog(j.app, j.verbosity)
	authority, err := j.authority(openAuthority)
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(j.c.Data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("cannot start the registrar: %v", err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("cannot start the registrar: another one uses the directory %s", j.c.Data)
	}
	secure, err := j.fleet.TLS(ca)
	if err != nil {
		return err
	}
	stop, err := j.serveRegistrar(registrarSite{
		dir: j.c.Data, authority: authority, ca: ca, url: url,
		servers: func(o ...natsgo.Option) (*natsgo.Conn, error) {
			o = append(o, natsgo.Timeout(5*time.Second))
			if secure != nil {
				o = append(o, natsgo.Secure(secure))
			}
			return natsgo.Connect(url, o...)
		},
	})
	if err != nil {
		return err
	}
	defer stop()
	access, err := j.ownAccess(authority, ca)
	if err != nil {
		return err
	}
	access.URL = url
	if err := j.admitSelf(access); err != nil {
		return err
	}
	fmt.Fprintf(j.term.Out, "registrar ready at %s\n", url)
	<-ctx.Done()
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/agent/atomicfile"
	"hark/controller/broker"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/health"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/runs/origin"
)

// newBrokerCommand is hark broker.
func newBrokerCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "broker", Short: "Run the server that connects this machine and the agents",
		RunE: argparse.NeedCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(newBrokerRunCommand(a), newBrokerInstallCommand(a), newBrokerUninstallCommand(a),
		newBrokerStatusCommand(a), newBrokerConfigCommand(a), newBrokerRegistrarCommand(a), newBrokerAdmitCommand(a),
		newBrokerUseCommand(a),
		newBrokerOperatorsCommand(a), newBrokerExpelCommand(a))
	return cmd
}

// brokerJob is a broker that serves from this process.
type brokerJob struct {
	*app
	verbosity int
	c         broker.Config
	open      bool
	tls       bool
	life      time.Duration // of the credentials of agents
	// operatorLife is the life of the credentials of operators.
	operatorLife time.Duration
	caller       *caller // who installs the broker
	health       string  // where it answers whether it works, "" for nowhere
	checks       serverCheck
	said         bool // that it is ready
	names        []string
	// service says that this is a service of the machine, whose user is no operator.
	service bool
}

func newBrokerRunCommand(a *app) *cobra.Command {
	j := &brokerJob{app: a}
	cmd := &cobra.Command{
		Use: "run", Short: "Run a broker until it is interrupted", Args: argparse.NoArgs,
		Long: "Runs a broker: a NATS server with credentials for everybody and, unless it serves this machine only, TLS. " +
			"Keys, certificates and the book of agents are made in its directory at the first start. The operator who starts " +
			"it gets access to it. Without --listen or --advertise it serves this machine only: agents of other hosts cannot " +
			"reach it.",
		Example: "  hark broker run\n  hark broker run --listen 0.0.0.0:4222\n" +
			"  hark broker run --data /var/lib/hark-broker --advertise broker.example.org",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	j.serverFlags(fs, filepath.Join(a.fleet.Home, "broker"), broker.DefaultListen)
	j.lifeFlag(fs)
	fs.Text(&j.c.URLFile, "url-file", "", "", "FILE", "write the URL to this file when the broker is ready")
	fs.Toggle(&j.service, "service", "", false, "as a service: no operator gets access by it")
	cmd.Flags().Lookup("service").Hidden = true
	fs.Toggle(&j.open, "open", "", false, "no credentials: everybody on this machine may connect (loopback only)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		j.advertised(cmd.Flags().Changed("listen"))
		return j.run(cmd.Context())
	}
	return cmd
}

// serverFlags are those of run and install.
func (j *brokerJob) serverFlags(fs flags, data, listen string) {
	fs.Text(&j.c.Data, "data", "", data, "DIR", "the directory of its keys and stores")
	fs.Text(&j.c.Listen, "listen", "", listen, "HOST:PORT",
		fmt.Sprintf("where to listen; port 0 takes a free one (default: %s)", listen))
	fs.Text(&j.c.Advertise, "advertise", "", "", "HOST[:PORT]",
		"how agents and operators reach it, if not by the address it listens on; without --listen it listens on all "+
			"addresses then")
	fs.List(&j.names, "name", "", "NAME", "one more name or address for its certificate")
	fs.Text(&j.health, "health", "", "", "HOST:PORT",
		"where to answer GET /healthz: 200 if it works, 503 if not (default: nowhere)")
	fs.Toggle(&j.tls, "tls", "", false, "TLS on the loopback too")
}

// advertised has a broker that is to be reached from elsewhere listen there, unless it is said where it listens.
func (j *brokerJob) advertised(listens bool) {
	if j.c.Advertise == "" || listens || broker.Loopback(net.JoinHostPort(hostOf(j.c.Advertise), "0")) {
		return
	}
	_, port, err := net.SplitHostPort(j.c.Advertise)
	if err != nil {
		_, port, _ = net.SplitHostPort(broker.DefaultListen)
	}
	j.c.Listen = net.JoinHostPort("0.0.0.0", port)
}

// leastLife is the shortest life of credentials: agents and registrar may be parted for a part of it.
const leastLife = 10 * time.Second

func (j *brokerJob) lifeFlag(fs flags) {
	fs.Span(&j.life, "agent-credentials", 0, "DURATION",
		"for how long the credentials of agents are good, which renew them by themselves (default: 720h)")
	fs.Span(&j.operatorLife, "operator-credentials", 0, "DURATION",
		"for how long the credentials of operators are good, which are renewed when they are used (default: 2160h)")
}

// checkServer finds what is wrong with the flags before anything is made.
func (j *brokerJob) checkServer() error {
	if j.life != 0 && j.life < leastLife {
		return &argparse.UsageError{Text: fmt.Sprintf("argument --agent-credentials: must be %s or more", leastLife)}
	}
	if j.operatorLife != 0 && j.operatorLife < leastLife {
		return &argparse.UsageError{Text: fmt.Sprintf("argument --operator-credentials: must be %s or more", leastLife)}
	}
	if j.c.Listen == "" { // a registrar does not listen
		return nil
	}
	return broker.CheckListen(j.c.Listen)
}

// authority opens the authority in the directory of the flags.
func (j *brokerJob) authority(open func(string) (*broker.Authority, error)) (*broker.Authority, error) {
	if err := j.checkServer(); err != nil {
		return nil, err
	}
	authority, err := open(j.c.Data)
	if err == nil {
		authority.AgentLife, authority.OperatorLife = j.life, j.operatorLife
	}
	return authority, err
}

func (j *brokerJob) run(ctx context.Context) error {
	j.c.Logger = serverLog(j.app, j.verbosity)
	if j.open {
		return broker.Run(ctx, j.c, j.ready)
	}
	authority, err := j.authority(broker.OpenAuthority)
	if err != nil {
		return err
	}
	j.c.Authority = authority
	ca := ""
	if j.tls || !broker.Loopback(j.c.Listen) {
		if j.c.Advertise != "" {
			j.names = append(j.names, hostOf(j.c.Advertise))
		}
		if j.c.Certificates, err = broker.OpenCertificates(j.c.Data, j.names); err != nil {
			return err
		}
		ca = string(j.c.Certificates.CA)
	}
	j.c.OnStart = func(open func() (net.Conn, error)) (func(), error) {
		return j.serveRegistrar(registrarSite{
			dir: j.c.Data, authority: authority, ca: ca, open: open,
			servers: func(o ...natsgo.Option) (*natsgo.Conn, error) {
				return natsgo.Connect("", append(o, natsgo.InProcessServer(inProcess(open)))...)
			},
		})
	}
	j.c.Watch = j.watch
	stop, err := health.Serve(j.health, j.checks.now)
	if err != nil {
		return err
	}
	defer stop()
	var access trust.Access
	if !j.service {
		if access, err = j.ownAccess(authority, ca); err != nil {
			return err
		}
	}
	var failed error
	ctx, end := context.WithCancel(ctx)
	defer end()
	err = broker.Run(ctx, j.c, func(url string) {
		access.URL = url
		if failed = j.admitSelf(access); failed != nil && atomicfile.Room(j.c.Data) == nil {
			end()
			return
		} else if failed != nil {
			j.c.Logger.Error().AnErr("cause", failed).Msg("the access of this operator is not on record")
			failed = nil
		}
		j.ready(url)
	})
	if j.temporary() && !j.service {
		err = errors.Join(err, j.forget(access.URL))
	}
	return errors.Join(failed, err)
}

// inProcess gives nats.go connections to the server in this process.
type inProcess func() (net.Conn, error)

func (f inProcess) InProcessConn() (net.Conn, error) { return f() }

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// ownAccess returns how the operator who starts the broker reaches it.
func (j *brokerJob) ownAccess(authority *broker.Authority, ca string) (trust.Access, error) {
	operator, _, err := trust.LoadOrCreate(j.cfg.Text("HARK_OPERATOR_KEY"), j.fleet.Home)
	if err != nil {
		return trust.Access{}, err
	}
	name, _ := origin.Person(j.cfg.Getenv)
	token, err := authority.Admit(enrol.Operator{Key: operator.Key, Access: enrol.MayManage,
		Name: freeName(authority, name, operator.Key), By: name})
	return trust.Access{Token: token, CA: ca}, err
}

// admitSelf records the access, and beside the data where the broker is.
func (j *brokerJob) admitSelf(access trust.Access) error {
	if err := os.WriteFile(filepath.Join(j.c.Data, broker.URLFile), []byte(access.URL+"\n"), 0o600); err != nil {
		return fmt.Errorf("cannot note the broker's URL: %v", err)
	}
	if j.service {
		return nil
	}
	known, err := trust.OpenBrokers(j.fleet.Home)
	if err != nil {
		return err
	}
	return known.Put(access)
}

// temporary reports whether the next start will have another URL.
func (j *brokerJob) temporary() bool { return strings.HasSuffix(j.c.Listen, ":0") }

func (j *brokerJob) forget(url string) error {
	known, err := trust.OpenBrokers(j.fleet.Home)
	if err != nil {
		return err
	}
	return known.Drop(url)
}

func (j *brokerJob) ready(url string) {
	if !j.said {
		fmt.Fprintf(j.term.Out, "broker ready at %s\n", url)
	}
	j.said = true
	health.Ready(j.c.Logger)
}

// serverCheck is the check of the server that runs now. It is safe for concurrent use.
type serverCheck struct {
	mu    sync.Mutex
	check health.Check // nil before the server runs; guarded by mu
}

func (c *serverCheck) set(check health.Check) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check = check
}

func (c *serverCheck) now(ctx context.Context) error {
	c.mu.Lock()
	check := c.check
	c.mu.Unlock()
	if check == nil {
		return errors.New("the server is being started")
	}
	return check(ctx)
}

// watch tells systemd that a server lives. One whose store takes nothing lives: another start would not make room.
func (j *brokerJob) watch(check func(context.Context) error) (stop func()) {
	j.checks.set(check)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		health.Watch(ctx, j.c.Logger, func(ctx context.Context) error {
			err := check(ctx)
			var store *broker.StoreError
			if errors.As(err, &store) {
				return nil
			}
			return err
		})
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// serverLog returns where a server logs: stderr, for people.
func serverLog(a *app, verbosity int) zerolog.Logger {
	level := zerolog.InfoLevel
	if verbosity > 0 {
		level = zerolog.DebugLevel
	}
	var out io.Writer = a.term.Err
	return zerolog.New(zerolog.ConsoleWriter{Out: out, NoColor: !a.screens.Colored(),
		TimeFormat: time.DateTime}).Level(level).With().Timestamp().Logger()
}

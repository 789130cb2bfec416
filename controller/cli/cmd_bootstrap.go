package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/agent/wire/nats"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/bootstrap"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/ssh"
	"hark/controller/internal/play/link"
	"hark/controller/internal/ui/view"
)

// bootstrapJob puts agents on the hosts of an inventory.
type bootstrapJob struct {
	*app
	o        project.Options
	pattern  string
	binaries []string
	url      string
	trust    []string
	force    bool
	asJSON   bool
	limit    time.Duration

	hosts int // that are worked on

	mu   sync.Mutex
	out  []bootstrap.Result // guarded by mu
	at   map[string]string  // what is done on the hosts that are worked on; guarded by mu
	last string             // the host of the newest of these; guarded by mu
}

// forksOfBootstrap is how many hosts are worked on at once when nobody says.
const forksOfBootstrap = 25

func newBootstrapCommand(a *app) *cobra.Command {
	j := &bootstrapJob{app: a}
	cmd := &cobra.Command{
		Use: "bootstrap", Short: "Put agents on hosts over ssh", Annotations: map[string]string{"args": "[pattern]"},
		Args: cobra.ArbitraryArgs,
		Long: "Installs the agent on the hosts of an inventory, over the ssh of this machine and with the connection " +
			"variables that Ansible has (ansible_host, ansible_user, ansible_ssh_common_args, become and so on), enrols it " +
			"and waits until it answers. A host that is as it should be is left alone; one that cannot be finished is put " +
			"back as it was.",
		Example: "  hark bootstrap -i inventory\n  hark bootstrap -i inventory web -b -K --forks 50",
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.inventory(&j.o.Inventory)
	fs.connect(&j.o.Connect)
	fs.become(&j.o.Become)
	fs.extra(&j.o.Extra)
	fs.vault(&j.o.Vault)
	fs.Number(&j.o.Forks.Number, "forks", "f", forksOfBootstrap, "FORKS", "how many hosts to work on at once")
	fs.broker(&j.o.Broker)
	fs.agentBinaries(&j.binaries)
	fs.Text(&j.url, "broker-url", "", "", "URL", "how the hosts reach the broker (default: as this machine does)")
	fs.List(&j.trust, "trust", "", "KEY", "public key of another operator that the agents obey")
	fs.Toggle(&j.force, "force", "", false, "enrol hosts again that are as they should be")
	fs.Span(&j.limit, "limit-time", 5*time.Minute, "DURATION", "how long a host may take")
	fs.json(&j.asJSON)
	a.completeArgs(cmd, 1, func(c *completion) []string { return c.patterns() })
	cmd.RunE = j.run
	return cmd
}

func (j *bootstrapJob) run(cmd *cobra.Command, args []string) error {
	j.pattern = "all"
	if len(args) == 1 {
		j.pattern = args[0]
	} else if len(args) > 1 {
		return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(args[1:], " ")}
	}
	if j.limit <= 0 {
		return &argparse.UsageError{Text: "argument --limit-time: must be more than nothing"}
	}
	if err := checkCommon(j.app, cmd, &j.o); err != nil {
		return err
	}
	if err := j.begin(cmd, j.o.Verbosity); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := j.askPasswords(ctx, &j.o); err != nil {
		return err
	}
	p, err := j.open(ctx, &j.o, "")
	if err != nil {
		return err
	}
	hosts, err := p.Limit(j.pattern)
	if err != nil {
		return err
	}
	if j.o.Inventory.ListHosts {
		(&runJob{app: j.app}).list(hosts)
		return nil
	}
	if len(hosts) == 0 {
		return errors.New("there are no hosts to put agents on")
	}
	targets, err := p.sshTargets(ctx, hosts)
	if err != nil {
		return err
	}
	targets = slices.DeleteFunc(targets, func(h bootstrap.Host) bool { return errors.Is(h.Err, errLocal) })
	b, err := j.fleet.Dial(ctx, j.o.Broker)
	if err != nil {
		return err
	}
	defer b.Close()
	if j.url == "" {
		if err := brokerFor(b.URL, targets); err != nil {
			return err
		}
	}
	return j.install(ctx, b, targets)
}

// install installs agents on the hosts and prints the result for each.
func (j *bootstrapJob) install(ctx context.Context, b *fleet.Connection, hosts []bootstrap.Host) error {
	client, err := ssh.Open(j.cfg.Text("connection/ssh.ssh_executable"))
	if err != nil {
		return err
	}
	defer client.Close()
	binaries, err := j.agentBinaries(j.binaries)
	if err != nil {
		return err
	}
	setup, err := j.setup(b)
	if err != nil {
		return err
	}
	j.hosts = len(hosts)
	pinger := &link.Pinger{Transport: b, Operator: b.Operator}
	bootstrap.Run(ctx, bootstrap.Config{
		Client: client, Binaries: binaries, Setup: setup, Forks: j.o.Forks.Number, Limit: j.limit,
		Grant: func(ctx context.Context, name string, k wire.SetupKeys) (wire.SetupGrant, error) {
			return grant(ctx, b, name, k)
		},
		Heard:    func(ctx context.Context, key string) error { return heard(ctx, pinger, key) },
		Enrol:    func(ctx context.Context, name string, k wire.SetupKeys) error { return letIn(ctx, b, name, k) },
		Progress: j.progress,
	}, hosts, j.tell)
	j.display.Status("")
	if err := j.summary(); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// setup returns what all agents are told.
func (j *bootstrapJob) setup(b *fleet.Connection) (wire.Setup, error) {
	s := wire.Setup{V: wire.Version, Broker: b.URL, Operators: append([]string{b.Operator.Key}, j.trust...),
		Force: j.force}
	if j.url != "" {
		if !nats.ValidURL(j.url) {
			return s, &argparse.UsageError{Text: fmt.Sprintf(
				"argument --broker-url: %q is not the URL of a broker, such as tls://broker.example.org:4222", j.url)}
		}
		s.Broker = j.url
	}
	for _, key := range s.Operators {
		if !wire.ValidKey(key) {
			return s, fmt.Errorf("%q is not an operator's public key: `hark key show --public` prints it", key)
		}
	}
	return s, nil
}

// grant gives credentials to an agent whose key came over ssh. A broker that lets everybody in needs none.
func grant(ctx context.Context, b *fleet.Connection, name string, k wire.SetupKeys) (wire.SetupGrant, error) {
	if b.Access.Token == "" {
		return wire.SetupGrant{CA: b.Access.CA}, nil
	}
	token, ca, err := b.Registrar().Grant(ctx, bookEntry(name, k))
	return wire.SetupGrant{JWT: token, CA: ca}, err
}

// letIn enters an agent into the registrar's book and this operator's record.
func letIn(ctx context.Context, b *fleet.Connection, name string, k wire.SetupKeys) error {
	if b.Access.Token != "" {
		if err := b.Registrar().Enrol(ctx, bookEntry(name, k)); err != nil {
			return err
		}
	}
	return b.Known.Replace(name, k.Key)
}

func bookEntry(name string, k wire.SetupKeys) enrol.Agent {
	return enrol.Agent{Name: name, Key: k.Key, XKey: k.XKey, OS: k.OS, Arch: k.Arch, Version: k.Version}
}

// helloLimit is how long an agent may take from its start to its first answer.
const helloLimit = 30 * time.Second

func heard(ctx context.Context, p *link.Pinger, key string) error {
	ctx, cancel := context.WithTimeout(ctx, helloLimit)
	defer cancel()
	_, err := p.Await(ctx, key)
	return err
}

// progress notes what is done on a host, and shows it under the output on a terminal.
func (j *bootstrapJob) progress(host, what string) {
	j.display.Verbose(1, host, what)
	j.mu.Lock()
	if j.at == nil {
		j.at = map[string]string{}
	}
	j.at[host], j.last = what, host
	line := j.status()
	j.mu.Unlock()
	j.display.Status(line)
}

// status returns a line on how far the work is. It needs mu.
func (j *bootstrapJob) status() string {
	if len(j.out) == j.hosts || len(j.at) == 0 {
		return ""
	}
	if j.at[j.last] == "" {
		j.last = slices.Min(slices.Collect(maps.Keys(j.at)))
	}
	line := fmt.Sprintf("[bootstrap] %d of %s done; %s: %s", len(j.out), hostCount(j.hosts), j.last, j.at[j.last])
	if more := len(j.at) - 1; more > 0 {
		line += fmt.Sprintf("; %d more under way", more)
	}
	return line
}

// tell prints the result for a host.
func (j *bootstrapJob) tell(r bootstrap.Result) {
	j.mu.Lock()
	j.out = append(j.out, r)
	delete(j.at, r.Host)
	line := j.status()
	j.mu.Unlock()
	j.display.Status(line)
	if j.asJSON {
		return
	}
	took := r.Took.Round(100 * time.Millisecond)
	switch {
	case r.Unreachable:
		j.display.Print(view.ColorUnreachable, fmt.Sprintf("%s: unreachable: %s", r.Host, view.OneLine(r.Err)))
	case r.Err != "":
		j.display.Print(view.ColorError, fmt.Sprintf("%s: failed: %s", r.Host, view.OneLine(r.Err)))
	case r.Changed:
		j.display.Print(view.ColorChanged, fmt.Sprintf("%s: installed %s (hark-agent %s, %s/%s, %s)", r.Host,
			view.OneLine(strings.Join(r.Did, ", ")), r.Version,
			r.OS, r.Arch, took))
	default:
		j.display.Print(view.ColorOK, fmt.Sprintf("%s: ok (hark-agent %s, %s/%s, %s)", r.Host, r.Version, r.OS, r.Arch, took))
	}
}

// summary ends the command with the sum, and the exit code of a run with such hosts.
func (j *bootstrapJob) summary() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var installed, ok, failed, unreachable int
	for _, r := range j.out {
		switch {
		case r.Unreachable:
			unreachable++
		case r.Err != "":
			failed++
		case r.Changed:
			installed++
		default:
			ok++
		}
	}
	if j.asJSON {
		if err := j.term.PrintJSON(j.out); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(j.term.Out, "%s: %d installed, %d ok, %d failed, %d unreachable\n", hostCount(len(j.out)), installed,
			ok, failed, unreachable)
	}
	switch {
	case unreachable > 0:
		return &quietError{exitUnreachable}
	case failed > 0:
		return &quietError{exitFailed}
	}
	return nil
}

// errLocal is why a host is left out.
var errLocal = errors.New("its connection is local: it needs no agent")

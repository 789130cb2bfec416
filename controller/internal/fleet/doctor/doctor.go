// Package doctor checks each link of the chain from this machine to the agents, and says of what is broken what to do
// about it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"hark/agent/version"
	"hark/agent/wire"
	"hark/controller/internal/fleet"
	"hark/controller/internal/fleet/enrol"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/fleet/trust"
	"hark/controller/internal/play/link"
)

// Finding is what was found at one link of the chain.
type Finding struct {
	Check string `json:"check"`
	// State is ok, warning or failed.
	State string `json:"state"`
	Text  string `json:"text"`
	// Do is what to do about it.
	Do string `json:"do,omitempty"`
}

// Config is what an examination is about.
type Config struct {
	// Settings is the file of the settings, "" for none; Broker the broker of the flags, "" for the operator's own.
	Settings, Broker string
	Dialer           *fleet.Dialer
	// Version is this hark's own.
	Version string
	// Hosts are those of the inventory, if there is one; NoSSH tells that none is reached over ssh.
	Hosts []Host
	NoSSH bool
	// Inventory is why the inventory could not be read, nil if it was.
	Inventory error
	// Try, if it is not nil, tries whether ssh gets to a host. It is called from several goroutines.
	Try func(ctx context.Context, host string) error
	// Ansible reports whether ansible-core is on this machine, for connection plug-ins in Python.
	Ansible bool
	// Tell gets each finding as soon as there is one.
	Tell func(Finding)
}

// doctor is one examination.
type doctor struct {
	Config
	findings []Finding
	link     *fleet.Connection
	book     []enrol.Agent // of the registrar, nil if it is not known
}

// Examine goes along the chain until a link is broken on which the next ones hang.
func Examine(ctx context.Context, c Config) []Finding {
	d := &doctor{Config: c}
	if d.files() && d.broker(ctx) {
		defer d.link.Close()
		d.stream(ctx)
		d.records(ctx)
		d.registrar(ctx)
		d.agents(ctx)
	}
	d.hosts(ctx)
	return d.findings
}

func (d *doctor) ok(check, format string, a ...any) {
	d.add(Finding{Check: check, State: "ok", Text: fmt.Sprintf(format, a...)})
}

func (d *doctor) add(f Finding) {
	d.findings = append(d.findings, f)
	d.Tell(f)
}

// files checks what is on this machine.
func (d *doctor) files() bool {
	file := d.Settings
	if file == "" {
		file = "none"
	}
	d.ok("settings", "ansible.cfg: %s, hark's directory: %s", file, d.Dialer.Home)
	if st, err := os.Stat(d.Dialer.Home); err == nil && st.Mode().Perm()&0o022 != 0 {
		d.add(Finding{"settings", "warning", fmt.Sprintf("others can write to %s (mode %04o)", d.Dialer.Home,
			st.Mode().Perm()), "chmod 700 " + d.Dialer.Home})
	}
	path := d.Dialer.OperatorKey
	id, err := trust.Load(path)
	var none *trust.NoKeyError
	switch {
	case errors.As(err, &none):
		d.noKey(path)
		return false
	case err != nil:
		d.add(Finding{"key", "failed", err.Error(),
			"put the key back from a copy, or make another with `hark key create` and have agents trust it"})
		return false
	}
	d.ok("key", "%s", id.Key)
	if st, err := os.Stat(filepath.Join(d.Dialer.Home, trust.KnownFile)); err == nil && st.Mode().Perm()&0o022 != 0 {
		d.add(Finding{"key", "warning", "others can write to the record of agents' keys", "chmod 600 " +
			filepath.Join(d.Dialer.Home, trust.KnownFile)})
	}
	return true
}

// installedBroker is where the broker's service of a machine keeps its keys.
const installedBroker = "/var/lib/hark-broker"

// noKey says what to do without an operator key.
func (d *doctor) noKey(path string) {
	switch was, lost := trust.Lost(path, d.Dialer.Home); {
	case lost:
		d.add(Finding{"key", "failed",
			fmt.Sprintf("the operator key %s is gone; agents and brokers know this operator by it %s", path, was),
			"put the key back from a copy (docs/lost-key.md); hark key create makes another, which nobody obeys yet"})
	case d.brokerInstalled():
		d.add(Finding{"key", "failed", "there is no operator key at " + path +
			", and a broker is installed on this machine (hark-broker.service)",
			"sudo hark broker admit \"$(hark key show --public)\" --agents > access.json && hark broker use access.json"})
	default:
		d.add(Finding{"key", "failed", "there is no operator key at " + path,
			"hark broker run makes one with a broker; hark key create makes one for a broker that is there"})
	}
}

// brokerInstalled reports whether this machine has the broker's service.
func (d *doctor) brokerInstalled() bool {
	_, err := os.Stat(installedBroker)
	return err == nil
}

// broker checks that it can be reached, by what, and as whom.
func (d *doctor) broker(ctx context.Context) bool {
	access, err := d.Dialer.Access(d.Broker)
	if err != nil {
		advice := "hark broker run on this machine, or hark broker use ACCESS with what `hark broker admit` prints"
		if d.brokerInstalled() {
			advice = "a broker is installed here (hark-broker.service): sudo hark broker admit \"$(hark key show --public)\" " +
				"--agents > access.json && hark broker use access.json"
		}
		d.add(Finding{"broker", "failed", err.Error(), advice})
		return false
	}
	began := time.Now()
	if d.link, err = d.Dialer.Dial(ctx, d.Broker); err != nil {
		d.add(Finding{"broker", "failed", err.Error(), brokerAdvice(err)})
		return false
	}
	rtt, err := d.link.Conn().RTT()
	if err != nil {
		d.add(Finding{"broker", "failed", fmt.Sprintf("the broker at %s takes the connection and does not answer: %v",
			access.URL, err), "look at its log: journalctl -u hark-broker"})
		return false
	}
	d.ok("broker", "%s, NATS %s, connected in %s, answers in %s", d.link.Conn().ConnectedUrlRedacted(),
		d.link.Conn().ConnectedServerVersion(),
		time.Since(began).Round(time.Millisecond), rtt.Round(time.Microsecond))
	d.secrecy()
	return true
}

// secrecy checks TLS and credentials of the connection.
func (d *doctor) secrecy() {
	state, err := d.link.Conn().TLSConnectionState()
	switch {
	case err != nil && local(d.link.Conn().ConnectedAddr()):
		d.ok("tls", "none, on the loopback")
	case err != nil:
		d.add(Finding{"tls", "warning", "the connection is not encrypted",
			"let the broker have TLS: hark broker run --listen ADDRESS, or tls {} in your servers' configuration"})
	default:
		left := time.Until(state.PeerCertificates[0].NotAfter)
		if left < 30*24*time.Hour {
			d.add(Finding{"tls", "warning", fmt.Sprintf("the broker's certificate ends in %d days", int(left.Hours()/24)),
				"restart the broker: it makes a new one"})
			break
		}
		d.ok("tls", "certificate of %s, good for %d days", state.PeerCertificates[0].Issuer.CommonName, int(left.Hours()/24))
	}
	if d.link.Access.Token == "" {
		d.add(Finding{"credentials", "warning", "the broker asks for none: everybody who reaches it may connect",
			"run it without --open"})
		return
	}
	d.ok("credentials", "let in as %s", wire.IDOf(d.link.Operator.Key))
}

func local(address string) bool {
	return strings.HasPrefix(address, "127.") || strings.HasPrefix(address, "[::1]")
}

// brokerAdvice returns what to do when the broker cannot be reached.
func brokerAdvice(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "is not the URL"):
		return "correct HARK_BROKER, or broker= in the [hark] section of ansible.cfg"
	case strings.Contains(text, "refused"):
		return "nobody listens there: start the broker (hark broker run, systemctl start hark-broker), or correct HARK_BROKER"
	case strings.Contains(text, "secure connection not available"):
		return "the broker has no TLS: write nats:// in HARK_BROKER and unset HARK_CA, or let it have TLS (hark broker run " +
			"--tls)"
	case strings.Contains(text, "credentials"):
		return "HARK_CREDENTIALS must name a file with a token for this broker; without it the access on record is used"
	case strings.Contains(text, "certificate"):
		return "the broker is another one than this machine knows: hark broker use ACCESS, or set HARK_CA"
	case strings.Contains(text, "uthorization"), strings.Contains(text, "revoked"):
		return "this operator has no access: hark broker admit KEY where the broker runs, then hark broker use"
	case strings.Contains(text, "no such host"):
		return "the name cannot be resolved: correct HARK_BROKER or the name service"
	case strings.Contains(text, "timeout"), strings.Contains(text, "no route"):
		return "no packet comes back: look at firewalls between this machine and the broker"
	}
	return "look at the broker's log: journalctl -u hark-broker"
}

// stream checks JetStream, in which the roster is.
func (d *doctor) stream(ctx context.Context) {
	js, err := jetstream.New(d.link.Conn())
	var stream jetstream.Stream
	if err == nil {
		stream, err = js.Stream(ctx, roster.StreamName)
	}
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		d.add(Finding{"jetstream", "failed", "the roster's stream is not there",
			"run the registrar: hark broker run, or hark broker registrar for servers of your own"})
	case err != nil:
		d.add(Finding{"jetstream", "failed", "the roster cannot be read: " + err.Error(),
			"turn JetStream on in the servers' configuration"})
	default:
		info := stream.CachedInfo()
		d.ok("jetstream", "stream %s holds %d messages, %d replicas", roster.StreamName, info.State.Msgs,
			info.Config.Replicas)
	}
}

// records checks that the broker stores what runs send: a server whose disk was full answers, and stores nothing more.
func (d *doctor) records(ctx context.Context) {
	if d.link.MayCommand() != nil {
		return
	}
	l, err := d.link.Ledger(d.Dialer.Home)
	if err == nil {
		err = l.Try(ctx)
	}
	if err != nil {
		d.add(Finding{"records", "failed", err.Error(),
			"make room where the broker keeps its data, and restart servers of your own: journalctl -u hark-broker"})
		return
	}
	d.ok("records", "the broker stores records of runs")
}

func (d *doctor) registrar(ctx context.Context) {
	if d.link.Access.Token == "" {
		return
	}
	agents, _, err := d.link.Registrar().List(ctx)
	switch {
	case errors.Is(err, enrol.ErrNoRegistrar):
		d.add(Finding{"registrar", "warning", "nobody enrols agents", "hark broker registrar, where the broker's keys are"})
		return
	case err != nil:
		d.add(Finding{"registrar", "failed", err.Error(), "look at the broker's log: journalctl -u hark-broker"})
		return
	}
	d.book = agents
	if trouble, err := d.link.Registrar().Health(ctx); err == nil && trouble != "" { // an older one cannot tell
		d.add(Finding{"disk", "failed", "at the broker: " + trouble,
			"make room there: nothing can be enrolled, revoked or renewed, and a broker that is started now has no roster"})
	}
	pending := 0
	for _, x := range agents {
		if x.State == enrol.Pending {
			pending++
		}
	}
	if pending > 0 {
		d.add(Finding{"registrar", "warning", fmt.Sprintf("%s for approval",
			counted(pending, "agent waits", "agents wait")), "hark agents list --pending, then hark agents approve NAME"})
		return
	}
	d.ok("registrar", "%s in its book", counted(len(agents), "agent", "agents"))
}

// answered is what came of asking one agent.
type answered struct {
	agent roster.Agent
	pong  *link.Pong
	err   error
}

// agents asks every agent.
func (d *doctor) agents(ctx context.Context) {
	all, err := d.link.Roster.All(ctx)
	if err != nil {
		d.add(Finding{"agents", "failed", err.Error(), ""})
		return
	}
	if len(all) == 0 {
		d.add(Finding{"agents", "warning", "no agent was ever heard of", "hark bootstrap -i INVENTORY, or hark agents token"})
		return
	}
	good := 0
	versions := map[string]int{}
	var bad group
	for _, x := range d.ask(ctx, all) {
		if x.err == nil {
			versions[x.pong.Hello.Version]++
		}
		f, wrong := d.judge(x)
		if wrong {
			bad.add(x.agent.Name, f)
		}
		if !wrong || f.State == "warning" {
			good++
		}
	}
	for _, f := range bad.findings() {
		d.add(f)
	}
	d.ok("agents", "%d of %d answer and obey this operator", good, len(all))
	d.versions(versions)
}

// askLimit is how long an agent may take to answer.
const askLimit = 5 * time.Second

// ask asks all agents, many at once.
func (d *doctor) ask(ctx context.Context, all []roster.Agent) []answered {
	out := make([]answered, len(all))
	p := &link.Pinger{Transport: d.link, Operator: d.link.Operator}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 64)
	for i, a := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, askLimit)
			defer cancel()
			pong, err := p.Ping(ctx, a.Key)
			out[i] = answered{a, pong, err}
		})
	}
	wg.Wait()
	return out
}

// judge returns what is wrong with an agent, if anything is.
func (d *doctor) judge(x answered) (Finding, bool) {
	name := "agent " + x.agent.Name
	switch pinned := d.link.Known.Key(x.agent.Name); {
	case pinned != "" && pinned != x.agent.Key:
		return Finding{name, "failed", "its key is not the one on record",
			"if it was installed again: hark agents remove " + x.agent.Name}, true
	case errors.Is(x.err, wire.ErrNoResponder) && d.whyAbsent(x.agent.Key) != "":
		return Finding{name, "failed", "it " + d.whyAbsent(x.agent.Key), "if it is gone for good: hark agents remove " +
			x.agent.Name}, true
	case errors.Is(x.err, wire.ErrNoResponder):
		return Finding{name, "failed", "not connected to the broker, last seen " + fleet.Ago(x.agent.Seen),
			"on the host: systemctl status hark-agent; journalctl -u hark-agent; or hark agents remove " + x.agent.Name}, true
	case x.err != nil && strings.Contains(x.err.Error(), "not trusted"):
		return Finding{name, "failed", "it does not obey this operator",
			"have an operator that it obeys run: hark key trust " + d.link.Operator.Key}, true
	case x.err != nil:
		return Finding{name, "failed", silence(x.err),
			"see that the host is up and reaches the broker; on the host: journalctl -u hark-agent"}, true
	case x.pong.Hello.Trouble != "":
		return Finding{name, "failed", x.pong.Hello.Trouble, "it can begin nothing until that is put right on the host"}, true
	case x.pong.Offset.Abs() > time.Minute:
		return Finding{name, "warning", fmt.Sprintf("its clock is off by %s; hark works all the same",
			x.pong.Offset.Round(time.Second)), "let the host keep time: chrony or systemd-timesyncd"}, true
	case len(x.pong.RefusedLastHour) > 0:
		return Finding{name, "warning", "in the last hour it has refused " + counts(x.pong.RefusedLastHour),
			"on the host: journalctl -u hark-agent -g 'message refused' tells when and why"}, true
	}
	return Finding{}, false
}

// silence words why an agent that is connected gives no answer.
func silence(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf(
			"it is connected to the broker and does not answer within %s: the host may be cut off or stand still", askLimit)
	}
	return "it does not answer: " + err.Error()
}

// whyAbsent returns why an agent is not connected, by the registrar's book, "" if that does not tell.
func (d *doctor) whyAbsent(key string) string {
	i := slices.IndexFunc(d.book, func(x enrol.Agent) bool { return x.Key == key })
	if i < 0 {
		return ""
	}
	return fleet.DutyState(d.book[i], time.Now())
}

// counted returns a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// counts are refused messages by their reasons.
func counts(refused map[wire.Reason]uint64) string {
	words := make([]string, 0, len(refused))
	for _, why := range slices.Sorted(maps.Keys(refused)) {
		words = append(words, fmt.Sprintf("%d %s", refused[why], why))
	}
	return strings.Join(words, ", ")
}

// versions compares the agents' versions with this hark's.
func (d *doctor) versions(count map[string]int) {
	older, newer := 0, 0
	for v, n := range count {
		switch c := version.Compare(v, d.Version); {
		case c < 0:
			older += n
		case c > 0:
			newer += n
		case v != d.Version: // two builds of one version
			older += n
		}
	}
	if older+newer == 0 {
		d.ok("versions", "all agents have this hark's, %s", d.Version)
	}
	if older > 0 {
		d.add(Finding{"versions", "warning", fmt.Sprintf("this is hark %s; %s another version", d.Version,
			counted(older, "agent has", "agents have")), "hark agents upgrade"})
	}
	if newer > 0 {
		d.add(Finding{"versions", "warning", fmt.Sprintf("this is hark %s; %s a newer version", d.Version,
			counted(newer, "agent has", "agents have")), "upgrade hark on this machine"})
	}
}

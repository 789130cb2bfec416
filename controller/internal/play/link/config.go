package link

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
)

// Config is what a Hub needs.
type Config struct {
	// Run is the id of the run: one token of a subject, unique among all controllers.
	Run string
	// Fleet is the name of the fleet, "" if there is only one.
	Fleet string
	// Operator signs what is sent to agents behind the broker. It may be nil as long as only hosts of this process
	// are used.
	Operator *wire.Identity
	// Broker is the connection to the broker; if nil, BrokerErr says why, and that is the reason given for every host
	// that is not of this process.
	Broker    wire.Transport
	BrokerErr error
	// OnRecord reports, where there is no Broker, whether an agent of the name was met before: others are taken to have
	// none. nil takes all to have one.
	OnRecord func(agent string) bool
	// Roster finds the agents behind the broker; needed with Broker.
	Roster Roster
	// Dial, if set, gives Broker, Operator and Roster, or else BrokerErr, when the first host is met that is not of
	// this process.
	Dial func(ctx context.Context) (RemoteConfig, error)
	// Local reports whether a host is this process (connection: local). It may be called at any time.
	Local func(host string) bool
	// AgentName is the name of the agent that serves a host (hark_agent); nil is the host's own name.
	AgentName func(host string) string
	// Asks serves the agents' questions. Bodies of plans are served by the Hub itself.
	Asks Asks
	// Agent is the agent in this process (agent.Local); nil: there is none.
	Agent LocalAgent

	// EventsOf, if set, is the Hub whose Events and Lost have the hosts of this one too.
	EventsOf *Hub

	// Nonce, if set, makes the nonce with which a host is opened, by its turn in the run, so that who makes the same
	// has it opened once; nil is a random one.
	Nonce func(host string, turn uint64) string

	// Lease is for how long a host waits at a barrier, and a delegated call goes on, without a word from this
	// controller; 0 is a minute.
	Lease  time.Duration
	Logger zerolog.Logger
	// WhyAbsent, if set, says how it stands with an agent that is not connected, by the registrar's book: that it was
	// revoked and what to do. key is "" for a name that the roster does not have. "" is nothing to say.
	WhyAbsent func(ctx context.Context, name, key string) string
	// Opens, if set, is called with each session before it is opened at an agent behind the broker. It is called
	// concurrently.
	Opens func(SessionKeys)
	// Keep, if set, stores a batch, as it came and still sealed, before its events are delivered and acknowledged. An
	// agent drops what was acknowledged. agent is its id. It is called concurrently.
	Keep func(agent string, frame []byte)
	// Warn, if set, is called with what the user should know while the run goes on.
	Warn  func(string)
	Times Times
}

// RemoteConfig is the way to the agents behind the broker, as in Config.
type RemoteConfig struct {
	Operator  *wire.Identity
	Broker    wire.Transport
	Roster    Roster
	WhyAbsent func(ctx context.Context, name, key string) string
}

// Roster finds agents by their names. What it does not know is a *roster.UnknownError. It is called concurrently.
type Roster interface {
	Find(ctx context.Context, name string) (roster.Agent, error)
	// Size is how many agents it has, as far as that is known without asking.
	Size() int
	// Patience is how long an agent may take to connect, when something is begun with it.
	Patience(a roster.Agent) time.Duration
}

// Times are the limits of a Hub; zero fields have the defaults that their comments name.
type Times struct {
	// Ack is how long an agent has to acknowledge, over three tries: 15 s.
	Ack time.Duration
	// Silence is after how long without a word an agent is asked whether it is there: 4 s.
	Silence time.Duration
	// Answer is how long it may take to answer, until it is asked again: 3 s.
	Answer time.Duration
	// Gone is for how long those questions must fail until the host is lost: 9 s. While the broker does not answer
	// this side they do not count.
	Gone time.Duration
	// Back is how long an agent may take to come back whose connection the broker has lost: 3 s.
	Back time.Duration
	// Return is how long an agent that was there lately may take to connect, when something is begun with it: 80 s at
	// most, less by the roster.
	Return time.Duration
	// Outage is for how long the broker may be away until the hosts behind it are lost: 5 min.
	Outage time.Duration
	// Fresh is how old the last answer to a session may be when something begins that may change its host
	// (wire.Start): wire.Fresh.
	Fresh time.Duration
}

func (t Times) orDefault() Times {
	set := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	set(&t.Ack, 15*time.Second)
	set(&t.Silence, 4*time.Second)
	set(&t.Answer, 3*time.Second)
	set(&t.Gone, 9*time.Second)
	set(&t.Back, 3*time.Second)
	set(&t.Return, 80*time.Second)
	set(&t.Outage, 5*time.Minute)
	set(&t.Fresh, wire.Fresh)
	return t
}

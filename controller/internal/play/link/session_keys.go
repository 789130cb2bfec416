package link

import (
	"hark/agent/wire"
)

// SessionKeys is what it takes to hear of a session after the controller that opened it has died: who has it, and the
// key that it is sealed with.
type SessionKeys struct {
	Host string `json:"host"`
	// Agent is the name of the agent that serves the host, Key and XKey are its public keys.
	Agent string `json:"agent"`
	Key   string `json:"key"`
	XKey  string `json:"xkey"`
	// HostKey is secret: the key of the session.
	HostKey wire.Key `json:"host_key"`
	// Turn is that of the last opening, see wire.Opening.
	Turn uint64 `json:"turn"`
}

// opens announces a session that is about to be opened at an agent behind the broker.
func (c *Config) opens(p *peer, in *wire.Opening) {
	if c.Opens == nil || p.local {
		return
	}
	c.Opens(SessionKeys{Host: in.Start.Host, Agent: p.name, Key: p.key, XKey: p.xkey, HostKey: p.hostKey, Turn: in.Turn})
}

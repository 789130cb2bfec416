package broker

import (
	"fmt"
	"strings"
)

// Needs is what hark needs of NATS servers that it does not run itself.
type Needs struct {
	// Operator is the token of the NATS operator, which owns Accounts (tokens by public key).
	Operator      string            `json:"operator"`
	SystemAccount string            `json:"system_account"`
	Account       string            `json:"account"`
	Accounts      map[string]string `json:"accounts"`
	// Roles are what users may do, by role, for servers whose users are kept in another way. {{name()}} is the id of
	// the user's key.
	Roles map[string]Permissions `json:"roles"`
	// Streams are made by the registrar when it starts.
	Streams []string `json:"streams"`
}

// Permissions are the subjects of a role.
type Permissions struct {
	Publish   []string `json:"publish"`
	Subscribe []string `json:"subscribe"`
	// Answers says that it may also answer what it is sent.
	Answers bool `json:"answers,omitempty"`
}

// Needs returns what the servers of a cluster must know to serve as hark's broker.
func (a *Authority) Needs() (*Needs, error) {
	n := &Needs{Accounts: map[string]string{}, Roles: map[string]Permissions{}, Streams: streamNames()}
	var err error
	if n.Operator, err = a.trusted(); err != nil {
		return nil, err
	}
	for to, account := range map[*string]func() (string, string, error){&n.Account: a.Account, &n.SystemAccount: a.systemAccount} {
		key, token, err := account()
		if err != nil {
			return nil, err
		}
		*to, n.Accounts[key] = key, token
	}
	api, err := a.StreamAPI()
	if err != nil {
		return nil, err
	}
	for r := range a.roles {
		p := permissions(r, api)
		n.Roles[string(r)] = Permissions{Publish: p.Pub.Allow, Subscribe: p.Sub.Allow, Answers: p.Resp != nil}
	}
	return n, nil
}

// ServerConfig returns the needs as a nats-server reads them, to be included in the configuration of every server of
// a cluster. What is about the machine (listen, cluster, tls, where JetStream stores) stays with those who run it.
func (n *Needs) ServerConfig() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What hark needs of a NATS server; made by "hark broker config". Include it on every server of the cluster, beside
# listen, cluster, tls, and a jetstream block: the roster and the records of runs are kept in the streams %s.
#
#   server_name: n1
#   listen: 0.0.0.0:4222
#   tls { cert_file: ..., key_file: ... }
#   jetstream { store_dir: /var/lib/nats }
#   include ./hark.conf
#
# Tokens are made by "hark broker admit" (operators) and by the registrar (agents), see docs/broker.md.
operator: %s
system_account: %s
resolver {
  type: full
  dir: "./hark-accounts"
}
resolver_preload {
`, strings.Join(n.Streams, ", "), n.Operator, n.SystemAccount)
	for _, key := range []string{n.SystemAccount, n.Account} {
		fmt.Fprintf(&b, "  %s: %s\n", key, n.Accounts[key])
	}
	fmt.Fprintf(&b, `}
# A fleet that comes back all at once takes longer than the server's two seconds; one that hangs is seen in a minute.
authorization { timeout: 30 }
ping_interval: "20s"
ping_max: 2
max_payload: %d
`, 1<<20)
	return b.String()
}

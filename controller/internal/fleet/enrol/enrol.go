// Package enrol decides which agents belong to a fleet. The registrar runs beside the broker (or beside a cluster of
// the user's own), keeps the book of tokens and agents, and gives agents their credentials; operators steer it with
// signed requests through Client.
//
// It cannot make an agent do anything: agents obey operators, and the keys of operators come to them with a token
// or over ssh.
package enrol

import (
	"fmt"
	"time"

	"hark/agent/wire"
)

// The requests of operators: the last token of their subject.
const (
	opToken   = "token"   // give credentials to a token's key
	opDrop    = "drop"    // forget a token
	opGrant   = "grant"   // give credentials to a key that shall be tried (bootstrap)
	opEnrol   = "enrol"   // enrol a key at once (bootstrap)
	opApprove = "approve" // let a pending agent in, and vouch for it
	opRevoke  = "revoke"  // make an agent's credentials void
	opRemove  = "remove"  // forget an agent, and make its credentials void
	opExpel   = "expel"   // take an operator's access back
	opList    = "list"    // tell tokens and agents
	opFind    = "find"    // tell the agent of a name
	opHealth  = "health"  // tell what keeps the registrar from writing its book
	// opOperators tells who was given access.
	opOperators = "operators"
)

// looks reports whether a request changes nothing. Those are for every operator, others for those who manage agents.
func looks(op string) bool {
	return op == opList || op == opFind || op == opHealth || op == opOperators
}

// State is where an agent stands.
type State string

// The states of an agent.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Revoked  State = "revoked"
)

// Agent is an entry of the book.
type Agent struct {
	Name    string `json:"name"`
	Key     string `json:"key"`
	XKey    string `json:"xkey"`
	OS      string `json:"os,omitempty"`
	Arch    string `json:"arch,omitempty"`
	Version string `json:"version,omitempty"`
	State   State  `json:"state"`
	// At is when it came to this state, By the public key of the operator, or of the token, that brought it there.
	At time.Time `json:"at"`
	By string    `json:"by"`
	// Expires is until when the credentials are good that it was last given, the zero time if that is not known.
	Expires time.Time `json:"expires,omitzero"`
	// Vouches are the operators' words that the name is this key's.
	Vouches []Vouch `json:"vouches,omitempty"`
}

// Expired reports whether an agent that was let in has let its credentials expire: it was away when it should have
// renewed them.
func (a Agent) Expired(now time.Time) bool {
	return a.State == Approved && !a.Expires.IsZero() && a.Expires.Before(now)
}

// check returns what in an entry cannot be: it ends in lines of lists and files.
func (a *Agent) check() error {
	if err := wire.CheckName(a.Name); err != nil {
		return err
	}
	if !wire.ValidKey(a.Key) {
		return fmt.Errorf("%.300q is not the public key of %s", a.Key, a.Name)
	}
	return wire.CheckWords("key, version or platform", a.XKey, a.OS, a.Arch, a.Version, string(a.State), a.By)
}

// Token lets hosts without ssh enrol themselves.
type Token struct {
	// Key is the public key of the token, by which it is known.
	Key string `json:"key"`
	// Name, if set, is the only name that may be enrolled with it.
	Name string `json:"name,omitempty"`
	// Uses is how many more agents may come with it.
	Uses int `json:"uses"`
	// Approve lets them in at once; else an operator must approve each.
	Approve bool      `json:"approve"`
	Expires time.Time `json:"expires"`
	Made    time.Time `json:"made"`
	By      string    `json:"by"`
	// Sig is the signature with which the operator vouches for the agents that the token lets in.
	Sig []byte `json:"sig,omitempty"`
}

// request is what an operator sends.
type request struct {
	// Access is the operator's token of the broker's authority: who has none may not steer the registrar.
	Access string `json:"access"`
	// Reader is the key that records are sealed with for the operator.
	Reader string `json:"reader,omitempty"`
	Token  *Token `json:"token,omitempty"`
	Agent  *Agent `json:"agent,omitempty"`
	// Name is the name, the key or the id of what is meant.
	Name string `json:"name,omitempty"`
}

// reply is what the registrar answers.
type reply struct {
	Err string `json:"err,omitempty"`
	// Trouble answers opHealth: "" is none.
	Trouble string  `json:"trouble,omitempty"`
	JWT     string  `json:"jwt,omitempty"`
	CA      string  `json:"ca,omitempty"`
	Agents  []Agent `json:"agents,omitempty"`
	Tokens  []Token `json:"tokens,omitempty"`
	// Heard reports whether the roster had what was removed.
	Heard bool `json:"heard,omitempty"`
	// Operators answers opOperators and opExpel, Withdrawn how many tokens of an expelled operator there were.
	Operators []Operator `json:"operators,omitempty"`
	Withdrawn int        `json:"withdrawn,omitempty"`
}

package wire

// UpgradeModule is the module name of an Exec that replaces the agent's program. Its arguments are an Upgrade, its
// result is an Upgraded. The agent pulls the program by its digest, which the operator has signed with the order.
const UpgradeModule = "hark.agent.upgrade"

// Upgrade says which program an agent should run.
type Upgrade struct {
	Digest  string `json:"digest"` // sha256 of the program, hex
	Version string `json:"version"`
}

// Upgraded says that the new program is in its place and starts as soon as the agent has nothing to do, or why it is
// not. The agent returns to the old one by itself if the new one does not reach the broker.
type Upgraded struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Same says that there was nothing to do.
	Same bool `json:"same,omitempty"`
	// Busy says that the agent works on a play, which it finishes first.
	Busy bool   `json:"busy,omitempty"`
	Err  string `json:"err,omitempty"`
}

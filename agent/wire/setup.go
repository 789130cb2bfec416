package wire

// The conversation of `hark bootstrap` with `hark-agent setup`, over the standard streams of ssh, a line of JSON each.
// The setup ends with the stream and undoes what was not committed by then.

// SetupPrefix begins a Setup's line. Everything before it (a password that nobody asked for) is skipped.
const SetupPrefix = `{"hark_setup":`

// UploadPrefix begins the names of the directories to which programs are uploaded.
const UploadPrefix = ".hark-"

// SetupReady is the first message of the setup: it runs, as the right user.
type SetupReady struct {
	V int `json:"hark_setup"`
}

// Setup is the controller's answer to SetupReady.
type Setup struct {
	V int `json:"hark_setup"`
	// Name and Broker, Operators and Fleet are those of the enrolment; CA is as in JoinToken, or the whole certificate.
	Name      string   `json:"name"`
	Broker    string   `json:"broker"`
	CA        string   `json:"ca,omitempty"`
	Operators []string `json:"operators"`
	Fleet     string   `json:"fleet,omitempty"`
	// Force enrols the agent again though nothing has changed.
	Force bool `json:"force,omitempty"`
}

// SetupKeys is the agent's answer: its public keys, and what it found.
type SetupKeys struct {
	Key  string `json:"key"`
	XKey string `json:"xkey"`
	// Unchanged says that the agent is installed, enrolled and running as it should be.
	Unchanged bool   `json:"unchanged,omitempty"`
	Version   string `json:"version"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
	Err       string `json:"err,omitempty"`
}

// SetupGrant are the credentials with which the agent is installed; Done ends a conversation in which there is
// nothing to do.
type SetupGrant struct {
	JWT  string `json:"jwt,omitempty"`
	CA   string `json:"ca,omitempty"`
	Done bool   `json:"done,omitempty"`
}

// SetupResult says that the agent runs, or why it does not.
type SetupResult struct {
	// Did lists what was done, for people.
	Did []string `json:"did,omitempty"`
	Err string   `json:"err,omitempty"`
}

// SetupVerdict ends the conversation: the agent reached the broker, or the setup must undo what it did.
type SetupVerdict struct {
	Commit bool `json:"commit"`
}

// EphemeralGrant answers the SetupKeys of an agent that lives as long as its ssh connection. After this line its
// standard streams are its connection to the broker.
type EphemeralGrant struct {
	Name      string   `json:"name"`
	JWT       string   `json:"jwt"`
	Operators []string `json:"operators"`
}

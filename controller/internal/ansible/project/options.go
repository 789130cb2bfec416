package project

import (
	"time"

	"hark/controller/internal/ansible/secrets"
	"hark/controller/internal/ui/view"
)

// Options are what the flags of a call say. A command fills in the groups that it has flags for; the others say
// nothing.
type Options struct {
	Verbosity int
	Connect   Connect
	Become    Become
	Inventory Inventory
	Vault     Vault
	Tags      Tags
	Mode      Mode
	Forks     Forks

	// Extra are the variables of -e, ModulePath the directories of -M.
	Extra, ModulePath []string
	// BaseDir is the directory that counts as the playbook's.
	BaseDir string
	// AdHoc: one task for many hosts, whose results are shown whole.
	AdHoc                     bool
	ForceHandlers, FlushCache bool
	// TaskTimeout is how many seconds a task may take on a host, 0 for no limit.
	TaskTimeout int
	// Straggler is how long one host may keep the others waiting, 0 for ever.
	Straggler time.Duration
	Follow    bool
	// Tree is where results are written, a file for each host; "" for nowhere.
	Tree string

	// Broker is the broker between this machine and the agents, "" for the operator's own.
	Broker    string
	Ephemeral bool
	// AgentBinaries are the agents that may be put on hosts, none for those beside hark.
	AgentBinaries []string

	Passwords secrets.Passwords
	// Origin returns where failures come from, see view.Options.
	Origin func(task string, s view.Spot) string
	// Shown are the options as -vvvv shows them, Line is the call as Ansible's own command has it.
	Shown []view.Flag
	Line  []string
}

// Connect says how hosts are reached.
type Connect struct {
	// Kind is the name of the connection; smart is the host's agent.
	User, KeyFile, Kind string
	// Timeout is in seconds.
	Timeout                                  int
	SSHCommon, SSHExtra, SCPExtra, SFTPExtra string
	AskPassword                              bool
	PasswordFile                             string
}

// Become says which user tasks run as.
type Become struct {
	On, AskPassword            bool
	Method, User, PasswordFile string
}

// Inventory says which hosts there are, and which of them count.
type Inventory struct {
	Sources   []string
	ListHosts bool
	Limit     string
}

// Vault says where vault secrets come from.
type Vault struct {
	IDs, Files []string
	Ask        bool
}

// Tags say which tasks count. Listed says that the tags are listed and no task is run.
type Tags struct {
	Only, Skip []string
	Listed     bool
}

// Mode says whether anything is changed, and how much of it is shown.
type Mode struct{ Check, Diff bool }

// Forks say how many hosts may be at a task at once.
type Forks struct {
	Number int
	Given  bool // by a flag
}

package modules

// Trait is something that the rest of the house must know of a module: it stands in the module's declaration, and
// nobody goes by names.
type Trait uint32

// The traits.
const (
	// ForAllHosts: one host runs it for all of its batch, whatever run_once says.
	ForAllHosts Trait = 1 << iota
	// ChangesInventory: hosts and groups are others after it.
	ChangesInventory
	// SetsVariables: its arguments become variables of the host.
	SetsVariables
	// LoadsVariables: what it returns as facts are variables from files.
	LoadsVariables
	// ShowsOnly: its result is for the eye; facts in it are none.
	ShowsOnly
	// StartsNoPython: Ansible starts no Python on the host for it, or its result does not tell of it.
	StartsNoPython
	// RestartsHost: the host, and all sessions on it, may go down and come back.
	RestartsHost
	// ChangesUsers: it makes, changes and removes users, which the system refuses while processes of theirs live.
	ChangesUsers
	// AsksForJobs: it asks the agent for its jobs, and runs in the agent whatever the user.
	AsksForJobs
	// BringsFiles: it brings files of the host to the controller.
	BringsFiles
	// ReadsFiles: it may read a file of the controller, named by src.
	ReadsFiles
	// ReadsTemplates: the same of a file with templates.
	ReadsTemplates
	// ReadsProgram: the same of the file that its line begins with.
	ReadsProgram
	// ReadsBodies: the same of what it sends, named by src; none of them comes along with a plan.
	ReadsBodies
	// ReadsFragments: the same of a directory, where remote_src is off.
	ReadsFragments
	// AsksController: it needs the controller at large, its user, its inventory or its files.
	AsksController
	// ChangesController: it may change files of the controller.
	ChangesController
	// IsAction: in Ansible it is an action on the controller, and no module.
	IsAction
	// OnlyLooks: it changes nothing, on the host or elsewhere, so that it does no harm where nobody wants its result
	// any more, or twice.
	OnlyLooks
	// ReadsInCheck: in check mode it starts no program and writes nothing but in a scratch directory of its own.
	// Operators who may look and not change have no other modules.
	ReadsInCheck
	// OpensByPath: it opens no file of the host but those that its arguments name, and below them, and all of these
	// through package hostfs, so that it can be kept to some directories. It needs no program.
	OpensByPath
)

// The modules that the house itself calls, as a playbook would.
const (
	Setup                = "ansible.builtin.setup"
	GatherFacts          = "ansible.builtin.gather_facts"
	ValidateArgumentSpec = "ansible.builtin.validate_argument_spec"
	AsyncStatus          = "ansible.builtin.async_status"
	Ping                 = "ansible.builtin.ping"
	WaitFor              = "ansible.builtin.wait_for"
	Copy                 = "ansible.builtin.copy" // of which ansible-core 2.19 speaks otherwise than of others
)

// Is gives a module traits.
func Is(traits Trait) Option { return func(m *Module) { m.Traits |= traits } }

// Has reports whether the module has one of the traits.
func (m *Module) Has(traits Trait) bool { return m.Traits&traits != 0 }

// Declared is the native module of exactly that full name, nil if there is none: a short name may be that of a file
// that hides a native one.
func (r *Registry) Declared(name string) *Module {
	if r == nil {
		return nil
	}
	return r.byName[name]
}

// Has reports whether the native module of a full name has one of the traits.
func (r *Registry) Has(name string, traits Trait) bool {
	m := r.Declared(name)
	return m != nil && m.Has(traits)
}

package modules

// Trait is something that other code needs to know of a module. It is part of the module's declaration, and no code
// goes by names.
type Trait uint32

// The traits.
const (
	// ForAllHosts: one host runs it for all of its batch, whatever run_once says.
	ForAllHosts Trait = 1 << iota
	// ChangesInventory: it may change hosts and groups.
	ChangesInventory
	// SetsVariables: its arguments become variables of the host.
	SetsVariables
	// LoadsVariables: the facts in its result are variables from files.
	LoadsVariables
	// ShowsOnly: its result is only shown; facts in it are none.
	ShowsOnly
	// StartsNoPython: Ansible starts no Python on the host for it, or its result does not name it.
	StartsNoPython
	// RestartsHost: the host, and all sessions on it, may go down and come back.
	RestartsHost
	// ChangesUsers: it adds, changes and removes users, which the system refuses while they have processes.
	ChangesUsers
	// AsksForJobs: it asks the agent for its jobs, and runs in the agent whatever the user.
	AsksForJobs
	// BringsFiles: it copies files of the host to the controller.
	BringsFiles
	// ReadsFiles: it may read a file of the controller, named by src.
	ReadsFiles
	// ReadsTemplates: the same for a file with templates.
	ReadsTemplates
	// ReadsProgram: the same for the file that its line begins with.
	ReadsProgram
	// ReadsBodies: the same for what it sends, named by src; none of them comes with a plan.
	ReadsBodies
	// ReadsFragments: the same for a directory, if remote_src is off.
	ReadsFragments
	// AsksController: it needs the controller itself, its user, its inventory or its files.
	AsksController
	// ChangesController: it may change files of the controller.
	ChangesController
	// IsAction: in Ansible it is an action on the controller, and no module.
	IsAction
	// OnlyLooks: it changes nothing, on the host or elsewhere, so running it twice or without a reader of its result does
	// no harm.
	OnlyLooks
	// ReadsInCheck: in check mode it starts no program and writes only in a scratch directory of its own. Operators who
	// may only look have no other modules.
	ReadsInCheck
	// OpensByPath: it opens only files of the host that its arguments name, and below them, all through package hostfs, so
	// that it can be confined to some directories. It needs no program.
	OpensByPath
)

// The modules that hark itself calls, as a playbook would.
const (
	Setup                = "ansible.builtin.setup"
	GatherFacts          = "ansible.builtin.gather_facts"
	ValidateArgumentSpec = "ansible.builtin.validate_argument_spec"
	AsyncStatus          = "ansible.builtin.async_status"
	Ping                 = "ansible.builtin.ping"
	WaitFor              = "ansible.builtin.wait_for"
	Copy                 = "ansible.builtin.copy" // ansible-core 2.19 has a message of its own for it
)

// Is adds traits to a module.
func Is(traits Trait) Option { return func(m *Module) { m.Traits |= traits } }

// Has reports whether the module has one of the traits.
func (m *Module) Has(traits Trait) bool { return m.Traits&traits != 0 }

// Declared returns the native module with exactly that full name, nil if there is none: a short name may be that of a
// file that hides a native one.
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

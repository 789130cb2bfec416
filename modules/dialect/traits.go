package dialect

// Traits say what a filter, a test or a lookup needs and does.
type Traits uint

// The traits.
const (
	// Pure lookups compute from their arguments and from variables of the task's host, so the host can do it.
	Pure Traits = 1 << iota
	// ReadsController is a plug-in that reads files, users, settings, names or the environment of the controller, and
	// changes nothing there.
	ReadsController
	// ChangesController is a plug-in that may change files of the controller, or start programs there.
	ChangesController
	// NeedsHosts is a lookup that asks for other hosts.
	NeedsHosts
	// OnlyArguments is a lookup that reads no variables but its arguments.
	OnlyArguments
	// TakesUndefined is a lookup that knows what to do with undefined arguments.
	TakesUndefined
	// Volatile is a filter that returns something else each time.
	Volatile
	// OfJinja is a filter or test of Jinja itself.
	OfJinja
)

// Has reports whether one of the traits is among these.
func (t Traits) Has(one Traits) bool { return t&one != 0 }

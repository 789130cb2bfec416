package procx

// Limit is a resource limit of a process, as setrlimit(2) takes it. Resource is the number of the kernel, Soft and Hard
// may be Inherited. A soft limit above the hard one becomes that.
type Limit struct {
	Resource   int
	Soft, Hard uint64
}

// Inherited keeps a side of a limit as the process has it from its parent.
const Inherited = 1<<64 - 2

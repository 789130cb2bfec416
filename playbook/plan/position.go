package plan

// Stand is where a host stands in a plan when a step is to be done for it.
type Stand struct {
	// Step is the step, ID its own or that of a handler's run.
	Step *Step
	ID   ID
	// Rescuing says that a rescue handles a failure of the step. Failing says that the outermost block has failed without
	// a successful rescue.
	Rescuing, Failing bool
	// Job, if set, is the job that the step has started already: its end is awaited, and nothing is begun.
	Job string
}

package runner

// badRegister returns the fault of a register that is no name. It fails the task, and then the run.
func badRegister(name string) *fault {
	return &fault{text: "Invalid variable name in 'register' specified: '" + name + "'"}
}

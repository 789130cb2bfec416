package cli

// The flags of runs that go on by themselves: the user's, and the one by which hark calls the process that drives such a run.
const (
	detachFlag = "detach"
	driverFlag = "driver"
)

package cli

import (
	"fmt"
	"io"
	"os"

	"hark/agent"
	"hark/modules"
	"hark/modules/all"
)

// The words after the program's name that make it a process of the agent inside a controller. They are no commands:
// people have no use for them, and they read no settings.
const (
	workerWord = "local-worker"
	jobWord    = "local-job"
)

// Inner runs the process that the agent inside a controller starts as another user or for a background job. It says
// no if the arguments, those of the process, do not ask for one.
func Inner(args []string, in io.Reader, out, errs io.Writer) (code int, inner bool) {
	var err error
	switch {
	case len(args) >= 2 && args[1] == workerWord:
		err = agent.WorkerMain(registry(), args[2:], in, out)
	case len(args) == 3 && args[1] == jobWord:
		var c agent.Commands
		if c, err = innerCommands(); err == nil {
			err = agent.JobMain(args[2], registry(), c)
		}
	case len(args) >= 3 && args[1] == keeperWord:
		err = keeperWorker(args[2], args[3:], in, out, errs)
	case len(args) == 3 && args[1] == requirementsWord:
		err = fetchRequirements(args[2])
	default:
		return exitOK, false
	}
	if err != nil {
		fmt.Fprintln(errs, "hark:", err)
		return exitError, true
	}
	return exitOK, true
}

// innerCommands returns how this binary starts itself as such a process.
func innerCommands() (agent.Commands, error) {
	self, err := os.Executable()
	if err != nil {
		return agent.Commands{}, fmt.Errorf("cannot find this binary: %w", err)
	}
	return agent.Commands{Worker: []string{self, workerWord}, Job: []string{self, jobWord}}, nil
}

func registry() *modules.Registry { return modules.NewRegistry(all.Modules()...) }

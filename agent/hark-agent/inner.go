package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"hark/agent"
	"hark/modules"
	"hark/modules/all"
)

// jobCommand is the process of one background job; the agent starts it.
func jobCommand() *cobra.Command {
	return &cobra.Command{
		Use: "job DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := commands()
			if err != nil {
				return err
			}
			return agent.JobMain(args[0], registry(), c)
		},
	}
}

// workerCommand runs modules as the user that it was started as; the agent starts it.
func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "worker [DIR]", Hidden: true, Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, words []string) error {
			return agent.WorkerMain(registry(), words, os.Stdin, os.Stdout)
		},
	}
}

// commands returns how this binary starts itself as a job and as a worker.
func commands() (agent.Commands, error) {
	self, err := os.Executable()
	if err != nil {
		return agent.Commands{}, fmt.Errorf("cannot find this binary: %w", err)
	}
	return agent.Commands{Worker: []string{self, "worker"}, Job: []string{self, "job"}}, nil
}

func registry() *modules.Registry { return modules.NewRegistry(all.Modules()...) }

package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/internal/jobs"
	"hark/agent/internal/peer"
	"hark/agent/internal/worker"
	"hark/modules"
	"hark/modules/all"
)

// jobCommand is the process of one background job; the agent starts it.
func jobCommand() *cobra.Command {
	return &cobra.Command{
		Use: "job DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			pool := &worker.Pool{Argv: []string{self, "worker"}}
			defer pool.Close()
			return jobs.Main(args[0], modules.NewRegistry(all.Modules()...), pool.Call)
		},
	}
}

// workerCommand runs modules as the user that it was started as; the agent starts it.
func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "worker", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			server := &peer.Server{Modules: modules.NewRegistry(all.Modules()...)}
			return server.Serve(context.Background(), os.Stdin, os.Stdout)
		},
	}
}

// workerIdle is how long a worker may have nothing to do.
const workerIdle = 5 * time.Minute

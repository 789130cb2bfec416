package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hark/agent"
	"hark/agent/wire"
)

// holdCommand has keepers leave this host alone, for somebody who works on it.
func holdCommand() *cobra.Command {
	var dir, why string
	var span time.Duration
	cmd := &cobra.Command{
		Use: "hold", Short: "Have keepers leave this host alone for a while", Args: cobra.NoArgs,
		Long:    "Keepers do nothing to this host until the hold ends, which it does by itself. Runs of people are not held.",
		Example: "  hark-agent hold --for 2h --why 'disk swap, anna'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			now := time.Now()
			h := &wire.Hold{Until: now.Add(span).UTC(), Why: why}
			if err := agent.WriteHold(dir, h, now); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "held until %s\n", h.Until.Local().Format(time.DateTime))
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "state-dir", defaultState, "directory of the agent's state")
	f.DurationVar(&span, "for", 0, "for how long: 30m, 2h, 48h")
	f.StringVar(&why, "why", "", "the reason, for those who wonder")
	return cmd
}

// releaseCommand ends the hold of this host.
func releaseCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "release", Short: "End the hold of this host", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return agent.WriteHold(dir, nil, time.Now()) },
	}
	cmd.Flags().StringVar(&dir, "state-dir", defaultState, "directory of the agent's state")
	return cmd
}

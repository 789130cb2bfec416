package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hark/controller/internal/argparse"
	"hark/controller/internal/doctor"
)

func (a *app) doctorCommand() *cobra.Command {
	var o options
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check each link of the chain to the agents, and say what to do", Args: argparse.NoArgs, Example: "  hark doctor\n  hark doctor --json",
	}
	fs := argparse.NewFlags(cmd.Flags())
	a.baseFlags(fs, &o)
	a.brokerFlag(fs, &o)
	a.jsonFlag(fs, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, &o); err != nil {
			return err
		}
		failed := false
		findings := doctor.Examine(cmd.Context(), doctor.Config{
			Settings: a.cfg.File, Broker: o.broker, Dialer: a.fleet, Version: Version,
			Tell: func(f doctor.Finding) {
				failed = failed || f.State == "failed"
				if !asJSON {
					a.showFinding(f)
				}
			},
		})
		if asJSON {
			if err := a.term.PrintJSON(findings); err != nil {
				return err
			}
		}
		if failed {
			return &quietError{exitError}
		}
		return nil
	}
	return cmd
}

func (a *app) showFinding(f doctor.Finding) {
	fmt.Fprintf(a.term.Out, "%-8s %-12s %s\n", f.State, f.Check, f.Text)
	if f.Do != "" {
		fmt.Fprintf(a.term.Out, "%-21s -> %s\n", "", f.Do)
	}
}

package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"hark/agent/version"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/fleet/doctor"
)

func newDoctorCommand(a *app) *cobra.Command {
	var o project.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check each link of the chain to the agents, and say what to do", Args: argparse.NoArgs, Example: "  hark doctor\n  hark doctor --json",
	}
	fs := a.flags(cmd)
	fs.verbosity(&o.Verbosity)
	fs.connect(&o.Connect)
	fs.List(&o.Inventory.Sources, "inventory", "i", "INVENTORY", "tell too how each host of this inventory is reached (default: that of the settings)")
	fs.vault(&o.Vault)
	fs.broker(&o.Broker)
	fs.json(&asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, o.Verbosity); err != nil {
			return err
		}
		hosts, err := examinedHosts(a, cmd.Context(), &o)
		if err != nil {
			return err
		}
		failed := false
		findings := doctor.Examine(cmd.Context(), doctor.Config{
			Settings: a.cfg.File, Broker: o.Broker, Dialer: a.fleet, Version: version.String(), Hosts: hosts, NoSSH: !a.cfg.Bool("HARK_SSH"),
			Ansible: pythonOfAnsible(a).ansible != "",
			Tell: func(f doctor.Finding) {
				failed = failed || f.State == "failed"
				if !asJSON {
					showFinding(a, f)
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

// examinedHosts are the hosts of the inventory that was named, or of the one of the settings if it is there.
func examinedHosts(a *app, ctx context.Context, o *project.Options) ([]doctor.Host, error) {
	if len(o.Inventory.Sources) == 0 && !slices.ContainsFunc(a.cfg.List("DEFAULT_HOST_LIST"), project.Exists) {
		return nil, nil
	}
	p, err := a.open(ctx, o, "")
	if err != nil {
		return nil, err
	}
	defer p.Plugins.Close()
	ways := p.ways()
	var out []doctor.Host
	for _, h := range p.Inventory.Hosts() {
		v, err := p.hostVariables(ctx, h)
		if err != nil {
			return nil, err
		}
		x := doctor.Host{Name: h.Name, Agent: v.Text(h.Name, "hark_agent"), Connection: v.Text(o.Connect.Kind, "ansible_connection")}
		x.Way = connections.Describe(ways.Target(h.Name, v))
		x.Err = v.Err
		out = append(out, x)
	}
	return out, nil
}

func showFinding(a *app, f doctor.Finding) {
	fmt.Fprintf(a.term.Out, "%-8s %-12s %s\n", f.State, f.Check, f.Text)
	if f.Do != "" {
		fmt.Fprintf(a.term.Out, "%-21s -> %s\n", "", f.Do)
	}
}

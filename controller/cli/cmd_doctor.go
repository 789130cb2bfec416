package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/version"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/fleet/connections"
	"hark/controller/internal/fleet/doctor"
	"hark/controller/internal/fleet/ssh"
	"hark/controller/internal/ui/view"
)

func newDoctorCommand(a *app) *cobra.Command {
	var o project.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Find what does not work, and say what to do", Args: argparse.NoArgs,
		Example: "  hark doctor\n  hark doctor --json",
	}
	fs := a.flags(cmd)
	fs.verbosity(&o.Verbosity)
	fs.connect(&o.Connect)
	fs.List(&o.Inventory.Sources, "inventory", "i", "INVENTORY",
		"show too how each host of this inventory is reached, and try ssh (default: the inventory of the settings)")
	fs.vault(&o.Vault)
	fs.broker(&o.Broker)
	fs.json(&asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, o.Verbosity); err != nil {
			return err
		}
		hosts, targets, unread := examinedHosts(a, cmd.Context(), &o)
		try, done := sshTrial(a, targets)
		defer done()
		failed := false
		findings := doctor.Examine(cmd.Context(), doctor.Config{
			Settings: a.cfg.File, Broker: o.Broker, Dialer: a.fleet, Version: version.String(), Hosts: hosts, Inventory: unread,
			NoSSH:   !a.cfg.Bool("HARK_SSH"),
			Ansible: pythonOfAnsible(a).ansible != "", Try: try,
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

// examinedHosts returns the hosts of the inventory that was named, or of the one of the settings if it is there.
func examinedHosts(a *app, ctx context.Context, o *project.Options) ([]doctor.Host, map[string]ssh.Target, error) {
	if len(o.Inventory.Sources) == 0 && !slices.ContainsFunc(a.cfg.List("DEFAULT_HOST_LIST"), project.Exists) {
		return nil, nil, nil
	}
	p, err := a.open(ctx, o, "")
	if err != nil {
		return nil, nil, err
	}
	defer p.Plugins.Close()
	ways, targets := p.ways(), map[string]ssh.Target{}
	var out []doctor.Host
	for _, h := range p.Inventory.Hosts() {
		v, err := p.hostVariables(ctx, h)
		if err != nil {
			return nil, nil, err
		}
		x := doctor.Host{Name: h.Name, Agent: v.Text(h.Name, "hark_agent"),
			Connection: v.Text(o.Connect.Kind, "ansible_connection")}
		x.Way = connections.Describe(ways.Target(h.Name, v))
		targets[h.Name] = ways.SSH(h.Name, v)
		x.Address, x.Err = targets[h.Name].Host, v.Err
		out = append(out, x)
	}
	return out, targets, nil
}

// sshTrial returns how doctor tries ssh, nil without a program for it; done ends the connections.
func sshTrial(a *app, targets map[string]ssh.Target) (try func(context.Context, string) error, done func()) {
	if len(targets) == 0 {
		return nil, func() {}
	}
	client, err := ssh.Open(a.cfg.Text("connection/ssh.ssh_executable"))
	if err != nil {
		return nil, func() {}
	}
	limit := time.Duration(a.cfg.Int("DEFAULT_TIMEOUT")) * time.Second
	try = func(ctx context.Context, host string) error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		_, err := client.Run(ctx, targets[host], "true", nil)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("no answer within %s", limit)
		}
		return err
	}
	return try, func() { _ = client.Close() }
}

func showFinding(a *app, f doctor.Finding) {
	color := map[string]view.Color{"ok": view.ColorOK, "warning": view.ColorChanged, "failed": view.ColorError}[f.State]
	fmt.Fprintf(a.term.Out, "%s %-12s %s\n", a.display.Paint(color, fmt.Sprintf("%-8s", f.State)), f.Check, f.Text)
	if f.Do != "" {
		fmt.Fprintf(a.term.Out, "%-21s -> %s\n", "", f.Do)
	}
}

package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/ansible/project"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/inventory"
)

// inventoryJob is one call of hark inventory.
type inventoryJob struct {
	*app
	o            project.Options
	list, graph  bool
	host, output string
	yaml, toml   bool
	vars, export bool
	pattern      string
}

// newInventoryCommand is ansible-inventory.
func newInventoryCommand(a *app, name string) *cobra.Command {
	j := &inventoryJob{app: a}
	cmd := &cobra.Command{
		Use:   name,
		Short: "Show hosts, groups and their variables",
		Example: "  " + a.example(name) + " -i inventory --graph\n  " + a.example(name) +
			" -i inventory --host web1 --yaml",
		Annotations: map[string]string{"args": "[host|group]"},
		Args:        cobra.ArbitraryArgs,
	}
	fs := a.flags(cmd)
	fs.verbosity(&j.o.Verbosity)
	fs.List(&j.o.Inventory.Sources, "inventory", "i", "INVENTORY",
		"inventory file or directory, or a list of hosts with commas")
	fs.vault(&j.o.Vault)
	fs.Text(&j.o.BaseDir, "playbook-dir", "", a.cfg.Text("PLAYBOOK_DIR"), "BASEDIR",
		"the directory that counts as the playbook's")
	fs.extra(&j.o.Extra)
	fs.broker(&j.o.Broker)
	fs.Text(&j.o.Inventory.Limit, "limit", "l", "", "SUBSET", "with --list: only hosts that match this pattern")
	fs.own("limit")
	fs.Toggle(&j.list, "list", "", false, "show everything")
	fs.Text(&j.host, "host", "", "", "HOST", "show the variables of one host")
	fs.Toggle(&j.graph, "graph", "", false, "show the groups as a tree")
	fs.Toggle(&j.yaml, "yaml", "y", false, "print YAML instead of JSON")
	fs.Toggle(&j.toml, "toml", "", false, "print TOML instead of JSON")
	fs.Toggle(&j.vars, "vars", "", false, "with --graph: show variables too")
	fs.Toggle(&j.export, "export", "", a.cfg.Bool("INVENTORY_EXPORT"), "with --list: leave variables where they were set")
	fs.Text(&j.output, "output", "", "", "OUTPUT_FILE", "with --list: write to this file")
	cmd.RunE = j.run
	return cmd
}

func (j *inventoryJob) run(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return &argparse.UsageError{Text: "unrecognized arguments: " + strings.Join(args[1:], " ")}
	}
	if err := argparse.CheckExclusive(cmd); err != nil {
		return err
	}
	used := 0
	for _, b := range []bool{j.list, j.host != "", j.graph} {
		if b {
			used++
		}
	}
	switch {
	case used == 0:
		return argparse.OptionsError("No action selected, at least one of --host, --graph or --list needs to be specified.")
	case used > 1:
		return argparse.OptionsError(
			"Conflicting options used, only one of --host, --graph or --list can be used at the same time.")
	}
	j.pattern = "all"
	if len(args) == 1 {
		j.pattern = args[0]
	}
	if err := j.begin(cmd, j.o.Verbosity); err != nil {
		return err
	}
	ownAgents(j.app, &j.o)
	text, err := j.text(cmd.Context())
	if err != nil {
		return err
	}
	if text == "" {
		return &quietError{exitError}
	}
	if j.output == "" {
		j.display.Print(view.NoColor, text)
		return nil
	}
	if err := os.WriteFile(j.cfg.Abs(j.output), []byte(text), 0o666); err != nil {
		return ansibleerror.Errorf("Unable to write to destination file (%s): %s", j.output,
			osReason(err, "b"+value.ReprText(j.output)))
	}
	return nil
}

func (j *inventoryJob) text(ctx context.Context) (string, error) {
	p, err := j.open(ctx, &j.o, baseDir(j.app, &j.o))
	if err != nil {
		return "", err
	}
	o := inventory.Output{Export: j.export, Vars: j.vars, Extra: p.Extra, Tagged: p.Level.Has(dialect.InventoryJSON),
		BareFacts: !p.Settings.Bool("INJECT_FACTS_AS_VARS")}
	switch {
	case j.yaml:
		o.Format = inventory.YAML
	case j.toml:
		o.Format = inventory.TOML
	}
	if j.list && j.o.Inventory.Limit != "" {
		if err := p.Inventory.Limit(j.o.Inventory.Limit); err != nil {
			return "", err
		}
	}
	switch {
	case j.host != "":
		if hosts, err := p.Inventory.Match(j.host); err == nil && len(hosts) != 1 {
			return "", argparse.OptionsError("You must pass a single valid host to --host parameter")
		}
		return p.Inventory.Show(j.host, o)
	case j.graph:
		if p.Inventory.Group(j.pattern) == nil {
			return "", argparse.OptionsError("Pattern must be valid group name when using --graph")
		}
		return p.Inventory.Graph(j.pattern, o)
	}
	return p.Inventory.List(o)
}

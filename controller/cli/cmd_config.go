package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/config"
	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/argparse"
	"hark/modules/py/value"
)

// newConfigCommand is ansible-config.
func newConfigCommand(a *app, name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:         name,
		Short:       "Show settings and where they come from",
		Example:     "  " + a.example(name) + " dump --only-changed\n  " + a.example(name) + " init --disabled > ansible.cfg",
		Annotations: map[string]string{"commands": "list dump view init"},
		Args:        cobra.ArbitraryArgs,
		RunE:        argparse.NeedChoice,
	}
	a.flags(cmd).verbosity(new(int))
	cmd.AddCommand(newConfigListCommand(a), newConfigDumpCommand(a), newConfigViewCommand(a), newConfigInitCommand(a))
	return cmd
}

// configJob is one call of a config command.
type configJob struct {
	*app
	verbosity          int
	file, kind, format string
	formats            []string // that --format may be, nil without that flag
	changed, disabled  bool
	plugins            []string
	cfg                *config.Config
}

// formatFlag declares --format.
func (j *configJob) formatFlag(fs flags, value string, choices ...string) {
	j.formats = choices
	fs.Text(&j.format, "format", "f", value, "{"+strings.Join(choices, ",")+"}", "how to print")
	fs.LongFirst("format")
}

// newConfigSub makes a sub-command: its flags, and its work with the configuration that was asked for.
func newConfigSub(a *app, name, short string, add func(*configJob, flags),
	run func(context.Context, *configJob) error) *cobra.Command {
	j := &configJob{app: a}
	cmd := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs,
		Annotations: map[string]string{"args": "[args ...]"}}
	fs := a.flags(cmd)
	fs.verbosity(&j.verbosity)
	fs.Text(&j.file, "config", "c", "", "CONFIG_FILE", "the configuration file, instead of the one that is found")
	fs.Text(&j.kind, "type", "t", "base", "{"+strings.Join(configKinds(), ",")+"}", "the settings of one kind of plug-ins")
	add(j, fs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if j.formats != nil && !slices.Contains(j.formats, j.format) {
			return argparse.BadChoice(cmd, "format", j.format, j.formats)
		}
		if kinds := configKinds(); !slices.Contains(kinds, j.kind) {
			return argparse.BadChoice(cmd, "type", j.kind, kinds)
		}
		j.plugins = args
		if err := a.begin(cmd, j.verbosity); err != nil {
			return err
		}
		if err := j.load(); err != nil {
			return err
		}
		return run(cmd.Context(), j)
	}
	return cmd
}

// configKinds returns what --type may be.
func configKinds() []string {
	return []string{"all", "base", "become", "cache", "callback", "cliconf", "connection", "httpapi", "inventory",
		"lookup", "netconf", "shell", "vars"}
}

func (j *configJob) load() (err error) {
	j.cfg = j.app.cfg
	if j.file == "" {
		return nil
	}
	path := j.cfg.Abs(j.file)
	if f, err := os.Open(path); err != nil {
		return argparse.OptionsError("The provided configuration file is missing or not accessible: " + path)
	} else if err := f.Close(); err != nil {
		return err
	}
	j.cfg, err = config.Load(j.world, path)
	return err
}

func newConfigViewCommand(a *app) *cobra.Command {
	return newConfigSub(a, "view", "Show the configuration file",
		func(*configJob, flags) {}, func(ctx context.Context, j *configJob) error {
			if j.cfg.File == "" {
				return ansibleerror.Errorf("Invalid or no config file was supplied")
			}
			text, err := os.ReadFile(j.cfg.File)
			if err != nil {
				return ansibleerror.Errorf("Failed to open config file: %v", err)
			}
			return j.term.Page(ctx, string(text))
		})
}

// printed returns a value as Python prints it.
func printed(v any) string { return value.Printed(value.FromGo(v, value.KindStr)) }

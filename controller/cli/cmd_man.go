//go:build man

package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"hark/agent/manual"
	"hark/agent/version"
	"hark/controller/config"
)

// extraCommands returns those that only the build of packages has: hark man DIR writes the manual pages.
func extraCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use: "man DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			nameArguments(root)
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "hark " + version.String(), Manual: "hark"},
				args[0]); err != nil {
				return err
			}
			return manual.Add(args[0], manualSections())
		},
	}}
}

// nameArguments puts the arguments of commands where cobra looks for them.
func nameArguments(cmd *cobra.Command) {
	if args := cmd.Annotations["args"]; args != "" {
		cmd.Use += " " + args
	}
	for _, c := range cmd.Commands() {
		nameArguments(c)
	}
}

// manualSections returns the same in all pages.
func manualSections() []manual.Section {
	codes := manual.Section{Title: "EXIT STATUS", Entries: []manual.Entry{
		{Name: "0", Text: "All is well."},
		{Name: "1", Text: "The command could not do its work."},
		{Name: "2", Text: "A task failed on a host, or the command line makes no sense."},
		{Name: "3", Text: "Of hark duties and hark keeper: something is not as it should be."},
		{Name: "4", Text: "A host could not be reached, or a playbook could not be read."},
		{Name: "5", Text: "An option or a setting has an impossible value."},
		{Name: "99", Text: "You ended it."},
		{Name: "250", Text: "A mistake of hark's own."},
	}}
	vars := manual.Section{Title: "ENVIRONMENT"}
	for _, s := range config.Settings() {
		for _, name := range s.Env {
			if strings.HasPrefix(name, "HARK_") {
				vars.Entries = append(vars.Entries, manual.Entry{Name: name, Text: s.Doc})
			}
		}
	}
	vars.Entries = append(vars.Entries,
		manual.Entry{Name: "ANSIBLE_CONFIG",
			Text: "The settings file, in place of the ones below. Each setting of Ansible has its variable: hark config list."},
		manual.Entry{Name: "NO_COLOR", Text: "If set, nothing is coloured."})
	files := manual.Section{Title: "FILES", Entries: []manual.Entry{
		{Name: "./ansible.cfg, ~/.ansible.cfg, /etc/ansible/ansible.cfg",
			Text: "Settings: the first of these that is there."},
		{Name: "~/.config/hark", Text: "The operator's key, access to brokers and records of runs (HARK_HOME)."},
		{Name: "/var/lib/hark-broker, /var/lib/hark-keeper, /var/lib/hark-console",
			Text: "What the services keep that hark installs."},
		{Name: "/usr/lib/hark", Text: "Agents for hosts, and hark under the names of Ansible's commands."},
		{Name: "/usr/share/doc/hark", Text: "The documentation."},
	}}
	return []manual.Section{codes, vars, files}
}

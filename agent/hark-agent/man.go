//go:build man

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"hark/agent/manual"
	"hark/agent/version"
)

// extraCommands returns those that only the build of packages has: hark-agent man DIR writes the manual pages.
func extraCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use: "man DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root,
				&doc.GenManHeader{Section: "8", Source: "hark-agent " + version.String(), Manual: "hark"}, args[0]); err != nil {
				return err
			}
			return manual.Add(args[0], manualSections())
		},
	}}
}

// manualSections returns the same in all pages.
func manualSections() []manual.Section {
	return []manual.Section{
		{Title: "EXIT STATUS", Entries: []manual.Entry{
			{Name: "0", Text: "All is well."},
			{Name: "1", Text: "The command could not do its work."},
			{Name: "2", Text: "The command line makes no sense."},
			{Name: "78", Text: "The configuration cannot be used; the service manager does not try again."},
		}},
		{Title: "ENVIRONMENT", Entries: []manual.Entry{
			{Name: "NOTIFY_SOCKET, WATCHDOG_USEC",
				Text: "Where systemd wants to hear that the agent is ready, and how often that it lives."},
		}},
		{Title: "FILES", Entries: []manual.Entry{
			{Name: "/etc/hark/agent.yml", Text: "The configuration; its comments say what each setting means."},
			{Name: "/etc/hark/policy.yml", Text: "What operators may do on this host, if it is there."},
			{Name: "/var/lib/hark", Text: "The agent's key and state."},
		}},
	}
}

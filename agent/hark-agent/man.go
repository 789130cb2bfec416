//go:build man

package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"hark/agent/version"
)

// extraCommands are those that only the build of packages has: hark-agent man DIR writes the manual pages.
func extraCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use: "man DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "8", Source: "hark-agent " + version.String(), Manual: "hark"}, args[0])
		},
	}}
}

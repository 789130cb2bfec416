//go:build man

package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"hark/agent/version"
)

// extraCommands are those that only the build of packages has: hark man DIR writes the manual pages.
func extraCommands() []*cobra.Command {
	return []*cobra.Command{{
		Use: "man DIR", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			nameArguments(root)
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "hark " + version.String(), Manual: "hark"}, args[0])
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

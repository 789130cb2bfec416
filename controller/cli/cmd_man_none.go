//go:build !man

package cli

import "github.com/spf13/cobra"

// extraCommands returns those that only the build of packages has, see man.go.
func extraCommands() []*cobra.Command { return nil }

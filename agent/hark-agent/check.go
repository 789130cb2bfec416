package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// checkCommand is for packages and scripts that would start the service.
func checkCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{Use: "check", Short: "Tell whether the configuration can be used", Args: cobra.NoArgs}
	cmd.Flags().StringVar(&path, "config", defaultConfig, "configuration file")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var s settings
		if err := s.complete(path); err != nil {
			return &configError{err}
		}
		if err := s.checkFiles(); err != nil {
			return &configError{err}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: agent %s of the broker %s\n", path, s.Name, s.Broker)
		return nil
	}
	return cmd
}

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/fleet"
)

func newBrokerStatusCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "status", Short: "Say whether the broker can be reached", Args: argparse.NoArgs}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, _ []string) error {
		s, err := b.State(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return a.term.PrintJSON(s)
		}
		fmt.Fprintf(a.term.Out, "broker %s: NATS %s, answers in %s, %d agents, %d of them present\n", s.URL, s.Version,
			s.RTT, s.Agents, s.Present)
		return nil
	})
	fs.json(&asJSON)
	return cmd
}

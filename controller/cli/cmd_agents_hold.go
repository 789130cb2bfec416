package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hark/agent/wire"
	"hark/controller/internal/ansible/argparse"
	"hark/controller/internal/duties/duty"
	"hark/controller/internal/fleet"
	"hark/controller/internal/play/link"
)

// newAgentsHoldCommand is hark agents hold.
func newAgentsHoldCommand(a *app) *cobra.Command {
	var span, why string
	cmd := &cobra.Command{
		Use: "hold", Short: "Keep keepers away from hosts for a while",
		Annotations: map[string]string{"args": "agent [agent ...]"}, Args: argparse.Needs("agent"),
		Long: "Keepers do nothing to a host that is held, and say until when and why. A hold ends by itself; runs of " +
			"people are not held.",
		Example: "  hark agents hold web7 --for 2h --why 'disk swap, anna'",
	}
	fs := onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		d, ok := duty.Span(span)
		if !ok {
			return argparse.OptionsError(fmt.Sprintf("--for wants a time such as 30m, 2h or 7d, not %q", span))
		}
		h := &wire.Hold{Until: time.Now().Add(d).UTC(), Why: why}
		if err := h.Check(time.Now()); err != nil {
			return argparse.OptionsError(err.Error())
		}
		return changeHold(ctx, a, b, args, h)
	})
	fs.Text(&span, "for", "", "", "TIME", "for how long: 30m, 2h, 7d")
	fs.Text(&why, "why", "", "", "TEXT", "the reason, for those who wonder")
	return cmd
}

// newAgentsReleaseCommand is hark agents release.
func newAgentsReleaseCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "release", Short: "End the hold of hosts", Annotations: map[string]string{"args": "agent [agent ...]"},
		Args:    argparse.Needs("agent"),
		Example: "  hark agents release web7",
	}
	onBroker(a, cmd, func(ctx context.Context, b *fleet.Connection, args []string) error {
		return changeHold(ctx, a, b, args, nil)
	})
	return cmd
}

// changeHold tells agents that keepers must leave their hosts alone, or no longer.
func changeHold(ctx context.Context, a *app, b *fleet.Connection, patterns []string, h *wire.Hold) error {
	agents, err := b.Present(ctx, patterns)
	if err != nil {
		return err
	}
	p := &link.Pinger{Transport: b, Operator: b.Operator}
	failed := false
	for _, x := range agents {
		ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
		err := p.Hold(ctx, x.Key, x.XKey, h)
		cancel()
		switch {
		case err != nil:
			failed = true
			fmt.Fprintf(a.term.Out, "%s: failed: %v\n", x.Name, err)
		case h == nil:
			fmt.Fprintf(a.term.Out, "%s: released\n", x.Name)
		default:
			fmt.Fprintf(a.term.Out, "%s: held until %s\n", x.Name, h.Until.Local().Format(time.DateTime))
		}
	}
	if failed {
		return &quietError{exitFailed}
	}
	return nil
}

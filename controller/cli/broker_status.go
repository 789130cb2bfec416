package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// brokerState is what status tells, and its JSON.
type brokerState struct {
	URL     string `json:"url"`
	Version string `json:"version"`
	RTT     string `json:"rtt"`
	TLS     bool   `json:"tls"`
	Agents  int    `json:"agents"`
	Present int    `json:"present"`
}

func (a *app) brokerStatus() *cobra.Command {
	var o options
	var asJSON bool
	cmd := &cobra.Command{Use: "status", Short: "Tell whether the broker can be reached", Args: noArgs}
	fs := a.flagSet(cmd.Flags())
	a.baseFlags(fs, &o)
	a.brokerFlag(fs, &o)
	a.jsonFlag(fs, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, &o); err != nil {
			return err
		}
		s, err := a.askBroker(cmd.Context(), o.broker)
		if err != nil {
			return err
		}
		if asJSON {
			return a.printJSON(s)
		}
		fmt.Fprintf(a.Out, "broker %s: NATS %s, answers in %s, %d agents, %d of them present\n", s.URL, s.Version, s.RTT, s.Agents, s.Present)
		return nil
	}
	return cmd
}

func (a *app) askBroker(ctx context.Context, url string) (brokerState, error) {
	b, err := a.dial(ctx, url)
	if err != nil {
		return brokerState{}, err
	}
	defer b.Close()
	rtt, err := b.Conn().RTT()
	if err != nil {
		return brokerState{}, fmt.Errorf("the broker at %s does not answer: %w", b.url, err)
	}
	s := brokerState{URL: b.Conn().ConnectedUrlRedacted(), Version: b.Conn().ConnectedServerVersion(), RTT: rtt.Round(time.Microsecond).String()}
	_, err = b.Conn().TLSConnectionState()
	s.TLS = err == nil
	agents, err := b.roster.All(ctx)
	if err != nil {
		return s, err
	}
	s.Agents = len(agents)
	for _, agent := range agents {
		if agent.Present {
			s.Present++
		}
	}
	return s, nil
}

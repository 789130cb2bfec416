package cli

import (
	"context"
	"fmt"
	"hark/controller/internal/argparse"
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
	var asJSON bool
	cmd := &cobra.Command{Use: "status", Short: "Tell whether the broker can be reached", Args: argparse.NoArgs}
	fs := a.onBroker(cmd, func(ctx context.Context, b *brokerLink, _ []string) error {
		s, err := b.state(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return a.term.PrintJSON(s)
		}
		fmt.Fprintf(a.term.Out, "broker %s: NATS %s, answers in %s, %d agents, %d of them present\n", s.URL, s.Version, s.RTT, s.Agents, s.Present)
		return nil
	})
	a.jsonFlag(fs, &asJSON)
	return cmd
}

func (a *app) askBroker(ctx context.Context, url string) (brokerState, error) {
	b, err := a.dial(ctx, url)
	if err != nil {
		return brokerState{}, err
	}
	defer b.Close()
	return b.state(ctx)
}

func (b *brokerLink) state(ctx context.Context) (brokerState, error) {
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

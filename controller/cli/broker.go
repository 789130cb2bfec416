package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"hark/controller/broker"
)

// brokerCommand is hark broker.
func (a *app) brokerCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "broker", Short: "Run the server that connects this machine and the agents", RunE: needCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(a.brokerRun(), a.brokerStatus())
	return cmd
}

// needCommand is what a command says that does nothing by itself.
func needCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &usageError{text: fmt.Sprintf("argument action: invalid choice: '%s'", args[0])}
	}
	return &usageError{text: "the following arguments are required: action"}
}

func (a *app) brokerRun() *cobra.Command {
	var c broker.Config
	var o options
	cmd := &cobra.Command{
		Use: "run", Short: "Run a broker until it is interrupted", Args: noArgs,
		Example: "  hark broker run --data /var/lib/hark-broker --listen 127.0.0.1:4222",
	}
	fs := a.flagSet(cmd.Flags())
	a.baseFlags(fs, &o)
	fs.text(&c.Data, "data", "", filepath.Join(a.harkHome(), "broker"), "DIR", "the directory of its stores")
	fs.text(&c.Listen, "listen", "", broker.DefaultListen, "HOST:PORT", "where to listen; port 0 takes a free one")
	fs.text(&c.URLFile, "url-file", "", "", "FILE", "write the URL to this file when the broker is ready")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.begin(cmd, &o); err != nil {
			return err
		}
		level := zerolog.InfoLevel
		if o.verbosity > 0 {
			level = zerolog.DebugLevel
		}
		c.Logger = zerolog.New(zerolog.ConsoleWriter{Out: a.Err, NoColor: !a.colored(), TimeFormat: time.DateTime}).Level(level).With().Timestamp().Logger()
		return broker.Run(cmd.Context(), c, func(url string) {
			fmt.Fprintf(a.Out, "broker ready at %s\n", url)
		})
	}
	return cmd
}

// brokerState is what status tells, and its JSON.
type brokerState struct {
	URL     string `json:"url"`
	Version string `json:"version"`
	RTT     string `json:"rtt"`
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
		return brokerState{}, fmt.Errorf("the broker at %s does not answer: %w", url, err)
	}
	s := brokerState{URL: b.Conn().ConnectedUrlRedacted(), Version: b.Conn().ConnectedServerVersion(), RTT: rtt.Round(time.Microsecond).String()}
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

package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"hark/controller/internal/trust"
)

// keyCommand is hark key.
func (a *app) keyCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "key", Short: "The key that signs what is sent to agents", RunE: needCommand, Args: cobra.ArbitraryArgs}
	cmd.AddCommand(a.keyCreate(), a.keyShow())
	return cmd
}

func (a *app) keyCreate() *cobra.Command {
	return &cobra.Command{
		Use: "create", Short: "Make an operator key", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			path := a.cfg.Text("HARK_OPERATOR_KEY")
			id, err := trust.Create(path)
			if errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("there is an operator key already: %s", path)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s\npublic key: %s\n", path, id.Key)
			return nil
		},
	}
}

func (a *app) keyShow() *cobra.Command {
	var public, asJSON bool
	cmd := &cobra.Command{Use: "show", Short: "Show the operator key; it is made if there is none", Args: noArgs}
	fs := a.flagSet(cmd.Flags())
	fs.toggle(&public, "public", "", false, "only the public key, as agents are told it")
	a.jsonFlag(fs, &asJSON)
	cmd.RunE = func(*cobra.Command, []string) error {
		path := a.cfg.Text("HARK_OPERATOR_KEY")
		id, _, err := trust.LoadOrCreate(path)
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.printJSON(map[string]string{"public": id.Key, "id": id.ID(), "path": path})
		case public:
			fmt.Fprintln(a.Out, id.Key)
		default:
			fmt.Fprintf(a.Out, "path\t%s\npublic\t%s\nid\t%s\n", path, id.Key, id.ID())
		}
		return nil
	}
	return cmd
}

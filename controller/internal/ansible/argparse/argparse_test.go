package argparse

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// command has a flag of each kind.
func command() *cobra.Command {
	cmd := &cobra.Command{Use: "tool", Short: "Does things", Annotations: map[string]string{"args": "name [name ...]"}, RunE: func(*cobra.Command, []string) error { return nil }}
	fs := NewFlags(cmd.Flags())
	var text string
	var on, off bool
	var n int
	var wait time.Duration
	var list []string
	fs.Text(&text, "private-key", "", "", "FILE", "the key")
	fs.Number(&n, "forks", "f", 5, "FORKS", "how many")
	fs.Toggle(&on, "ask-become-pass", "K", false, "ask")
	fs.Toggle(&off, "ask-vault-password", "J", false, "ask too")
	fs.QuietShort("ask-vault-password")
	fs.List(&list, "vault-password-file", "", "FILES", "files")
	fs.Exclusive("ask-vault-password", "vault-password-file")
	fs.Span(&wait, "wait", 5*time.Minute, "DURATION", "how long")
	cmd.SetFlagErrorFunc(FlagError)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd
}

func TestShortenedNamesAreCompleted(t *testing.T) {
	for _, tt := range []struct{ given, want string }{
		{"--ask-become", "--ask-become-pass"},
		{"--private=x", "--private-key=x"},
		{"--key-file=x", "--key-file=x"},
		{"--key=x", "--key-file=x"},
		{"--ask", "--ask"},
		{"--forks 3 -- --ask-become", "--forks 3 -- --ask-become"},
		{"--nothing", "--nothing"},
	} {
		if got := ExpandLong(command(), strings.Fields(tt.given)); !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%s becomes %q, want %s", tt.given, got, tt.want)
		}
	}
}

func TestWrongFlagsAreToldAsArgparseTellsThem(t *testing.T) {
	for given, want := range map[string]string{
		"--nothing":              "unrecognized arguments: --nothing",
		"-x":                     "unrecognized arguments: -x",
		"--ask":                  "ambiguous option: --ask could match --ask-become-pass, --ask-vault-password, --ask-vault-pass",
		"--forks many":           "argument -f/--forks: invalid int value: 'many'",
		"--wait long":            "argument --wait: 'long' is no duration: write a number with its unit, such as 90s, 5m or 2h",
		"--private-key":          "argument --private-key/--key-file: expected one argument",
		"-J --vault-pass-file x": "argument --vault-password-file/--vault-pass-file: not allowed with argument --ask-vault-password/--ask-vault-pass",
	} {
		cmd := command()
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return CheckExclusive(cmd) }
		cmd.SetArgs(ExpandLong(cmd, strings.Fields(given)))
		err := cmd.Execute()
		var usage *UsageError
		if !errors.As(err, &usage) || usage.Text != want {
			t.Errorf("%s: %v\nwant %s", given, err, want)
		}
	}
}

func TestHelpIsLaidOutAsArgparseDoesIt(t *testing.T) {
	const want = `usage: tool [-h] [--private-key FILE] [-f FORKS] [-K]
            [--ask-vault-password | --vault-password-file FILES]
            [--wait DURATION]
            name [name ...]

Does things.

options:
`
	got := Help(command(), 60)
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
	for _, line := range []string{"such as 90s, 5m or 2h (default: 5m)\n", "  --private-key, --key-file FILE"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing in\n%s", line, got)
		}
	}
}

func TestCommandsThatDoNothingByThemselvesNameTheChoices(t *testing.T) {
	top := &cobra.Command{Use: "hark"}
	for _, name := range []string{"list", "show"} {
		top.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if err := NeedCommand(top, nil); err == nil || err.Error() != "the following arguments are required: action" {
		t.Errorf("nothing: %v", err)
	}
	if err := NeedCommand(top, []string{"lisst"}); err == nil || err.Error() != "argument action: invalid choice: 'lisst' (choose from 'list', 'show'): did you mean `hark list`?" {
		t.Errorf("misspelt: %v", err)
	}
}

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
	for _, line := range []string{"(default: 5m)\n", "  --private-key, --key-file FILE", "how many (default: 5)\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing in\n%s", line, got)
		}
	}
}

// TestHelpFitsTheTerminal: no line of text is wider than the terminal, and no word is lost.
func TestHelpFitsTheTerminal(t *testing.T) {
	cmd := command()
	long := strings.Repeat("lorem ", 40) + "end"
	cmd.Long = long
	NewFlags(cmd.Flags()).Toggle(new(bool), "talk", "", false, long)
	for _, columns := range []int{60, 80, 132} {
		text := Help(cmd, columns)
		for _, line := range strings.Split(text, "\n") {
			if len(line) > columns && !strings.Contains(line, "[--") { // parts of the usage are not broken
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		if n := strings.Count(text, "lorem"); n != 80 {
			t.Errorf("%d columns: %d words", columns, n)
		}
	}
}

func TestCommandsThatDoNothingByThemselvesNameTheChoices(t *testing.T) {
	top := &cobra.Command{Use: "hark"}
	for _, name := range []string{"list", "show"} {
		top.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if err := NeedCommand(top, nil); err == nil || err.Error() != "an action is missing, one of list, show" {
		t.Errorf("nothing: %v", err)
	}
	if err := NeedCommand(top, []string{"lisst"}); err == nil || err.Error() != "argument action: invalid choice: 'lisst' (choose from 'list', 'show'): did you mean `hark list`?" {
		t.Errorf("misspelt: %v", err)
	}
}

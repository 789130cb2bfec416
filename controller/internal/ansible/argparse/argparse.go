// Package argparse gives cobra's commands the habits of Python's argparse, which users of Ansible's commands and
// their scripts have: shortened names of flags, flags that exclude each other, several names for one, and the layout
// of usage, help and errors. It knows no flag and no command.
package argparse

import (
	"strings"

	"github.com/spf13/cobra"

	"hark/modules/dialect"
)

// UsageError is a command line that makes no sense. Its text goes under the usage.
type UsageError struct {
	Text string
	// Short leaves the help out that argparse's errors bring with them.
	Short bool
}

func (e *UsageError) Error() string { return e.Text }

// OptionsError is an option with an impossible value: the help is printed with it.
type OptionsError string

func (e OptionsError) Error() string { return string(e) }

// NoArgs refuses arguments.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &UsageError{Text: "unrecognized arguments: " + args[0]}
	}
	return nil
}

// Needs demands at least one argument, which it names when there is none.
func Needs(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return &UsageError{Text: "the following arguments are required: " + name}
		}
		return nil
	}
}

// NeedChoice is what a command of Ansible's says that does nothing by itself. Its annotation "action" is what the
// choice is called.
func NeedChoice(cmd *cobra.Command, args []string) error {
	what := cmd.Annotations["action"]
	if what == "" {
		what = "action"
	}
	if len(args) == 0 {
		return &UsageError{Text: "the following arguments are required: " + what}
	}
	return &UsageError{Text: dialect.InvalidChoice.Text(what, args[0], quoted(Subcommands(cmd)))}
}

// NeedCommand is the same for a command that Ansible does not have: it names the choices, and what was probably meant.
func NeedCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return &UsageError{Text: "an action is missing, one of " + strings.Join(Subcommands(cmd), ", ")}
	}
	err := NeedChoice(cmd, args)
	if usage, ok := err.(*UsageError); ok && len(args) > 0 {
		usage.Text += DidYouMean(cmd, args[0])
	}
	return err
}

// quoted are words as Python's argparse lists them.
func quoted(words []string) string { return "'" + strings.Join(words, "', '") + "'" }

// BadChoice is the error of a flag whose value is none of those that it may have.
func BadChoice(cmd *cobra.Command, flag, got string, choices []string) error {
	return &UsageError{Text: dialect.InvalidChoice.Text(flagNames(cmd.Flags().Lookup(flag)), got, quoted(choices))}
}

// DidYouMean names the commands that a word may have been meant for; "" if there are none.
func DidYouMean(cmd *cobra.Command, word string) string {
	if cmd.SuggestionsMinimumDistance = 2; len(word) < 4 { // two other letters of three are another word
		cmd.SuggestionsMinimumDistance = 1
	}
	names := cmd.SuggestionsFor(word)
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = "`" + cmd.CommandPath() + " " + name + "`"
	}
	return ": did you mean " + strings.Join(names, " or ") + "?"
}

// StrictCompletion makes cobra's command for completions refuse what it does not know, as all others do.
func StrictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.RunE = cobra.ArbitraryArgs, NeedCommand
		for _, shell := range c.Commands() {
			shell.Args = NoArgs
		}
	}
}

// ActionOf is the command of Ansible's that a command is an action of, or the command itself.
func ActionOf(cmd *cobra.Command) *cobra.Command {
	for p := cmd.Parent(); p != nil && p.Annotations["commands"] != ""; p = p.Parent() {
		cmd = p
	}
	return cmd
}

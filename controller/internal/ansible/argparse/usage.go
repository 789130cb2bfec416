package argparse

import (
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ExpandLong completes shortened names of long flags, as --ask-become for --ask-become-pass: argparse takes them, so
// scripts have them. A name that could be several is left for the parser to refuse.
func ExpandLong(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil {
		return args
	}
	out := append([]string(nil), args...)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		if found := matches(cmd, name[2:]); len(found) == 1 && found[0] != name[2:] {
			out[i] = "--" + found[0] + strings.TrimPrefix(arg, name)
		}
	}
	return out
}

// matches returns the long flags that a shortened name can mean; the name alone if it is one of them.
func matches(cmd *cobra.Command, prefix string) []string {
	var found []string
	exact := false
	look := func(name string) {
		exact = exact || name == prefix
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	for _, f := range InOrder(cmd) {
		look(f.Name)
		for _, other := range otherNames(f.Name) {
			look(strings.TrimPrefix(other, "--"))
		}
	}
	if exact {
		return []string{prefix}
	}
	return found
}

// FlagError turns pflag's errors into the words of
func FlagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		return &UsageError{Text: "argument " + flagNames(missing.GetFlag()) + ": expected one argument"}
	case errors.As(err, &invalid):
		kind := "invalid value"
		if strings.HasPrefix(invalid.GetFlag().Value.Type(), "int") {
			kind = "invalid int value"
		}
		if invalid.GetFlag().Value.Type() == "duration" {
			return &UsageError{Text: fmt.Sprintf("argument %s: '%s' is no duration: write a number with its unit, such as %s",
				flagNames(invalid.GetFlag()), invalid.GetValue(), spans)}
		}
		return &UsageError{Text: fmt.Sprintf("argument %s: %s: '%s'", flagNames(invalid.GetFlag()), kind, invalid.GetValue())}
	}
	return &UsageError{Text: err.Error()}
}

func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if e.GetSpecifiedShortnames() != "" {
		return &UsageError{Text: "unrecognized arguments: -" + e.GetSpecifiedShortnames()}
	}
	name := e.GetSpecifiedName()
	if could := matches(cmd, name); len(could) > 1 {
		return &UsageError{Text: fmt.Sprintf("ambiguous option: --%s could match --%s", name, strings.Join(could, ", --"))}
	}
	return &UsageError{Text: "unrecognized arguments: --" + name}
}

// flagNames returns all names of a flag, joined by slashes.
func flagNames(f *pflag.Flag) string {
	names := []string{"--" + f.Name}
	switch short := "-" + f.Shorthand; {
	case f.Shorthand == "" || noted(f, quietShortAnnotation):
	case noted(f, longFirstAnnotation):
		names = append(names, short)
	default:
		names = []string{short, names[0]}
	}
	return strings.Join(append(names, otherNames(f.Name)...), "/")
}

// otherNames returns the aliases of a flag as they are typed.
func otherNames(name string) []string {
	var more []string
	for alias, to := range aliases() {
		if to == name {
			more = append(more, "--"+alias)
		}
	}
	sort.Strings(more)
	return more
}

func noted(f *pflag.Flag, annotation string) bool { return len(f.Annotations[annotation]) > 0 }

// InOrder returns the flags of a command as its help has them: the version first, the others as they were declared.
func InOrder(cmd *cobra.Command) []*pflag.Flag {
	cmd.InitDefaultHelpFlag()
	var out []*pflag.Flag
	if f := cmd.Flags().Lookup("version"); f != nil {
		out = append(out, f)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "version" && !f.Hidden {
			out = append(out, f)
		}
	})
	return out
}

// CheckExclusive refuses flags that exclude each other. It is the later one that is not allowed.
func CheckExclusive(cmd *cobra.Command) error {
	var err error
	given := map[string]*pflag.Flag{}
	cmd.Flags().Visit(func(f *pflag.Flag) { // in the order of the command line, since they are not sorted
		for _, other := range f.Annotations[excludeAnnotation] {
			if o := given[other]; err == nil && o != nil && o != f {
				err = &UsageError{Text: fmt.Sprintf("argument %s: not allowed with argument %s", flagNames(f), flagNames(o))}
			}
		}
		given[f.Name] = f
	})
	return err
}

// Usage returns the first part of the help: every flag in brackets, broken to the width of the terminal.
func Usage(cmd *cobra.Command, columns int) string {
	flags := []string{"[-h]"}
	done := map[string]bool{"help": true}
	for _, f := range InOrder(cmd) {
		if done[f.Name] {
			continue
		}
		var both []string
		for _, name := range append([]string{f.Name}, f.Annotations[excludeAnnotation]...) {
			if other := cmd.Flags().Lookup(name); !done[name] && other != nil {
				done[name] = true
				both = append(both, flagUsage(other))
			}
		}
		flags = append(flags, "["+strings.Join(both, " | ")+"]")
	}
	var args []string
	if cmd.HasAvailableSubCommands() {
		action := cmd.Annotations["action"]
		if action == "" {
			action = "{" + strings.Join(Subcommands(cmd), ",") + "}"
		}
		args = append(args, action, "...")
	}
	args = append(args, regexp.MustCompile(`\[.*?\]|\S+`).FindAllString(cmd.Annotations["args"], -1)...)
	return wrapUsage("usage: "+cmd.CommandPath(), flags, args, columns-2) + "\n"
}

// flagUsage returns a flag by the first of its names, with what its value is called.
func flagUsage(f *pflag.Flag) string {
	text, _, _ := strings.Cut(flagNames(f), "/")
	if meta := f.Annotations[metavarAnnotation]; len(meta) > 0 && meta[0] != "" {
		text += " " + meta[0]
	}
	return text
}

// Subcommands returns the names of the commands under one, in the order that the command gives or by name.
func Subcommands(cmd *cobra.Command) []string {
	if order := cmd.Annotations["commands"]; order != "" {
		return strings.Fields(order)
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// wrapUsage puts all on one line if it fits, else the flags on lines of their own and the arguments below them.
func wrapUsage(start string, flags, args []string, columns int) string {
	all := strings.Join(append(append([]string{start}, flags...), args...), " ")
	if len(all) <= columns || len(args) == 0 {
		return breakParts(start, append(flags, args...), columns)
	}
	indent := strings.Repeat(" ", len(start))
	return breakParts(start, flags, columns) + "\n" + breakParts(indent, args, columns)
}

func breakParts(start string, parts []string, columns int) string {
	indent := strings.Repeat(" ", len(start))
	line, out := start, ""
	for _, p := range parts {
		if len(line)+1+len(p) > columns && line != indent {
			out += line + "\n"
			line = indent
		}
		line += " " + p
	}
	return out + line
}

// Help returns the help of a command.
func Help(cmd *cobra.Command, columns int) string {
	var b strings.Builder
	b.WriteString(Usage(cmd, columns))
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	b.WriteString("\n")
	for _, paragraph := range strings.Split(long, "\n") {
		b.WriteString(wrapText(paragraph, 0, columns))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\ncommands:\n")
		for _, name := range Subcommands(cmd) {
			if c, _, err := cmd.Find([]string{name}); err == nil {
				fmt.Fprintf(&b, "  %-22s%s", name, strings.TrimLeft(wrapText(c.Short, 24, columns), " "))
			}
		}
	}
	for _, group := range []string{"", "Connection Options", "Privilege Escalation Options"} {
		writeGroup(&b, cmd, group, columns)
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nexamples:\n%s\n", cmd.Example)
	}
	return b.String()
}

// wrapText breaks a text into lines that are as wide as a terminal at most, with spaces before each.
func wrapText(text string, indent, columns int) string {
	width := max(columns-2-indent, 24)
	before := strings.Repeat(" ", indent)
	var b strings.Builder
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(before + line + "\n")
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return b.String() + before + line + "\n"
}

// withDefault returns what the help says of a flag, with its value where nobody gives one.
func withDefault(f *pflag.Flag) string {
	kind := f.Value.Type()
	if (kind != "int" && kind != "string") || f.DefValue == "" || f.DefValue == "0" ||
		strings.Contains(f.Usage, "default") {
		return f.Usage
	}
	return f.Usage + " (default: " + f.DefValue + ")"
}

func writeGroup(b *strings.Builder, cmd *cobra.Command, group string, columns int) {
	title := group
	if group == "" {
		title = "options"
	}
	first := true
	for _, f := range InOrder(cmd) {
		in := ""
		if g := f.Annotations[groupAnnotation]; len(g) > 0 {
			in = g[0]
		}
		if in != group {
			continue
		}
		if first {
			fmt.Fprintf(b, "\n%s:\n", title)
			first = false
		}
		names, usage := strings.ReplaceAll(flagNames(f), "/", ", "), withDefault(f)
		if f.Name == "help" {
			usage = "show this help"
		}
		if meta := f.Annotations[metavarAnnotation]; len(meta) > 0 && meta[0] != "" {
			names += " " + meta[0]
		}
		text := wrapText(usage, 34, columns)
		if len(names) <= 30 {
			text = fmt.Sprintf("  %-31s %s", names, strings.TrimLeft(text, " "))
		} else {
			text = "  " + names + "\n" + text
		}
		b.WriteString(text)
	}
}

package cli_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/controller/cli"
)

var update = flag.Bool("update", false, "write docs/options.md")

const (
	optionsPage = "../../docs/options.md"
	optionsHead = "<!-- Made from the commands' help: go test ./controller/cli -run TestOptionsPage -update -->\n\n" +
		"# All commands and options\n\nWhat `--help` of each command says. [Commands](commands.md) has the exit codes.\n"
)

// TestOptionsPageIsFresh: docs/options.md is what the commands say when they are asked for help.
func TestOptionsPageIsFresh(t *testing.T) {
	const home = "/home/you"
	for name, value := range map[string]string{"HOME": home, "PATH": t.TempDir(), "ANSIBLE_CONFIG": os.DevNull, "COLUMNS": "80"} {
		t.Setenv(name, value)
	}
	for _, name := range os.Environ() {
		if name, _, _ := strings.Cut(name, "="); strings.HasPrefix(name, "HARK_") || strings.HasPrefix(name, "XDG_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	var b strings.Builder
	b.WriteString(optionsHead)
	addHelp(t, &b, "hark")
	want := strings.ReplaceAll(b.String(), home, "~")
	if *update {
		if err := os.WriteFile(optionsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(optionsPage); err != nil || string(got) != want {
		t.Errorf("docs/options.md is stale (%v); go test ./controller/cli -run TestOptionsPage -update makes it anew", err)
	}
	if n := strings.Count(want, "\n## "); n < 80 {
		t.Errorf("%d commands", n)
	}
}

// addHelp adds what a command says when it is asked for help, and then its subcommands.
func addHelp(t *testing.T, b *strings.Builder, words ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	s := cli.ThisSystem()
	s.Args, s.In, s.Out, s.Err, s.Terminal, s.NoTTY = append(slices.Clone(words), "--help"), strings.NewReader(""), &out, &out, nil, true
	if code := cli.Main(ctx, s); code != 0 {
		t.Fatalf("%s: %d\n%s", words, code, out.String())
	}
	fmt.Fprintf(b, "\n## %s\n\n```text\n%s\n```\n", strings.Join(words, " "), strings.TrimSpace(out.String()))
	for _, name := range commandNames(out.String()) {
		if name == "completion" {
			continue // its commands are one for each shell
		}
		addHelp(t, b, append(slices.Clone(words), name)...)
	}
}

var commandName = regexp.MustCompile(`(?m)^  ([a-z_]+) `)

// commandNames are the commands that a help text lists.
func commandNames(help string) []string {
	_, list, _ := strings.Cut(help, "\ncommands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	var names []string
	for _, m := range commandName.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	return names
}

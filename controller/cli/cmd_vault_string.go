package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hark/controller/internal/ansible/argparse"
	"hark/playbook/vault"
)

// vaultText is one string to encrypt.
type vaultText struct{ text, source, name string }

// stringJob is one call of encrypt_string.
type stringJob struct {
	*vaultJob
	prompt, show bool
	names        []string
	stdinName    string
}

func newVaultStringCommand(a *app) *cobra.Command {
	s := &stringJob{}
	add := func(fs flags, j *vaultJob) {
		s.vaultJob = j
		j.secretFlags(fs)
		outputFlag(fs, j)
		encryptIDFlag(fs, j)
		fs.Toggle(&s.prompt, "prompt", "p", false, "ask for the string")
		fs.Toggle(&s.show, "show-input", "", false, "show the string while it is typed")
		fs.List(&s.names, "name", "n", "ENCRYPT_STRING_NAMES", "the name of the variable")
		fs.Text(&s.stdinName, "stdin-name", "", "", "ENCRYPT_STRING_STDIN_NAME",
			"the name of the variable that stdin is read for")
	}
	cmd := newVaultSub(a, "encrypt_string", "Encrypt a string for a YAML file", add,
		func(ctx context.Context, _ *vaultJob) error { return s.run(ctx) })
	cmd.Annotations["args"] = "[string_to_encrypt ...]"
	return cmd
}

func (s *stringJob) run(ctx context.Context) error {
	stdin := slices.Contains(s.args, "-") || len(s.args) == 0 || s.stdinName != ""
	if s.prompt && stdin {
		// Without arguments it is the prompt that gives the string.
		if len(s.args) > 0 || s.stdinName != "" {
			return argparse.OptionsError("The --prompt option is not supported if also reading input from stdin")
		}
		stdin = false
	}
	if err := s.sealSecret(ctx); err != nil {
		return err
	}
	texts, err := s.texts(ctx, stdin)
	if err != nil {
		return err
	}
	var out []string
	for i, t := range texts {
		sealed, err := vault.Encrypt([]byte(t.text), s.with.Password, s.with.ID)
		if err != nil {
			return err
		}
		if len(texts) > 1 {
			s.announce(i+1, t)
		}
		out = append(out, vaultYAML(string(sealed), t.name))
	}
	to := "-"
	if s.output != "" {
		to = s.outputTo("-")
	}
	if err := s.write(to, []byte(strings.Join(out, "\n")), nil); err != nil {
		return err
	}
	s.done("Encryption")
	return nil
}

func (s *stringJob) announce(n int, t vaultText) {
	if t.name != "" {
		fmt.Fprintf(s.term.Err, "# The encrypted version of variable (\"%s\", the string #%d from %s).\n", t.name, n,
			t.source)
		return
	}
	fmt.Fprintf(s.term.Err, "# The encrypted version of the string #%d from %s.)\n", n, t.source)
}

// vaultYAML returns a vault as the value of a variable.
func vaultYAML(sealed, name string) string {
	var b strings.Builder
	if name != "" {
		b.WriteString(name + ": ")
	}
	b.WriteString("!vault |")
	for _, line := range strings.Split(strings.TrimRight(sealed, "\n"), "\n") {
		b.WriteString("\n" + strings.Repeat(" ", 10) + line)
	}
	return b.String()
}

// texts returns the strings: from the prompt, from stdin, from the arguments.
func (s *stringJob) texts(ctx context.Context, stdin bool) ([]vaultText, error) {
	var out []vaultText
	if s.prompt {
		t, err := s.prompted(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if stdin {
		t, err := s.fromStdin()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	args := slices.DeleteFunc(slices.Clone(s.args), func(arg string) bool { return arg == "-" })
	if n := len(s.names); n > 0 && len(args) > n {
		fmt.Fprintf(s.term.Err, "The number of --name options do not match the number of args.\n"+
			"The last named variable will be \"%s\". The rest will not have names.\n", s.names[n-1])
	}
	if n := len(s.names); n > 0 && n > len(args) {
		s.names = s.names[:len(args)]
	}
	for i, arg := range args {
		if arg == "" {
			return nil, argparse.OptionsError("The plaintext provided from the command line args was empty, not encrypting")
		}
		t := vaultText{text: arg, source: "the command line args"}
		if i < len(s.names) {
			t.name = s.names[i]
		}
		out = append(out, t)
	}
	return out, nil
}

func (s *stringJob) prompted(ctx context.Context) (vaultText, error) {
	name, err := s.term.Ask(ctx, "Variable name (enter for no name): ")
	if err != nil {
		return vaultText{}, err
	}
	ask, prompt := s.term.AskSecret, "String to encrypt (hidden): "
	if s.show {
		ask, prompt = s.term.Ask, "String to encrypt:"
	}
	text, err := ask(ctx, prompt)
	if err != nil {
		return vaultText{}, err
	}
	if text == "" {
		return vaultText{}, argparse.OptionsError("The plaintext provided from the prompt was empty, not encrypting")
	}
	return vaultText{text: text, source: "the interactive prompt", name: name}, nil
}

func (s *stringJob) fromStdin() (vaultText, error) {
	if s.term.Terminal != nil {
		fmt.Fprintln(s.term.Err,
			"Reading plaintext input from stdin. (ctrl-d to end input, twice if your content does not already have a newline)")
	}
	raw, err := s.term.ReadAll()
	if err != nil {
		return vaultText{}, err
	}
	if len(raw) == 0 {
		return vaultText{}, argparse.OptionsError("stdin was empty, not encrypting")
	}
	if s.term.Terminal != nil && raw[len(raw)-1] != '\n' {
		fmt.Fprint(s.term.Out, "\n")
	}
	return vaultText{text: string(raw), source: "stdin", name: s.stdinName}, nil
}

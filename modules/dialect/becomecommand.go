package dialect

import (
	"fmt"
	"slices"
	"strings"

	"hark/modules/py/shlex"
)

// RunAs says which user a program runs as, and how it becomes that user. What is empty is as the method's row says.
type RunAs struct{ User, Method, Flags, Exe, Password string }

// becomeCommand is what a row makes a command of.
type becomeCommand struct {
	exe, flags []string
	user       string
	// asks says that there is a password.
	asks bool
	argv []string
}

// Command returns the command that runs argv as the user. The program gets the password as the first line of its
// input, or at a terminal if the method's row says so.
func (r RunAs) Command(argv []string) ([]string, error) {
	m, _ := MethodNamed(r.Method)
	return r.command(m, argv)
}

func (r RunAs) command(m *Method, argv []string) ([]string, error) {
	switch {
	case m == nil || m.build == nil:
		return nil, fmt.Errorf(
			"cannot run as %s: the become method %q starts no program, so only an agent that is root can do it",
			r.User, r.Method)
	case m.Always:
		return nil, fmt.Errorf(
			"cannot run as %s: the become method %q wants a terminal, so only an agent that is root can do it",
			r.User, r.Method)
	}
	c := becomeCommand{user: r.User, asks: r.Password != "", argv: argv}
	for _, part := range []struct {
		to               *[]string
		option           BecomeOption
		given, otherwise string
	}{{&c.exe, BecomeExe, r.Exe, m.Exe}, {&c.flags, BecomeFlags, r.Flags, m.Flags}} {
		text := part.given
		if text == "" || !m.Has(part.option) {
			text = part.otherwise
		}
		words, err := shlex.Split(text)
		if err != nil {
			return nil, fmt.Errorf("cannot run as %s: cannot read %q: %w", r.User, text, err)
		}
		*part.to = words
	}
	if c.user == "" {
		c.user = m.User
	}
	return m.build(c), nil
}

// sudo is sudo, and those that take its flags. It never waits for an answer: it has the password, or is told not to
// ask.
func sudo(c becomeCommand) []string {
	return c.words(c.exe, c.quiet("-n", "-S"), c.as("-u"), []string{"--"}, c.argv)
}

// sudosu is su within sudo.
func sudosu(c becomeCommand) []string {
	return c.words(c.exe, c.quiet("-n", "-S"), []string{"su", "-l"}, c.as(), []string{"-c", c.line()})
}

// su gets a shell of its own, since the user's may be one that refuses to run.
func su(c becomeCommand) []string {
	return c.words(c.exe, c.flags, c.as(), []string{"-s", "/bin/sh", "-c", c.line()})
}

func doas(c becomeCommand) []string {
	if !c.asks && !slices.Contains(c.flags, "-n") {
		c.flags = append(slices.Clone(c.flags), "-n")
	}
	return c.words(c.exe, c.flags, c.as("-u"), c.argv)
}

func ksu(c becomeCommand) []string {
	return c.words(c.exe, c.as(), c.flags, []string{"-e"}, c.argv)
}

func machinectl(c becomeCommand) []string {
	return c.words(c.exe, []string{"-q", "shell"}, c.flags, []string{c.user + "@"}, c.argv)
}

func pbrun(c becomeCommand) []string { return c.words(c.exe, c.flags, c.as("-u"), c.argv) }

// pfexec and pmrun choose the user themselves.
func pfexec(c becomeCommand) []string { return c.words(c.exe, c.flags, c.argv) }

func pmrun(c becomeCommand) []string { return c.words(c.exe, c.flags, []string{c.line()}) }

func run0(c becomeCommand) []string {
	return c.words(c.exe, []string{"--user=" + c.user}, c.flags, c.argv)
}

func sesu(c becomeCommand) []string {
	return c.words(c.exe, c.flags, c.as(), []string{"-c", c.line()})
}

func (c becomeCommand) words(parts ...[]string) []string { return slices.Concat(parts...) }

// as names the user, if one is given, after a flag.
func (c becomeCommand) as(flag ...string) []string {
	if c.user == "" {
		return nil
	}
	return append(flag, c.user)
}

// quiet returns the flags such that the program takes the password from its input without a prompt, or does not ask.
func (c becomeCommand) quiet(never, fromInput string) []string {
	if !c.asks {
		if slices.ContainsFunc(c.flags, func(f string) bool { return flagHas(f, never) }) {
			return c.flags
		}
		return append(slices.Clone(c.flags), never)
	}
	var out []string
	reads := false
	for _, f := range c.flags {
		if f == "--non-interactive" {
			continue
		}
		if flagHas(f, never) {
			if f = strings.Replace(f, never[1:], "", 1); f == "-" {
				continue
			}
		}
		reads = reads || flagHas(f, fromInput)
		out = append(out, f)
	}
	if !reads {
		out = append(out, fromInput)
	}
	return append(out, "-p", "")
}

// flagHas reports whether a word has a flag of one letter, by itself or among others.
func flagHas(word, flag string) bool {
	return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, flag[1:])
}

// line returns the command as a shell reads it.
func (c becomeCommand) line() string {
	words := make([]string, len(c.argv))
	for i, w := range c.argv {
		words[i] = shlex.Quote(w)
	}
	return "exec " + strings.Join(words, " ")
}

// Complaint is what a become program has against a password.
type Complaint int

// The complaints.
const (
	NoComplaint Complaint = iota
	PasswordMissing
	PasswordRefused
)

// Complaint finds in what the program said that nothing will come of it: it wants a password that it does not get, or
// refuses the one it got. Programs would ask again and wait for an answer that nobody gives.
func (r RunAs) Complaint(said string) Complaint {
	said = strings.ToLower(said)
	has := func(texts []string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(said, strings.ToLower(t)) })
	}
	m, ok := MethodNamed(r.Method)
	if !ok {
		return NoComplaint
	}
	refused := has(m.Refused)
	switch {
	case has([]string{"a password is required"}), !refused && has(m.Missing):
		return PasswordMissing
	case r.Password == "" && has([]string{"authentication failure", "password:"}): // what it asks for comes from nowhere
		return PasswordMissing
	case refused:
		return PasswordRefused
	}
	return NoComplaint
}

// Words returns a complaint as Ansible words it, "" for none.
func (r RunAs) Words(c Complaint) string {
	name := r.Method
	if m, ok := MethodNamed(r.Method); ok {
		name = m.Shown()
	}
	switch c {
	case PasswordMissing:
		return "Missing " + name + " password"
	case PasswordRefused:
		return "Incorrect " + name + " password"
	}
	return ""
}

package check

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hark/controller/cli"
	"hark/modules/py/shlex"
	"hark/packaging/pages"
)

// typed is a command that a page tells people to type.
type typed struct {
	page  string
	line  int
	words []string
}

// TestCommandsOfPagesAreUnderstood: each command of ours that stands in a page, in a block of code or between ticks,
// names a command and flags that there are. The programs' own parsers say so, asked for help behind all that the page
// gives.
func TestCommandsOfPagesAreUnderstood(t *testing.T) {
	typed, targets := typedInPages(t), makeTargets(t)
	home := t.TempDir()
	agent := filepath.Join(home, "hark-agent")
	build := exec.Command("go", "build", "-o", agent, "hark/agent/hark-agent")
	if os.Getenv("GOCACHE") != "" { // what go notes in a home is not to stay in that of all tests
		build.Env = append(os.Environ(), "HOME="+home)
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Chdir(home)
	for name, value := range map[string]string{"HOME": home, "HARK_HOME": filepath.Join(home, "hark"), "HARK_BROKER": "", "ANSIBLE_CONFIG": os.DevNull} {
		t.Setenv(name, value)
	}
	counts := map[string]int{}
	for _, c := range typed {
		counts[c.words[0]]++
		said := ""
		switch c.words[0] {
		case "make":
			for _, word := range c.words[1:] {
				if !strings.Contains(word, "=") && !slices.Contains(targets, word) {
					said = "there is no target " + word
				}
			}
		case "hark-agent":
			out, err := exec.Command(agent, helpOf(c.words[1:])...).CombinedOutput()
			said = understood(c.words, string(out), err == nil)
		default:
			said = askedForHelp(c.words)
		}
		if said != "" {
			t.Errorf("%s:%d: %s\n%s", c.page, c.line, strings.Join(c.words, " "), said)
		}
	}
	for name, least := range map[string]int{"hark": 150, "hark-agent": 10, "ansible-playbook": 2, "make": 10} {
		if counts[name] < least {
			t.Errorf("%d commands of %s were found: the check looks in the wrong place", counts[name], name)
		}
	}
}

// TestTheCheckOfCommandsSeesMistakes: what it is there for.
func TestTheCheckOfCommandsSeesMistakes(t *testing.T) {
	t.Setenv("HARK_HOME", t.TempDir())
	for _, line := range []string{"hark agent list", "hark runs lst", "hark nothing", "hark agents list --presnt", "ansible-vault encrpt x", "ansible-playbook --brokr x site.yml"} {
		found := commandsOf("page", 1, "$ x; "+line+" | less  # remark")
		if len(found) != 1 || strings.Join(found[0].words, " ") != line {
			t.Errorf("%s is read as %v", line, found)
		} else if askedForHelp(found[0].words) == "" {
			t.Errorf("%s is understood", line)
		}
	}
	for _, line := range []string{"hark runs list --failed", "ansible-vault view x", "hark run all -m ping --summary"} {
		if said := askedForHelp(strings.Fields(line)); said != "" {
			t.Errorf("%s: %s", line, said)
		}
	}
}

// helpOf is a command line that ends in a wish for help. A flag at the end that is only named gets a value that is a
// text and a time, unless it can have none.
func helpOf(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "-") && args[last] != "--version" {
		args = append(slices.Clone(args), "1h")
	}
	return append(slices.Clone(args), "--help")
}

// askedForHelp is what is wrong with a command of hark's under any of its names, "" if nothing is. The command is
// told beforehand that it is over, should it begin.
func askedForHelp(words []string) string {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	s := cli.ThisSystem()
	s.Args, s.In, s.Out, s.Err, s.Terminal, s.NoTTY = append(words[:1:1], helpOf(words[1:])...), strings.NewReader(""), &out, &out, nil, true
	code := cli.Main(ctx, s)
	return understood(words, out.String(), code == 0)
}

// understood returns what is wrong with a command that was asked for its help: "" if the help is of the command that
// its words name.
func understood(words []string, said string, ok bool) string {
	if !ok {
		return said
	}
	usage, _, _ := strings.Cut(said[max(0, strings.Index(strings.ToLower(said), "usage:")):], "[")
	path := strings.Fields(usage)
	if i := slices.Index(path, words[0]); i >= 0 {
		path = path[i:]
	}
	// A group of commands shows {which|there|are} and takes no other word.
	if group := strings.Contains(said, "commands:") || strings.Contains(said, "Available Commands:"); group && len(words) > len(path) && !strings.HasPrefix(words[len(path)], "-") {
		return "there is no command " + words[len(path)] + " of " + strings.Join(path, " ")
	}
	return ""
}

var (
	ours  = regexp.MustCompile(`^(hark|hark-agent|ansible|ansible-(playbook|inventory|vault|config|doc|pull|galaxy|console)|make)$`)
	ticks = regexp.MustCompile("`((?:hark|hark-agent|ansible-[a-z]+|make) [^`\n]+)`")
)

// typedInPages are the commands of ours in all pages.
func typedInPages(t *testing.T) []typed {
	t.Helper()
	var files []string
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/modules/*.md", "docs/decisions/*.md", "agent/wire/PROTOCOL.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var all []typed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, m := range ticks.FindAllStringSubmatch(line, -1) {
				all = append(all, commandsOf(page, i+1, m[1])...)
			}
		}
		for _, b := range pages.Blocks(string(text)) {
			prompted := strings.HasPrefix(b.Info, "console")
			for i, line := range b.Lines {
				text, prompt := strings.CutPrefix(line, "$ ")
				if prompt || !prompted {
					all = append(all, commandsOf(page, b.Line+i, text)...)
				}
			}
		}
	}
	return all
}

// commandsOf are the commands of ours in a line of a shell.
func commandsOf(page string, line int, text string) []typed {
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "# "), "- ")
	words, err := shlex.SplitComments(text)
	if err != nil {
		return nil // no line of a shell
	}
	var all []typed
	var now []string
	end := func() {
		if len(now) > 2 && now[0] == "ssh" {
			now = now[2:]
		}
		for len(now) > 0 && strings.Contains(now[0], "=") {
			now = now[1:]
		}
		if len(now) > 1 && ours.MatchString(now[0]) {
			all = append(all, typed{page, line, now})
		}
		now = nil
	}
	for i := 0; i < len(words); i++ {
		word, last := strings.CutSuffix(words[i], ";")
		switch {
		case word == "|" || word == "||" || word == "&&" || word == "&":
			end()
			continue
		case word == ">" || word == "<":
			i++
			continue
		case word == "" || strings.HasPrefix(word, "<") || strings.HasPrefix(word, ">"):
		default:
			now = append(now, word)
		}
		if last {
			end()
		}
	}
	end()
	return all
}

// makeTargets are the targets of the Makefile.
func makeTargets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z]+):`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

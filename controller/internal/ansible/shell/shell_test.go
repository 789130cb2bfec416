package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// script are the lines of a person, who ends the input after them; what he sees goes into out.
type script struct {
	lines []string
	out   *strings.Builder
}

func (s *script) Line(prompt string) (string, error) {
	s.out.WriteString(prompt)
	if len(s.lines) == 0 {
		return "", io.EOF
	}
	line := s.lines[0]
	s.lines = s.lines[1:]
	return line, nil
}

// play has a console answer lines, and gives what was seen and the tasks that were run.
func play(t *testing.T, lines ...string) (string, []Task) {
	t.Helper()
	var out strings.Builder
	var tasks []Task
	c := fresh()
	c.Lines = &script{lines: lines, out: &out}
	c.Say = func(text string) { fmt.Fprintln(&out, text) }
	c.Error = func(text string) { fmt.Fprintln(&out, "ERROR "+text) }
	c.Run = func(_ context.Context, t Task) error {
		tasks = append(tasks, t)
		if t.Args == "breaks" {
			return errors.New("it broke")
		}
		return nil
	}
	if err := c.Loop(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimPrefix(out.String(), "Welcome to the ansible console. Type help or ? to list commands.\n\n")
	return strings.TrimSuffix(text, "\nAnsible-console was exited.\n"), tasks
}

func fresh() *Shell {
	hosts := map[string][]string{"all": {"w1", "w2", "d1"}, "web": {"w1", "w2"}, "w1": {"w1"}}
	return &Shell{
		State:  State{Pattern: "all", RemoteUser: "me", Forks: 5},
		Hosts:  func(pattern string) ([]string, error) { return hosts[pattern], nil },
		Groups: func() []string { return []string{"web", "all"} },
		Known:  func(name string) bool { return name == "acme.x.mod" },
		Modules: []Module{
			{Name: "ansible.builtin.ping", Short: "Tells that a host answers.", Params: []Param{{"data", "what it answers"}}},
			{Name: "ansible.builtin.pip", Short: "Python packages."}, {Name: "community.general.ufw", Short: "A firewall."},
		},
	}
}

// TestLinesChangeHowTasksRun: what they say is what ansible-console 2.14.18 says for the same lines.
func TestLinesChangeHowTasksRun(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"list", "w1\nw2\nd1\nme@all (3)[f:5]$ "},
		{"list groups", "all\nweb\nme@all (3)[f:5]$ "},
		{"list x", "ERROR Invalid option passed to \"list\"\nList the hosts that were chosen; with `list groups` all " +
			"groups\nme@all (3)[f:5]$ "},
		{"cd web", "me@web (2)[f:5]$ "},
		{"cd nosuch", "no host matched\nme@all (3)[f:5]$ "},
		{"cd /", "me@all (3)[f:5]$ "},
		{"cd *", "me@all (3)[f:5]$ "},
		{"cd", "me@* (3)[f:5]$ "},
		{"forks 3", "me@all (3)[f:3]$ "},
		{"forks 0", "forks must be greater than or equal to 1\nme@all (3)[f:5]$ "},
		{"forks", "Usage: forks <number>\nme@all (3)[f:5]$ "},
		{"forks x", "ERROR forks wants a number, not \"x\"\nme@all (3)[f:5]$ "},
		{"verbosity 2", "verbosity level set to 2\nme@all (3)[f:5]$ "},
		{"verbosity", "Usage: verbosity <number>\nme@all (3)[f:5]$ "},
		{"become yes", "me@all (3)[f:5]# "},
		{"become maybe", "ERROR become wants yes or no, not \"maybe\"\nme@all (3)[f:5]$ "},
		{"become", "Please specify become value, e.g. `become yes`\nme@all (3)[f:5]$ "},
		{"check yes", "check mode changed to True\nme@all (3)[f:5]$ "},
		{"check", "Please specify check mode value, e.g. `check yes`\nme@all (3)[f:5]$ "},
		{"diff on", "diff mode changed to True\nme@all (3)[f:5]$ "},
		{"become_method su", "me@all (3)[f:5]$ "},
		{"become_user", "Please specify a user, e.g. `become_user jenkins`\nme@all (3)[f:5]$ "},
		{"collections a.b", "me@all (3)[f:5]$ "},
		{"remote_user joe", "joe@all (3)[f:5]$ "},
		{"timeout -1", "ERROR The timeout must be greater than or equal to 1, use 0 to disable\nme@all (3)[f:5]$ "},
		{"timeout", "Usage: timeout <seconds>\nme@all (3)[f:5]$ "},
		{"# a remark", "me@all (3)[f:5]$ "},
		{"", "me@all (3)[f:5]$ "},
		{"help frob", "*** No help on frob\nme@all (3)[f:5]$ "},
		{"? ping", "Tells that a host answers.\nParameters:\n  data what it answers\nme@all (3)[f:5]$ "},
		{"help forks", "How many hosts are at a task at once: forks NUMBER\nme@all (3)[f:5]$ "},
		{"exit", ""}, {"EOF", ""},
	} {
		if got, tasks := play(t, tc.line); got != "me@all (3)[f:5]$ "+tc.want || len(tasks) > 0 {
			t.Errorf("%s: %q, want %q; %v", tc.line, got, tc.want, tasks)
		}
	}
}

// TestHowThingsStandIsToldFromVerbosityOneOn, as by ansible-console 2.14.18.
func TestHowThingsStandIsToldFromVerbosityOneOn(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"become yes", "become changed to True\n"},
		{"check", "Please specify check mode value, e.g. `check yes`\ncheck mode is currently False.\n"},
		{"diff", "Please specify a diff value , e.g. `diff yes`\ndiff mode is currently False\n"},
		{"become_method su", "become_method changed to su\n"},
		{"become_method", "Please specify a become_method, e.g. `become_method su`\nCurrent become_method is \n"},
		{"become_user", "Please specify a user, e.g. `become_user jenkins`\nCurrent user is \n"},
		{"collections a.b, c.d", "Collections name search is set to: a.b, c.d\n"},
		{"collections none", "Collections name search is using defaults\n"},
	} {
		got, _ := play(t, "verbosity 1", tc.line)
		got = strings.TrimPrefix(got, "me@all (3)[f:5]$ verbosity level set to 1\nme@all (3)[f:5]$ ")
		if !strings.HasPrefix(got, tc.want+"me@all") {
			t.Errorf("%s: %q, want %q", tc.line, got, tc.want)
		}
	}
}

// TestShortNamesAreLookedForInCollectionsFirst and else are those of ansible.builtin, or commands.
func TestShortNamesAreLookedForInCollectionsFirst(t *testing.T) {
	_, tasks := play(t, "ufw state=enabled", "collections acme.x,community.general", "ufw state=enabled", "mod", "ping",
		"nosuch", "collections none", "mod")
	var got []string
	for _, task := range tasks {
		got = append(got, strings.TrimSpace(task.Module+" "+task.Args))
	}
	want := []string{"shell ufw state=enabled", "community.general.ufw state=enabled", "acme.x.mod", "ping",
		"shell nosuch", "shell mod"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestOtherLinesAreTasks: a module with its arguments, or else a command for the shell.
func TestOtherLinesAreTasks(t *testing.T) {
	_, tasks := play(t, "cd web", "become yes", "become_user joe", "forks 7", "timeout 9", "ping data=x",
		"community.general.ufw state=enabled", "acme.x.mod a=1",
		"!echo  hi | wc", "uptime -p", "ping breaks", "pip")
	want := []Task{
		{Module: "ping", Args: "data=x"}, {Module: "community.general.ufw", Args: "state=enabled"},
		{Module: "acme.x.mod", Args: "a=1"},
		{Module: "shell", Args: "echo  hi | wc"}, {Module: "shell", Args: "uptime -p"}, {Module: "ping", Args: "breaks"},
		{Module: "pip"},
	}
	for i := range want {
		want[i].State = State{Pattern: "web", RemoteUser: "me", Become: true, BecomeUser: "joe", Forks: 7, Timeout: 9}
	}
	if !slices.Equal(tasks, want) {
		t.Errorf("%+v\nwant\n%+v", tasks, want)
	}
}

// TestATaskThatBreaksEndsNothing and a pattern without hosts does.
func TestATaskThatBreaksEndsNothing(t *testing.T) {
	if out, tasks := play(t, "ping breaks", "ping"); !strings.Contains(out, "ERROR it broke\n") || len(tasks) != 2 {
		t.Errorf("%s, %v", out, tasks)
	}
	c := fresh()
	c.Pattern = "nosuch"
	if err := c.Loop(t.Context()); !errors.Is(err, ErrNoHosts) {
		t.Error(err)
	}
	var out strings.Builder
	c.Hosts = func(string) ([]string, error) { return nil, nil } // an inventory without hosts is no mistake of the pattern
	c.Lines, c.Say = &script{out: &out}, func(string) {}
	if err := c.Loop(t.Context()); err != nil || out.String() != "me@nosuch (0)[f:5]$ " {
		t.Errorf("%v, %q", err, out.String())
	}
}

func TestWordsAreCompleted(t *testing.T) {
	c := fresh()
	for _, tc := range []struct{ line, extended, left string }{
		{"ping d", "ping data=", ""}, {"pin", "ping ", ""}, {"pi", "pi", "ping pip"}, {"cd w", "cd w", "w1 w2 web"},
		{"cd we", "cd web ", ""},
		{"list g", "list groups ", ""}, {"check ", "check ", "no yes"}, {"comm", "community.general.ufw ", ""},
		{"zzz", "zzz", ""}, {"help fo", "help forks ", ""},
		{"become_", "become_", "become_method become_user"}, {"ufw s", "ufw s", ""},
	} {
		got, left := Extend(tc.line, c.Complete(tc.line))
		if got != tc.extended || strings.Join(left, " ") != tc.left {
			t.Errorf("%q: %q and %q, want %q and %q", tc.line, got, left, tc.extended, tc.left)
		}
	}
}

package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hark/modules/py/value"
)

// command is a word that is no task.
type command struct {
	name, help string
	do         func(c *Shell, arg string)
}

// commands returns all of them, by name.
func commands() []command {
	return []command{
		{"become", "Run tasks as another user, or no longer: become yes|no", (*Shell).become},
		{"become_method", "How tasks become another user: become_method METHOD", func(c *Shell, arg string) {
			c.text(&c.BecomeMethod, arg, "Please specify a become_method, e.g. `become_method su`", "Current become_method is ",
				"become_method changed to ")
		}},
		{"become_user", "Which user tasks become: become_user USER", func(c *Shell, arg string) {
			c.text(&c.BecomeUser, arg, "Please specify a user, e.g. `become_user jenkins`", "Current user is ", "")
		}},
		{"cd", "Choose the hosts of the next tasks: cd HOST|GROUP|PATTERN. Without a pattern, or with / or *, it is all",
			(*Shell).cd},
		{"check", "Have tasks tell what they would do, or do it: check yes|no", func(c *Shell, arg string) {
			c.flag(&c.Check, arg, "Please specify check mode value, e.g. `check yes`", "check mode is currently %s.",
				"check mode changed to ")
		}},
		{"collections", "Where modules with short names are looked for first: collections NAME,NAME; none is as before",
			(*Shell).collections},
		{"diff", "Show what tasks change in files, or not: diff yes|no", func(c *Shell, arg string) {
			c.flag(&c.Diff, arg, "Please specify a diff value , e.g. `diff yes`", "diff mode is currently %s",
				"diff mode changed to ")
		}},
		{"exit", "Leave the console, as Ctrl-D does", nil},
		{"forks", "How many hosts are at a task at once: forks NUMBER", (*Shell).forks},
		{"help", "List commands and modules, or tell of one: help NAME, ? NAME", (*Shell).help},
		{"list", "List the hosts that were chosen; with `list groups` all groups", (*Shell).list},
		{"remote_user", "As whom hosts are entered: remote_user USER", func(c *Shell, arg string) {
			c.text(&c.RemoteUser, arg, "Please specify a remote user, e.g. `remote_user root`", "", "")
		}},
		{"timeout", "Seconds that a task may take, 0 for no limit: timeout SECONDS", (*Shell).timeout},
		{"verbosity", "How much is told of tasks: verbosity NUMBER", (*Shell).verbosity},
	}
}

// find returns a command that does something.
func find(name string) (command, bool) {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name && c.do != nil })
	if i < 0 {
		return command{}, false
	}
	return all[i], true
}

func (c *Shell) become(arg string) {
	on, ok := value.BoolWord(arg)
	switch {
	case arg == "":
		c.Say("Please specify become value, e.g. `become yes`")
	case !ok:
		c.Error(fmt.Sprintf("become wants yes or no, not %q", arg))
	default:
		c.Become = on
		c.note("become changed to " + python(on))
	}
}

// note prints what is shown from verbosity 1 on.
func (c *Shell) note(text string) {
	if c.Verbosity > 0 {
		c.Say(text)
	}
}

// flag changes a setting that is on or off. Without an argument it says ask, and notes how it stands.
func (c *Shell) flag(on *bool, arg, ask, stands, changed string) {
	v, ok := value.BoolWord(arg)
	switch {
	case arg == "":
		c.Say(ask)
		c.note(fmt.Sprintf(stands, python(*on)))
	case !ok:
		c.Error(fmt.Sprintf("wanted is yes or no, not %q", arg))
	default:
		*on = v
		c.Say(changed + python(v))
	}
}

// text changes a setting that is text, and notes it if there are words for that. Without an argument it says ask, and
// notes how it stands.
func (c *Shell) text(v *string, arg, ask, stands, changed string) {
	words := changed
	if arg == "" {
		c.Say(ask)
		words = stands
	} else {
		*v = arg
	}
	if words != "" {
		c.note(words + *v)
	}
}

func (c *Shell) collections(arg string) {
	c.search = nil
	if arg == "" || arg == "none" || arg == "''" || arg == `""` {
		c.note("Collections name search is using defaults")
		return
	}
	for _, name := range strings.Split(arg, ",") {
		c.search = append(c.search, strings.TrimSpace(name))
	}
	c.note("Collections name search is set to: " + strings.Join(c.search, ", "))
}

func (c *Shell) cd(arg string) {
	shown := arg
	switch arg {
	case "":
		shown, arg = "*", "all"
	case "/", "*":
		shown, arg = "all", "all"
	}
	hosts, err := c.Hosts(arg)
	switch {
	case err != nil:
		c.Error(err.Error())
	case len(hosts) == 0:
		c.Say("no host matched")
	default:
		c.Pattern, c.selected = shown, hosts
	}
}

func (c *Shell) forks(arg string) {
	if arg == "" {
		c.Say("Usage: forks <number>")
		return
	}
	n, err := strconv.Atoi(arg)
	switch {
	case err != nil:
		c.Error(fmt.Sprintf("forks wants a number, not %q", arg))
	case n < 1:
		c.Say("forks must be greater than or equal to 1")
	default:
		c.Forks = n
	}
}

func (c *Shell) verbosity(arg string) {
	if arg == "" {
		c.Say("Usage: verbosity <number>")
		return
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		c.Error(fmt.Sprintf("The verbosity must be a valid integer, not %q", arg))
		return
	}
	c.Verbosity = n
	c.Say(fmt.Sprintf("verbosity level set to %d", n))
}

func (c *Shell) timeout(arg string) {
	if arg == "" {
		c.Say("Usage: timeout <seconds>")
		return
	}
	n, err := strconv.Atoi(arg)
	switch {
	case err != nil:
		c.Error(fmt.Sprintf("The timeout must be a valid positive integer, or 0 to disable, not %q", arg))
	case n < 0:
		c.Error("The timeout must be greater than or equal to 1, use 0 to disable")
	default:
		c.Timeout = n
	}
}

func (c *Shell) list(arg string) {
	switch arg {
	case "":
		c.Say(strings.Join(c.selected, "\n"))
	case "groups":
		groups := slices.Clone(c.Groups())
		slices.Sort(groups)
		c.Say(strings.Join(groups, "\n"))
	default:
		c.Error(`Invalid option passed to "list"`)
		c.help("list")
	}
}

func (c *Shell) help(arg string) {
	if arg == "" {
		c.overview()
		return
	}
	if i := slices.IndexFunc(commands(), func(x command) bool { return x.name == arg }); i >= 0 {
		c.Say(commands()[i].help)
		return
	}
	m, ok := c.module(arg)
	if !ok {
		c.Say("*** No help on " + arg)
		return
	}
	c.Say(m.Short)
	if len(m.Params) > 0 {
		c.Say("Parameters:")
	}
	for _, p := range m.Params {
		c.Say("  " + p.Name + " " + p.Doc)
	}
}

func (c *Shell) overview() {
	c.Say("Commands (help NAME tells more):")
	for _, x := range commands() {
		c.Say(fmt.Sprintf("  %-14s %s", x.name, x.help))
	}
	c.Say("  !COMMAND       Run a command in a shell of the hosts; so is any line that begins with no command and no " +
		"module")
	c.Say("\nModules (MODULE ARGUMENTS runs one):")
	for _, m := range c.Modules {
		c.Say("  " + m.Name)
	}
}

// python returns a truth as Python prints it.
func python(on bool) string {
	if on {
		return "True"
	}
	return "False"
}

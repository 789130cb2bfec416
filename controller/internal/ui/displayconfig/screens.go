// Package displayconfig makes what a command shows by the settings: the display with its colours and log, and the
// views of a run.
package displayconfig

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"hark/controller/config"
	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/runs/record"
	"hark/controller/internal/ui/terminal"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/modules/mask"
	"hark/modules/nss"
)

// Screens makes displays and views. It is for one call of the program.
type Screens struct {
	Settings *config.Config
	Console  *terminal.Console
	// Display is the one that was made last.
	Display *view.Display
	// Tagged is the tagged language, see view.DisplayOptions.
	Tagged bool
	// Hidden are texts that nobody may see, see view.DisplayOptions.
	Hidden *mask.Masker
	// Now is what the views take their time from; nil is the clock.
	Now func() time.Time

	// screen is the short name of the view that Views put on the screen: ansible-core 2.19 does not say that it skips
	// that one.
	screen string
	// log is the file of log_path, nil without one; opened by logger.
	log func(rank, text string)
}

// Run is what the flags of a run say of its views.
type Run struct {
	Check bool
	// Tree is where results are written, a file for each host; "" for what the settings say.
	Tree string
	// Flags are the options as -vvvv shows them.
	Flags []view.Flag
	// Origin returns where failures come from, see view.Options.
	Origin func(task string, s view.Spot) string
}

// Colored reports whether to print colours: on a terminal that has them, or when told to.
func (s *Screens) Colored() bool {
	switch {
	case s.Settings.Bool("ANSIBLE_FORCE_COLOR"):
		return true
	case s.Settings.Bool("ANSIBLE_NOCOLOR") || s.Console.Terminal == nil:
		return false
	}
	kind, _ := s.Settings.Getenv("TERM")
	return kind != "" && kind != "dumb"
}

// Open makes the display for a verbosity.
func (s *Screens) Open(verbosity int) (*view.Display, error) {
	o, err := s.display(verbosity)
	if err != nil {
		return nil, err
	}
	s.Display, err = view.NewDisplay(o)
	return s.Display, err
}

// Again makes the display for a run that is shown again.
func (s *Screens) Again(r record.Screen) (*view.Display, error) {
	o, err := s.display(r.Verbosity)
	if err != nil {
		return nil, err
	}
	o.NoDeprecations, o.VerboseToStderr, o.Tagged = r.NoDeprecations, r.VerboseToStderr, r.Tagged
	return view.NewDisplay(o)
}

// display returns the settings of a display.
func (s *Screens) display(verbosity int) (view.DisplayOptions, error) {
	palette := view.DefaultPalette()
	for role := range palette {
		palette[role] = s.Settings.Text("COLOR_" + strings.ToUpper(string(role)))
	}
	return view.DisplayOptions{
		Out: s.Console.Out, Err: s.Console.Err, Columns: s.Console.Width() - 1, Verbosity: verbosity, Colored: s.Colored(),
		Palette:        palette,
		NoDeprecations: !s.Settings.Bool("DEPRECATION_WARNINGS"), NoSystemWarnings: !s.Settings.Bool("SYSTEM_WARNINGS"),
		VerboseToStderr: s.Settings.Bool("VERBOSE_TO_STDERR"), Log: s.logger(), Tagged: s.Tagged, Hidden: s.Hidden,
		StatusLine: s.Console.Terminal != nil && s.Settings.Bool("HARK_STATUS_LINE"),
	}, nil
}

// Options returns the settings of the views.
func (s *Screens) Options(r Run) view.Options {
	const screen = "callback/default."
	now := s.Now
	if now == nil {
		now = time.Now
	}
	return view.Options{
		Display: s.Display.ForViews(), Now: now,
		Check: r.Check, CheckMarkers: s.Settings.Bool(screen + "check_mode_markers"),
		HideSkipped: !s.Settings.Bool("DISPLAY_SKIPPED_HOSTS"), HideOK: !s.Settings.Bool(screen + "display_ok_hosts"),
		FailedToStderr: s.Settings.Bool(screen + "display_failed_stderr"), CustomStats: s.Settings.Bool("SHOW_CUSTOM_STATS"),
		HostStarts: s.Settings.Bool(screen + "show_per_host_start"), PathOnFailure: s.Settings.Bool(screen +
			"show_task_path_on_failure"),
		ShowArgs: s.Settings.Bool("DISPLAY_ARGS_TO_STDOUT"), ResultFormat: s.Settings.Text(screen + "result_format"),
		Pretty: s.pretty(), Indent: s.indent(), YAMLWidth: s.yamlWidth(), HideIncluded: !s.Settings.Bool(screen +
			"display_included_hosts"), DiffContext: s.Settings.Int("DIFF_CONTEXT"),
		QuietResults: !s.Settings.Bool("ACTION_WARNINGS"),
		JSONIndent:   s.Settings.Int("callback/json.json_indent"), TreeDir: s.treeDir(r),
		LogDir: s.Settings.Text("callback/log_plays.log_folder"), JUnit: s.junitOptions(),
		Origin: r.Origin, Flags: r.Flags, ProfileLimit: s.profileLimit(),
		ProfileSort: s.Settings.Text("callback/profile_tasks.sort_order"),
	}
}

func (s *Screens) pretty() *bool {
	if b, ok := s.Settings.Get("callback/default.pretty_results").V.(bool); ok {
		return &b
	}
	return nil
}

func (s *Screens) indent() *int {
	n := s.Settings.Int("callback/default.result_indentation")
	return &n
}

// yamlWidth returns where lines of YAML are broken.
func (s *Screens) yamlWidth() int {
	switch s.Settings.Text("callback/default.result_yaml_line_width") {
	case "no-break":
		return -1
	case "terminal-width":
		return s.Display.Columns()
	}
	return 0
}

func (s *Screens) treeDir(r Run) string {
	if r.Tree != "" {
		return s.Settings.Abs(r.Tree)
	}
	return s.Settings.Text("callback/tree.directory")
}

func (s *Screens) profileLimit() int {
	n, _ := strconv.Atoi(s.Settings.Text("callback/profile_tasks.output_limit"))
	return n
}

func (s *Screens) junitOptions() view.JUnitOptions {
	const junit = "callback/junit."
	j := view.JUnitOptions{
		Dir: s.Settings.Text(junit + "output_dir"), RelativeTo: s.Settings.Text(junit + "task_relative_path"),
		ClassPerFile: s.Settings.Bool(junit + "task_class"), FailOnChange: s.Settings.Bool(junit + "fail_on_change"),
		FailOnIgnore: s.Settings.Bool(junit + "fail_on_ignore"), HideArgs: s.Settings.Bool(junit + "hide_task_arguments"),
		HideSetup: !s.Settings.Bool(junit + "include_setup_tasks_in_report"), Prefix: s.Settings.Text(junit +
			"test_case_prefix"),
	}
	if text, ok := s.Settings.Get(junit + "replace_out_of_tree_path").V.(string); ok {
		j.OutOfTree = &text
	}
	return j
}

// Views makes the view on the screen and those that are enabled beside it. A name that does not exist is an
// error for the screen and a warning for the others.
func (s *Screens) Views(screen string, r Run, more []string, beside ...view.View) (view.View, error) {
	vo := s.Options(r)
	first, err := view.New(screen, vo)
	s.screen = lastName(screen)
	var unknown *view.UnknownError
	if errors.As(err, &unknown) {
		return nil, ansibleerror.Errorf(dialect.CallbackNotFound.Format, screen)
	}
	if err != nil {
		return nil, err
	}
	first = s.OnScreen(first)
	all := append([]view.View{first}, s.OtherViews(more, vo)...)
	all = append(all, beside...)
	if len(all) == 1 {
		return first, nil
	}
	return view.All(all...), nil
}

// OnScreen returns the view on the screen, for a person if that is one.
func (s *Screens) OnScreen(v view.View) view.View {
	if s.Console.Terminal != nil {
		return view.OnTerminal(v)
	}
	return v
}

// OtherViews returns the views that are enabled beside the one on the screen, each once.
func (s *Screens) OtherViews(names []string, vo view.Options) []view.View {
	var views []view.View
	seen := map[string]bool{}
	for _, name := range append([]string{"default", "minimal", "oneline"}, names...) {
		short := lastName(name)
		if seen[short] || s.Tagged && short == s.screen {
			continue
		}
		seen[short] = true
		if view.OnScreen(name) {
			s.Display.Verbose(2, "", "Skipping callback '"+name+"', as we already have a stdout callback.")
			continue
		}
		v, err := view.New(name, vo)
		if err != nil {
			s.Display.Warn("Skipping callback plugin '" + name + "', unable to load")
			continue
		}
		views = append(views, v)
	}
	return views
}

// lastName returns the name of a callback without its collection.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// logger appends what is shown to the file of log_path, nil if there is none. One that cannot be written is a warning.
func (s *Screens) logger() func(rank, text string) {
	path := s.Settings.Text("DEFAULT_LOG_PATH")
	if path == "" || s.log != nil {
		return s.log
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		s.log = func(string, string) {}
		_, _ = io.WriteString(s.Console.Err, "[WARNING]: "+s.unwritable(path)+"\n")
		return s.log
	}
	name := s.user()
	s.log = func(rank, text string) {
		stamp := strings.Replace(time.Now().Format("2006-01-02 15:04:05.000"), ".", ",", 1)
		if !s.Tagged {
			rank = ""
		}
		_, _ = f.WriteString(stamp + " p=" + strconv.Itoa(os.Getpid()) + " u=" + name + " n=ansible " + rank + "| " + text +
			"\n")
	}
	return s.log
}

func (s *Screens) unwritable(path string) string {
	if !s.Tagged {
		return "log file at " + path + " is not writeable and we cannot create it, aborting\n"
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "DEFAULT_LOG_PATH can not be a directory '" + path + "', aborting"
	}
	return "log file at '" + path + "' is not writeable and we cannot create it, aborting\n"
}

// user is whose run it is, as the log has it: what the environment says goes first.
func (s *Screens) user() string {
	for _, name := range []string{"LOGNAME", "USER", "LNAME", "USERNAME"} {
		if text, _ := s.Settings.Getenv(name); text != "" {
			return text
		}
	}
	if u, err := nss.Current(); err == nil {
		return u.Name
	}
	return strconv.Itoa(os.Getuid())
}

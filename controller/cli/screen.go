package cli

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"hark/controller/internal/argparse"
	"hark/controller/internal/project"
	"hark/controller/internal/view"
)

// colored tells whether to print colours: on a terminal that has them, or when told to.
func (a *app) colored() bool {
	switch {
	case a.cfg.Bool("ANSIBLE_FORCE_COLOR"):
		return true
	case a.cfg.Bool("ANSIBLE_NOCOLOR") || a.term.Terminal == nil:
		return false
	}
	kind, _ := a.cfg.Getenv("TERM")
	return kind != "" && kind != "dumb"
}

// newDisplay makes the screen for a verbosity.
func (a *app) newDisplay(verbosity int) (*view.Display, error) {
	palette := view.DefaultPalette()
	for role := range palette {
		palette[role] = a.cfg.Text("COLOR_" + strings.ToUpper(string(role)))
	}
	log, err := a.logger()
	if err != nil {
		return nil, err
	}
	return view.NewDisplay(view.DisplayOptions{
		Out: a.term.Out, Err: a.term.Err, Columns: a.term.Width() - 1, Verbosity: verbosity, Colored: a.colored(), Palette: palette,
		NoDeprecations: !a.cfg.Bool("DEPRECATION_WARNINGS"), NoSystemWarnings: !a.cfg.Bool("SYSTEM_WARNINGS"),
		VerboseToStderr: a.cfg.Bool("VERBOSE_TO_STDERR"), Log: log,
		StatusLine: a.term.Terminal != nil && a.cfg.Bool("HARK_STATUS_LINE"),
	})
}

// viewOptions are the settings of the views.
func (a *app) viewOptions(o *project.Options) view.Options {
	const screen = "callback/default."
	return view.Options{
		Display: a.display, Now: time.Now,
		Check: o.Mode.Check, CheckMarkers: a.cfg.Bool(screen + "check_mode_markers"),
		HideSkipped: !a.cfg.Bool("DISPLAY_SKIPPED_HOSTS"), HideOK: !a.cfg.Bool(screen + "display_ok_hosts"),
		FailedToStderr: a.cfg.Bool(screen + "display_failed_stderr"), CustomStats: a.cfg.Bool("SHOW_CUSTOM_STATS"),
		HostStarts: a.cfg.Bool(screen + "show_per_host_start"), PathOnFailure: a.cfg.Bool(screen + "show_task_path_on_failure"),
		ShowArgs: a.cfg.Bool("DISPLAY_ARGS_TO_STDOUT"), ResultFormat: a.cfg.Text(screen + "result_format"),
		Pretty: a.pretty(), DiffContext: a.cfg.Int("DIFF_CONTEXT"), QuietResults: !a.cfg.Bool("ACTION_WARNINGS"),
		JSONIndent: a.cfg.Int("callback/json.json_indent"), TreeDir: a.treeDir(o), LogDir: a.cfg.Text("callback/log_plays.log_folder"), JUnit: a.junitOptions(),
		Flags: o.Shown, ProfileLimit: a.profileLimit(), ProfileSort: a.cfg.Text("callback/profile_tasks.sort_order"),
	}
}

func (a *app) pretty() *bool {
	if b, ok := a.cfg.Get("callback/default.pretty_results").V.(bool); ok {
		return &b
	}
	return nil
}

func (a *app) treeDir(o *project.Options) string {
	if o.Tree != "" {
		return a.cfg.Abs(o.Tree)
	}
	return a.cfg.Text("callback/tree.directory")
}

func (a *app) profileLimit() int {
	n, _ := strconv.Atoi(a.cfg.Text("callback/profile_tasks.output_limit"))
	return n
}

func (a *app) junitOptions() view.JUnitOptions {
	const junit = "callback/junit."
	j := view.JUnitOptions{
		Dir: a.cfg.Text(junit + "output_dir"), RelativeTo: a.cfg.Text(junit + "task_relative_path"),
		ClassPerFile: a.cfg.Bool(junit + "task_class"), FailOnChange: a.cfg.Bool(junit + "fail_on_change"),
		FailOnIgnore: a.cfg.Bool(junit + "fail_on_ignore"), HideArgs: a.cfg.Bool(junit + "hide_task_arguments"),
		HideSetup: !a.cfg.Bool(junit + "include_setup_tasks_in_report"), Prefix: a.cfg.Text(junit + "test_case_prefix"),
	}
	if text, ok := a.cfg.Get(junit + "replace_out_of_tree_path").V.(string); ok {
		j.OutOfTree = &text
	}
	return j
}

// views makes the view on the screen and those that are enabled beside it. A name that does not exist is an
// error for the screen and a warning for the others.
func (a *app) views(screen string, o *project.Options, more []string) (view.View, error) {
	vo := a.viewOptions(o)
	first, err := view.New(screen, vo)
	var unknown *view.UnknownError
	if errors.As(err, &unknown) {
		return nil, failf("Invalid callback for stdout specified: %s", screen)
	}
	if err != nil {
		return nil, err
	}
	first = a.onScreen(first)
	all := append([]view.View{first}, a.viewsBeside(more, vo)...)
	if a.name == "hark" {
		all = append(all, &hintView{app: a, tags: project.Split(o.Tags.Only)})
	}
	if len(all) == 1 {
		return first, nil
	}
	return view.All(all...), nil
}

// onScreen is the view on the screen, for a person if that is one.
func (a *app) onScreen(v view.View) view.View {
	if a.term.Terminal != nil {
		return view.OnTerminal(v)
	}
	return v
}

// viewsBeside are the views that are enabled beside the one on the screen, each once.
func (a *app) viewsBeside(names []string, vo view.Options) []view.View {
	var views []view.View
	seen := map[string]bool{}
	for _, name := range append([]string{"default", "minimal", "oneline"}, names...) {
		short := name[strings.LastIndex(name, ".")+1:]
		if seen[short] {
			continue
		}
		seen[short] = true
		if view.OnScreen(name) {
			a.display.Verbose(2, "", "Skipping callback '"+name+"', as we already have a stdout callback.")
			continue
		}
		v, err := view.New(name, vo)
		if err != nil {
			a.display.Warn("Skipping callback plugin '" + name + "', unable to load")
			continue
		}
		views = append(views, v)
	}
	return views
}

// logger appends what is shown to the file of log_path, nil if there is none.
func (a *app) logger() (func(string), error) {
	path := a.cfg.Text("DEFAULT_LOG_PATH")
	if path == "" || a.log != nil {
		return a.log, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, argparse.OptionsError("cannot write the log file: " + err.Error())
	}
	user, _ := a.cfg.Getenv("USER")
	a.log = func(text string) {
		stamp := strings.Replace(time.Now().Format("2006-01-02 15:04:05.000"), ".", ",", 1)
		_, _ = f.WriteString(stamp + " p=" + strconv.Itoa(os.Getpid()) + " u=" + user + " n=ansible | " + text + "\n")
	}
	return a.log, nil
}

package view

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Options are what a view may be told. The zero value of each field is Ansible's default, except Display and
// Now, which must be set.
type Options struct {
	// Display is where a view prints; several views of a run share it.
	Display *Display `json:"-"`
	// Now is the controller's clock, for the views that print times.
	Now func() time.Time `json:"-"`

	// Check is --check; CheckMarkers shows DRY RUN and [CHECK MODE].
	Check        bool `json:"check,omitempty"`
	CheckMarkers bool `json:"check_markers,omitempty"`
	// HideSkipped, HideOK, FailedToStderr, CustomStats, HostStarts, PathOnFailure and ShowArgs are
	// display_skipped_hosts=no, display_ok_hosts=no, display_failed_stderr, show_custom_stats,
	// show_per_host_start, show_task_path_on_failure and display_args_to_stdout.
	HideSkipped    bool `json:"hide_skipped,omitempty"`
	HideOK         bool `json:"hide_ok,omitempty"`
	FailedToStderr bool `json:"failed_to_stderr,omitempty"`
	CustomStats    bool `json:"custom_stats,omitempty"`
	HostStarts     bool `json:"host_starts,omitempty"`
	PathOnFailure  bool `json:"path_on_failure,omitempty"`
	ShowArgs       bool `json:"show_args,omitempty"`
	// ResultFormat is json ("") or yaml; Pretty is callback_format_pretty, nil when not set.
	ResultFormat string `json:"result_format,omitempty"`
	Pretty       *bool  `json:"pretty,omitempty"`
	// Indent is result_indentation, nil for 4. YAMLWidth is where lines of YAML are broken, 0 for 80, negative for
	// nowhere.
	Indent    *int `json:"indent,omitempty"`
	YAMLWidth int  `json:"yaml_width,omitempty"`
	// HideIncluded is display_included_hosts=no.
	HideIncluded bool `json:"hide_included,omitempty"`
	// DiffContext is the number of lines around a change.
	DiffContext int `json:"diff_context,omitempty"`
	// QuietResults keeps the warnings of module results back (action_warnings=no).
	QuietResults bool `json:"quiet_results,omitempty"`
	// Origin tells failures as ansible-core 2.19 does: it is the place of a spot of a task, which is at
	// file:line:column, and what stands there. Nil tells them as 2.14 does.
	Origin func(task string, s Spot) string `json:"-"`
	// Flags are the command line's options, shown at -vvvv.
	Flags []Flag `json:"flags,omitempty"`

	// JSONIndent is the indent of the json view; 0 and less is one line.
	JSONIndent int `json:"json_indent,omitempty"`
	// TreeDir is the directory of the tree view.
	TreeDir string `json:"-"`
	// LogDir is the directory of the log_plays view.
	LogDir string       `json:"-"`
	JUnit  JUnitOptions `json:"-"`
	// ProfileLimit is how many tasks profile_tasks lists, 0 all; ProfileSort is descending (""), ascending or none.
	ProfileLimit int    `json:"profile_limit,omitempty"`
	ProfileSort  string `json:"profile_sort,omitempty"`
}

// Spot is what an error is about: a task, if nothing is said.
type Spot struct {
	Text string `json:"text,omitempty"` // of a template that the task uses
	Key  string `json:"key,omitempty"`  // of the task or its arguments
	Name string `json:"name,omitempty"` // of a variable, where it is given a value
	File string `json:"file,omitempty"` // of the controller
	// Value: it is about what stands at Key. Var is the variable that Text is, with the keys to its value, and it is
	// about that value; of a loop's variable Item is which of the items it is, from 1.
	Value bool   `json:"value,omitempty"`
	Var   string `json:"var,omitempty"`
	Item  int    `json:"item,omitempty"`
}

// Flag is an option of the command line with its value as it is shown.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// constructors returns the views by the last part of their name; full names say whose they are.
func constructors() map[string]func(Options) (View, error) {
	return map[string]func(Options) (View, error){
		"default": newDefault, "minimal": newMinimal, "oneline": newOneline, "json": newJSON, "tree": newTree,
		"yaml": newYAML, "debug": newDebug, "skippy": newSkippy, "null": newNull, "unixy": newUnixy,
		"log_plays": newLogPlays,
		"timer":     newTimer, "profile_tasks": newProfileTasks, "profile_roles": newProfileRoles, "junit": newJUnit,
	}
}

// New makes the view of a name as it stands in ansible.cfg: short or full (community.general.yaml).
func New(name string, o Options) (View, error) {
	short := name[strings.LastIndex(name, ".")+1:]
	c, ok := constructors()[short]
	if !ok {
		return nil, &UnknownError{name}
	}
	return c(o)
}

// ShowsAll reports whether the view of a name shows the arguments of modules at any verbosity.
func ShowsAll(name string) bool {
	switch name[strings.LastIndex(name, ".")+1:] {
	case "json", "log_plays":
		return true
	}
	return false
}

// OnScreen reports whether the view of a name wants the screen for itself.
func OnScreen(name string) bool {
	switch name[strings.LastIndex(name, ".")+1:] {
	case "default", "minimal", "oneline", "yaml", "json", "debug", "skippy", "unixy", "null":
		return true
	}
	return false
}

// Brief reports whether the view of a name shows only the items of a loop, not its result as a whole, and no
// facts unless it is verbose.
func Brief(name string) bool {
	switch name[strings.LastIndex(name, ".")+1:] {
	case "default", "yaml", "debug", "skippy", "null", "timer", "profile_tasks", "profile_roles":
		return true
	}
	return false
}

// UnknownError is a view that does not exist.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no view %q; there are %s", e.Name, strings.Join(Names(), ", "))
}

// Names returns the short names of all views, sorted.
func Names() []string {
	var names []string
	for name := range constructors() {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

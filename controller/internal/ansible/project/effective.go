package project

import (
	"os"
	"slices"
	"strings"

	"hark/controller/config"
	"hark/controller/internal/ui/view"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/foreign"
	"hark/playbook/inventory"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Effective is what flags and settings say together; flags win. It reads nothing else.
type Effective struct {
	Settings *config.Config
	Options  *Options
}

// Sources returns the inventories of the flags, or those of the settings.
func (e Effective) Sources() []string {
	given := e.Options.Inventory.Sources
	if len(given) == 0 {
		return e.Settings.List("DEFAULT_HOST_LIST")
	}
	out := slices.Clone(given)
	for i, s := range given {
		if !strings.Contains(s, ",") && s != inventory.AgentsSource {
			out[i] = e.Settings.Abs(s)
		}
	}
	return out
}

// HashMerge reports whether variables that are mappings are merged.
func (e Effective) HashMerge() bool { return e.Settings.Text("DEFAULT_HASH_BEHAVIOUR") == "merge" }

// library returns the directories of modules: those of -M, the last one first, then those of the settings.
func (e Effective) library() []string {
	return append(ModuleDirs(e.Options, e.Settings.Abs), e.Settings.List("DEFAULT_MODULE_PATH")...)
}

// ModuleDirs returns the directories of -M, each as abs has it, the last one first.
func ModuleDirs(o *Options, abs func(string) string) []string {
	var dirs []string
	for _, paths := range o.ModulePath {
		var these []string
		for _, dir := range strings.Split(paths, ":") {
			these = append(these, abs(dir))
		}
		dirs = append(these, dirs...)
	}
	return dirs
}

// views returns the names of the views in use.
func (e Effective) views() []string {
	return append(e.Settings.List("CALLBACKS_ENABLED"), e.Settings.Text("DEFAULT_STDOUT_CALLBACK"))
}

// wholeResults reports whether a view is in use that shows the arguments of modules at any verbosity.
func (e Effective) wholeResults() bool { return slices.ContainsFunc(e.views(), view.ShowsAll) }

// BriefResults reports whether no view is in use that shows what came of a loop as a whole.
func (e Effective) BriefResults() bool {
	return !e.Options.AdHoc && e.Settings.Text("HARK_RECORD") != "full" &&
		!slices.ContainsFunc(e.views(), func(name string) bool { return !view.Brief(name) })
}

// collectionPaths returns the directories in which collections may lie, packages those of Python's packages on this
// machine.
func (e Effective) collectionPaths(packages []string) []string {
	paths := e.Settings.List("COLLECTIONS_PATHS")
	if e.Settings.Bool("COLLECTIONS_SCAN_SYS_PATH") {
		paths = append(slices.Clone(paths), packages...)
	}
	return paths
}

// pythonPackages returns the directories of Python's packages on this machine.
func pythonPackages() []string {
	home, _ := os.UserHomeDir()
	return foreign.PythonDirs(os.Getenv, home)
}

// tags and skipTags are those of the flags and of the settings together.
func (e Effective) tags(l plan.Level) []string {
	tags := e.both("TAGS_RUN", e.Options.Tags.Only)
	if e.Options.Tags.Listed && len(tags)+len(e.skipTags()) == 0 && l.Has(dialect.ListTagsNever) {
		return []string{"never", "all"}
	}
	return tags
}

func (e Effective) skipTags() []string { return e.both("TAGS_SKIP", e.Options.Tags.Skip) }

func (e Effective) both(setting string, given []string) []string {
	return Split(slices.Concat(e.Settings.List(setting), given))
}

// magicOptions returns the options that playbooks can see.
func (e Effective) magicOptions(l plan.Level) vars.Options {
	return vars.Options{
		Check: e.Options.Mode.Check, Diff: e.Options.Mode.Diff, Forks: e.Options.Forks.Number, Inventory: e.Sources(),
		Limit: e.Options.Inventory.Limit,
		Tags:  e.tags(l), SkipTags: e.skipTags(), Verbosity: e.Options.Verbosity, Level: l,
	}
}

// ConnectionVars returns what flags and settings say of connections, as tasks see it.
func (e Effective) ConnectionVars() *value.Dict {
	d := value.NewDict()
	d.Set("ansible_timeout", value.Int(e.Options.Connect.Timeout))
	d.Set("ansible_pipelining", value.Bool(e.Settings.Bool("ANSIBLE_PIPELINING")))
	d.Set("ansible_shell_executable", value.Str(e.Settings.Text("DEFAULT_EXECUTABLE")))
	d.Set("ansible_module_compression", value.Str(e.Settings.Text("DEFAULT_MODULE_COMPRESSION")))
	if e.Options.Connect.KeyFile != "" {
		d.Set("ansible_private_key_file", value.Str(e.Options.Connect.KeyFile))
	}
	if port := e.Settings.Int("DEFAULT_REMOTE_PORT"); port != 0 {
		d.Set("ansible_port", value.Int(port))
	}
	if e.Options.Passwords.Connection != "" {
		d.Set("ansible_password", value.UnsafeStr(e.Options.Passwords.Connection))
	}
	return d
}

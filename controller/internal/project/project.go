// Package project gathers what a run is made of before it runs: inventory, modules, plug-ins, templates and the compiler, by the flags and settings
// of a call. It reaches no host.
package project

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"

	"hark/controller/config"
	"hark/controller/internal/answer"
	"hark/controller/internal/plugins"
	"hark/controller/internal/said"
	"hark/controller/internal/view"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/foreign"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/syntax"
	"hark/playbook/vars"
	"hark/playbook/vault"
)

// Config is what a project is opened with.
type Config struct {
	Settings *config.Config
	Options  *Options
	Display  *view.Display
	Secrets  *vault.Secrets
	// Dir is the playbook's directory, where group_vars and host_vars may lie; "" for none.
	Dir string
	// Level is the language of the playbooks.
	Level plan.Level
	// Agents lists the agents of the fleet for the inventory -i hark:, Warn is told what the inventory has to say.
	Agents func(ctx context.Context) ([]inventory.Agent, error)
	Warn   func(text string)
}

// Project is what was gathered. It changes no more, but for what its compiler reads.
type Project struct {
	Config
	Loader    *syntax.Loader
	Extra     *value.Dict
	Inventory *inventory.Inventory
	Modules   *modules.Registry
	Templates templar.Options
	Compiler  *compile.Project
	Plugins   *plugins.Runner
	Actions   *plugins.Actions
}

// Open gathers a project.
func Open(ctx context.Context, c Config) (_ *Project, err error) {
	p := &Project{Config: c}
	if p.Modules, err = Registry(c.Settings, c.Display.Warn); err != nil {
		return nil, err
	}
	p.Loader = p.newLoader()
	if p.Extra, err = p.extraVars(); err != nil {
		return nil, err
	}
	p.Templates = templar.Options{
		Engine: engine(c.Level), BrokenConditions: c.Settings.Bool("ALLOW_BROKEN_CONDITIONALS"), Native: c.Settings.Bool("DEFAULT_JINJA2_NATIVE"), Warn: c.Display.Warn,
	}
	own := answer.Config{Secrets: c.Secrets, Warn: c.Display.Warn}
	p.Templates.Lookup, p.Templates.TemplateFile = answer.OwnLookup(own, c.Dir), answer.OwnTemplate(own, c.Dir)
	p.Templates.Extensions(c.Settings.List("DEFAULT_JINJA2_EXTENSIONS"))
	p.Templates.Plugins = p.Templates.Engine.WithPlugins(nil, nil, true)
	p.prepare()
	if p.Inventory, err = inventory.Load(ctx, p.inventoryOptions(c.Dir)); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Project) newLoader() *syntax.Loader {
	return &syntax.Loader{Secrets: p.Secrets, Warn: p.Display.Warn, Duplicates: p.Settings.Text("DUPLICATE_YAML_DICT_KEY"), Tagged: p.Level.Tagged()}
}

// Again is the project for one more run, with other options, over the inventory that was read.
func (p *Project) Again(o *Options, d *view.Display) *Project {
	q := *p
	q.Options, q.Display = o, d
	q.Loader = q.newLoader() // which knows no playbook yet
	q.prepare()
	return &q
}

// prepare makes what a run has for itself.
func (p *Project) prepare() {
	p.Templates.Plugin = answer.RunPlugin(func(ctx context.Context, c plugins.Call) (json.RawMessage, error) { return p.Plugins.Run(ctx, c) })
	cfg := p.compileConfig()
	p.Plugins = p.newPlugins(cfg)
	p.Actions = &plugins.Actions{Homes: cfg.PythonDirs, Collections: cfg.CollectionPaths}
	p.Compiler = compile.New(p.Loader, cfg)
	for kind, setting := range map[string]string{
		"action": "DEFAULT_ACTION_PLUGIN_PATH", "connection": "DEFAULT_CONNECTION_PLUGIN_PATH", "callback": "DEFAULT_CALLBACK_PLUGIN_PATH",
		"become": "BECOME_PLUGIN_PATH", "strategy": "DEFAULT_STRATEGY_PLUGIN_PATH",
	} {
		p.Compiler.PluginDirs(kind, p.Settings.List(setting))
	}
}

// engine compiles templates of a level.
func engine(l plan.Level) *templar.Engine {
	e := templar.NewEngine()
	if l.Tagged() {
		return e.Tagged()
	}
	return e
}

func (p *Project) inventoryOptions(dir string) inventory.Options {
	own := dir
	if p.Options.BaseDir == "" {
		own = ""
	}
	return inventory.Options{
		Sources: Sources(p.Settings, p.Options), Loader: p.Loader, PlaybookDir: dir, AssumedDir: own == "",
		VarsExtensions: p.Settings.List("YAML_FILENAME_EXTENSIONS"), YAMLExtensions: p.Settings.List("inventory/yaml.yaml_extensions"),
		UseExtra: p.Settings.Bool("inventory/constructed.use_extra_vars"),
		Plugins:  p.Settings.List("INVENTORY_ENABLED"), IgnoreExtensions: p.Settings.List("INVENTORY_IGNORE_EXTS"),
		IgnorePatterns: p.Settings.List("INVENTORY_IGNORE_PATTERNS"), HashMerge: p.HashMerge(),
		GroupChars: p.Settings.Text("TRANSFORM_INVALID_GROUP_CHARS"), FailUnparsed: p.Settings.Bool("INVENTORY_UNPARSED_IS_FAILED"),
		FailAnyUnparsed: p.Settings.Bool("INVENTORY_ANY_UNPARSED_IS_FAILED"), QuietUnparsed: !p.Settings.Bool("INVENTORY_UNPARSED_WARNING"),
		VarsPlugins: p.varsPlugins(own), FilesStage: p.filesStage(),
		Foreign: plugins.Inventory{Runner: p.Plugins, Book: own}, Agents: p.Agents, Mismatch: p.Settings.Text("HOST_PATTERN_MISMATCH"), Python: python(p.Plugins.Homes), Extra: p.Extra, Templates: p.Templates,
		Warn: p.Warn, Verbose: func(level int, text string) { p.Display.Verbose(level, "", text) },
	}
}

// Sources are the inventories of the flags, or those of the settings.
func Sources(settings *config.Config, o *Options) []string {
	if len(o.Inventory.Sources) == 0 {
		return settings.List("DEFAULT_HOST_LIST")
	}
	out := make([]string, len(o.Inventory.Sources))
	for i, s := range o.Inventory.Sources {
		out[i] = s
		if !strings.Contains(s, ",") && s != inventory.AgentsSource {
			out[i] = settings.Abs(s)
		}
	}
	return out
}

// HashMerge tells whether variables that are mappings are merged.
func (p *Project) HashMerge() bool { return p.Settings.Text("DEFAULT_HASH_BEHAVIOUR") == "merge" }

// python is what playbooks see as ansible_playbook_python: that of the ansible-core on this machine. hark needs none; modules and lookups of theirs may.
func python(packages []string) string {
	if path := plugins.Interpreter(packages); path != "" {
		return path
	}
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return "/usr/bin/python3"
}

// library are the directories of modules: those of -M, the last one first, then those of the settings.
func (p *Project) library() []string {
	return append(ModuleDirs(p.Options, p.Settings.Abs), p.Settings.List("DEFAULT_MODULE_PATH")...)
}

// ModuleDirs are the directories of -M, the last one first.
func ModuleDirs(o *Options, change func(string) string) []string {
	var dirs []string
	for _, paths := range o.ModulePath {
		var these []string
		for _, dir := range strings.Split(paths, ":") {
			these = append(these, change(dir))
		}
		dirs = append(these, dirs...)
	}
	return dirs
}

// views are the names of the views in use.
func (p *Project) views() []string {
	return append(p.Settings.List("CALLBACKS_ENABLED"), p.Settings.Text("DEFAULT_STDOUT_CALLBACK"))
}

// wholeResults tells whether a view is in use that shows the arguments of modules at any verbosity.
func (p *Project) wholeResults() bool { return slices.ContainsFunc(p.views(), view.ShowsAll) }

// BriefResults tells whether no view is in use that shows what came of a loop as a whole.
func (p *Project) BriefResults() bool {
	return !p.Options.AdHoc && p.Settings.Text("HARK_RECORD") != "full" && !slices.ContainsFunc(p.views(), func(name string) bool { return !view.Brief(name) })
}

// collectionPaths are the directories of Python's packages, and those in which collections may lie.
func (p *Project) collectionPaths() (packages, collections []string) {
	home, _ := os.UserHomeDir()
	packages = foreign.PythonDirs(os.Getenv, home)
	collections = p.Settings.List("COLLECTIONS_PATHS")
	if p.Settings.Bool("COLLECTIONS_SCAN_SYS_PATH") {
		collections = append(slices.Clone(collections), packages...)
	}
	return packages, collections
}

func (p *Project) compileConfig() compile.Config {
	packages, collections := p.collectionPaths()
	return compile.Config{
		Modules: p.Modules, Invocation: p.wholeResults(), Brief: p.BriefResults(), RolePaths: p.Settings.List("DEFAULT_ROLES_PATH"), CollectionPaths: collections,
		Library: p.library(), Utils: p.Settings.List("DEFAULT_MODULE_UTILS_PATH"), PythonDirs: packages,
		FilterPlugins: p.Settings.List("DEFAULT_FILTER_PLUGIN_PATH"), TestPlugins: p.Settings.List("DEFAULT_TEST_PLUGIN_PATH"),
		LookupPlugins: p.Settings.List("DEFAULT_LOOKUP_PLUGIN_PATH"), PluginNames: p.pluginNames,
		Templates: p.Templates, Lookups: isLookup(), LenientTasks: !p.Settings.Bool("INVALID_TASK_ATTRIBUTE_FAILED"),
		Tags: p.tags("TAGS_RUN", p.Options.Tags.Only), SkipTags: p.tags("TAGS_SKIP", p.Options.Tags.Skip), Extra: p.Extra, Options: p.magicOptions(),
		ConfigFile: p.Settings.File, Python: python(packages), Interpreter: p.Settings.Text("INTERPRETER_PYTHON"), ForModules: p.forModules(), FactsModules: p.Settings.List("FACTS_MODULES"), Keywords: p.keywords(), HashMerge: p.HashMerge(),
		Attach: p.ahead(), AttachModule: answer.AheadModule(func(s *plan.Step) ([]byte, error) { return p.Compiler.Pack(s) }),
		Level: p.Level, BrokenConditions: p.Templates.BrokenConditions, Native: p.Templates.Native, Extensions: p.Settings.List("DEFAULT_JINJA2_EXTENSIONS"), InjectFacts: p.Settings.Bool("INJECT_FACTS_AS_VARS"),
		Debugger: p.Settings.Bool("ENABLE_TASK_DEBUGGER"), DebugIgnored: !p.Settings.Bool("TASK_DEBUGGER_IGNORE_ERRORS"),
		IgnoreMissingHandlers: !p.Settings.Bool("ERROR_ON_MISSING_HANDLER"),
		PrivateRoleVars:       p.Settings.Bool("DEFAULT_PRIVATE_ROLE_VARS"), Warn: p.Display.Warn,
		Deprecate: p.Display.Deprecate, Version: p.Level.CoreVersion(),
		AnyCollection: p.Settings.Text("COLLECTIONS_ON_ANSIBLE_VERSION_MISMATCH") == "ignore",
		Verbose:       func(level int, text string) { p.Display.Verbose(level, "", text) },
	}
}

// ahead reads files that travel with plans.
func (p *Project) ahead() func(path, written string, told bool) (compile.Attachment, bool) {
	return answer.Ahead(answer.Config{Setting: p.Setting, Private: p.Settings.Text("HARK_HOME")})
}

// tags are those of the flags and of the setting together.
func (p *Project) tags(setting string, given []string) []string {
	return Split(append(append([]string(nil), p.Settings.List(setting)...), given...))
}

// magicOptions are the options that playbooks can see.
func (p *Project) magicOptions() vars.Options {
	return vars.Options{
		Check: p.Options.Mode.Check, Diff: p.Options.Mode.Diff, Forks: p.Options.Forks.Number, Inventory: Sources(p.Settings, p.Options), Limit: p.Options.Inventory.Limit,
		Tags: p.tags("TAGS_RUN", p.Options.Tags.Only), SkipTags: p.tags("TAGS_SKIP", p.Options.Tags.Skip), Verbosity: p.Options.Verbosity, Level: p.Level,
	}
}

// ConnectionVars are what flags and settings say of connections, as tasks see it.
func (p *Project) ConnectionVars() *value.Dict {
	d := value.NewDict()
	d.Set("ansible_timeout", value.Int(p.Options.Connect.Timeout))
	d.Set("ansible_pipelining", value.Bool(p.Settings.Bool("ANSIBLE_PIPELINING")))
	d.Set("ansible_shell_executable", value.Str(p.Settings.Text("DEFAULT_EXECUTABLE")))
	d.Set("ansible_module_compression", value.Str(p.Settings.Text("DEFAULT_MODULE_COMPRESSION")))
	if p.Options.Connect.KeyFile != "" {
		d.Set("ansible_private_key_file", value.Str(p.Options.Connect.KeyFile))
	}
	if port := p.Settings.Int("DEFAULT_REMOTE_PORT"); port != 0 {
		d.Set("ansible_port", value.Int(port))
	}
	if p.Options.Passwords.Connection != "" {
		d.Set("ansible_password", value.UnsafeStr(p.Options.Passwords.Connection))
	}
	return d
}

// Limit narrows the inventory to --limit and checks that something is left, as Ansible does before it runs.
func (p *Project) Limit(pattern string) ([]*inventory.Host, error) {
	empty := len(p.Inventory.Hosts()) == 0
	if empty && p.Settings.Bool("LOCALHOST_WARNING") && pattern != "localhost" && pattern != "127.0.0.1" && pattern != "::1" {
		p.Display.Warn("provided hosts list is empty, only localhost is available. Note that the implicit localhost does not match 'all'")
	}
	if p.Options.Inventory.Limit != "" {
		if err := p.Inventory.Limit(p.Options.Inventory.Limit); err != nil {
			return nil, err
		}
	}
	hosts, err := p.Inventory.Match(pattern)
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 && !empty {
		return nil, ErrNoHosts
	}
	return hosts, nil
}

var ErrNoHosts = said.Errorf("Specified inventory, host pattern and/or --limit leaves us with no hosts to target.")

// Playbooks reads the playbooks. All that is wrong with them is one error.
func (p *Project) Playbooks(names []string) ([]*compile.Playbook, error) {
	var books []*compile.Playbook
	var errs []error
	for _, name := range names {
		b, err := p.Compiler.Playbook(name)
		books, errs = append(books, b), append(errs, err)
	}
	return books, syntax.Join(errs...)
}

// Setting answers the lookup config.
func (p *Project) Setting(name string) (v value.Value, origin string, ok bool) {
	for _, s := range p.Settings.Values("") {
		if s.Setting.Name == name {
			return SettingValue(s.V), s.Origin, true
		}
	}
	return nil, "", false
}

// Where is the paragraph on a place in a playbook, file:line:column.
func (p *Project) Where(place string) string {
	at, ok := parsePlace(place)
	if !ok {
		return ""
	}
	text, err := os.ReadFile(at.File)
	if err != nil || vault.IsEncrypted(text) {
		text = nil
	}
	return syntax.Explain(at, text)
}

// Origin is the place of a spot of a task, which is at file:line:column, with what stands there.
func (p *Project) Origin(task string, s view.Spot) string {
	if s.File != "" {
		return "Origin: " + s.File
	}
	at, ok := parsePlace(task)
	if !ok {
		return "Origin: <unknown>"
	}
	if s.Text != "" {
		if at, ok = p.Loader.Find(s.Text, at); !ok {
			return "Origin: <unknown>\n\n" + s.Text
		}
	}
	if s.Key != "" {
		at = p.Loader.FindKey(s.Key, at)
	}
	content, err := os.ReadFile(at.File)
	if err != nil || vault.IsEncrypted(content) {
		content = nil
	}
	return syntax.Origin(at, content)
}

func parsePlace(text string) (syntax.Place, bool) {
	parts := strings.Split(text, ":")
	if len(parts) < 3 {
		return syntax.Place{}, false
	}
	line, err1 := strconv.Atoi(parts[len(parts)-2])
	column, err2 := strconv.Atoi(parts[len(parts)-1])
	file := strings.Join(parts[:len(parts)-2], ":")
	return syntax.Place{File: file, Line: line, Column: column}, err1 == nil && err2 == nil
}

// Hash encrypts a password as the filter password_hash does.
func (p *Project) Hash(plain, scheme, salt, ident string) (string, error) {
	local, call := value.NewDict(), "plain | password_hash(scheme"
	local.Set("plain", value.UnsafeStr(plain))
	local.Set("scheme", value.UnsafeStr(scheme))
	for name, v := range map[string]string{"salt": salt, "ident": ident} {
		if v != "" {
			local.Set(name, value.UnsafeStr(v))
			call += ", " + name + "=" + name
		}
	}
	v, err := templar.New(nil, p.Templates).With(local).Expr(context.Background(), call+")")
	if err != nil {
		return "", err
	}
	return value.ToStr(v)
}

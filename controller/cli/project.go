package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"

	"hark/controller/internal/answer"
	"hark/controller/internal/plugins"
	"hark/controller/internal/secrets"
	"hark/controller/internal/view"
	"hark/modules"
	"hark/playbook/compile"
	"hark/playbook/foreign"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
	"hark/playbook/syntax"
	"hark/playbook/vars"
	"hark/playbook/vault"
)

// project is what a run is made of before it runs: secrets, inventory, modules and the compiler, by the flags
// and settings of a call.
type project struct {
	*app
	o         *options
	secrets   *vault.Secrets
	loader    *syntax.Loader
	extra     *value.Dict
	inventory *inventory.Inventory
	modules   *modules.Registry
	templates templar.Options
	compiler  *compile.Project
	plugins   *plugins.Runner
	callbacks *plugins.Callbacks // those in Python, nil if there are none
	actions   *plugins.Actions
}

// open gathers the project. The directory is the playbook's, where group_vars and host_vars may lie.
func (a *app) open(ctx context.Context, o *options, dir string) (*project, error) {
	secrets, err := a.keeper().Vault(ctx, secrets.Need{IDs: o.vaultIDs, Files: o.vaultFiles, Ask: o.askVault})
	if err != nil {
		return nil, err
	}
	p := &project{app: a, o: o, secrets: secrets}
	if p.modules, err = a.registry(); err != nil {
		return nil, err
	}
	p.loader = &syntax.Loader{Secrets: secrets, Warn: a.display.Warn, Duplicates: a.cfg.Text("DUPLICATE_YAML_DICT_KEY")}
	if p.extra, err = a.extraVars(p.loader, o); err != nil {
		return nil, err
	}
	p.templates = templar.Options{
		Engine: templar.NewEngine(), Native: a.cfg.Bool("DEFAULT_JINJA2_NATIVE"), Warn: a.display.Warn,
		Lookup: answer.OwnLookup(answer.Config{Secrets: secrets, Warn: a.display.Warn}, dir),
	}
	p.templates.Extensions(a.cfg.List("DEFAULT_JINJA2_EXTENSIONS"))
	p.templates.Plugins = p.templates.Engine.WithPlugins(nil, nil, true)
	p.templates.Plugin = answer.RunPlugin(func(ctx context.Context, c plugins.Call) (json.RawMessage, error) { return p.plugins.Run(ctx, c) })
	cfg := p.compileConfig()
	p.plugins = p.newPlugins(cfg)
	p.actions = &plugins.Actions{Homes: cfg.PythonDirs, Collections: cfg.CollectionPaths}
	p.compiler = compile.New(p.loader, cfg)
	p.compiler.PluginDirs("action", p.cfg.List("DEFAULT_ACTION_PLUGIN_PATH"))
	p.compiler.PluginDirs("connection", p.cfg.List("DEFAULT_CONNECTION_PLUGIN_PATH"))
	p.compiler.PluginDirs("callback", p.cfg.List("DEFAULT_CALLBACK_PLUGIN_PATH"))
	if p.inventory, err = inventory.Load(ctx, p.inventoryOptions(dir)); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *project) inventoryOptions(dir string) inventory.Options {
	own := dir
	if p.o.baseDir == "" {
		own = ""
	}
	return inventory.Options{
		Sources: p.sources(), Loader: p.loader, PlaybookDir: dir, AssumedDir: own == "",
		VarsExtensions: p.cfg.List("YAML_FILENAME_EXTENSIONS"), YAMLExtensions: p.cfg.List("inventory/yaml.yaml_extensions"),
		UseExtra: p.cfg.Bool("inventory/constructed.use_extra_vars"),
		Plugins:  p.cfg.List("INVENTORY_ENABLED"), IgnoreExtensions: p.cfg.List("INVENTORY_IGNORE_EXTS"),
		IgnorePatterns: p.cfg.List("INVENTORY_IGNORE_PATTERNS"), HashMerge: p.hashMerge(),
		GroupChars: p.cfg.Text("TRANSFORM_INVALID_GROUP_CHARS"), FailUnparsed: p.cfg.Bool("INVENTORY_UNPARSED_IS_FAILED"),
		FailAnyUnparsed: p.cfg.Bool("INVENTORY_ANY_UNPARSED_IS_FAILED"), QuietUnparsed: !p.cfg.Bool("INVENTORY_UNPARSED_WARNING"),
		VarsPlugins: p.varsPlugins(own), FilesStage: p.filesStage(),
		Foreign: plugins.Inventory{Runner: p.plugins, Book: own}, Agents: p.agentHosts, Mismatch: p.cfg.Text("HOST_PATTERN_MISMATCH"), Python: p.python(), Extra: p.extra, Templates: p.templates,
		Warn: p.warnOf, Verbose: func(level int, text string) { p.display.Verbose(level, "", text) },
	}
}

func (p *project) sources() []string { return p.sourcesOf(p.o) }

// sourcesOf are the inventories of the flags, or those of the settings.
func (a *app) sourcesOf(o *options) []string {
	if len(o.inventories) == 0 {
		return a.cfg.List("DEFAULT_HOST_LIST")
	}
	out := make([]string, len(o.inventories))
	for i, s := range o.inventories {
		out[i] = s
		if !strings.Contains(s, ",") && s != inventory.AgentsSource {
			out[i] = a.cfg.Abs(s)
		}
	}
	return out
}

// ownAgents makes all agents that are there the inventory of hark's own commands where there is no other and there is a broker. Ansible's names know
// nothing of agents.
func (a *app) ownAgents(o *options) {
	if a.name != "hark" || len(o.inventories) > 0 || a.cfg.IsSet("DEFAULT_HOST_LIST") || o.ephemeral || o.broker == overSSH {
		return
	}
	if slices.ContainsFunc(a.cfg.List("DEFAULT_HOST_LIST"), exists) {
		return
	}
	if _, err := a.fleet.Access(o.broker); err == nil {
		o.inventories = []string{inventory.AgentsSource}
	}
}

func (p *project) hashMerge() bool { return p.cfg.Text("DEFAULT_HASH_BEHAVIOUR") == "merge" }

// python is what playbooks see as ansible_playbook_python. hark needs none; modules and lookups of theirs may.
func (p *project) python() string {
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return "/usr/bin/python3"
}

// library are the directories of modules: those of -M, the last one first, then those of the settings.
func (p *project) library() []string {
	return append(p.moduleDirs(p.o, p.cfg.Abs), p.cfg.List("DEFAULT_MODULE_PATH")...)
}

// moduleDirs are the directories of -M, the last one first.
func (a *app) moduleDirs(o *options, change func(string) string) []string {
	var dirs []string
	for _, paths := range o.modulePath {
		var these []string
		for _, dir := range strings.Split(paths, ":") {
			these = append(these, change(dir))
		}
		dirs = append(these, dirs...)
	}
	return dirs
}

// views are the names of the views in use.
func (p *project) views() []string {
	return append(p.cfg.List("CALLBACKS_ENABLED"), p.cfg.Text("DEFAULT_STDOUT_CALLBACK"))
}

// wholeResults tells whether a view is in use that shows the arguments of modules at any verbosity.
func (p *project) wholeResults() bool { return slices.ContainsFunc(p.views(), view.ShowsAll) }

// briefResults tells whether no view is in use that shows what came of a loop as a whole.
func (p *project) briefResults() bool {
	return !p.o.adHoc && !slices.ContainsFunc(p.views(), func(name string) bool { return !view.Brief(name) })
}

func (p *project) compileConfig() compile.Config {
	home, _ := os.UserHomeDir()
	packages := foreign.PythonDirs(os.Getenv, home)
	collections := p.cfg.List("COLLECTIONS_PATHS")
	if p.cfg.Bool("COLLECTIONS_SCAN_SYS_PATH") {
		collections = append(slices.Clone(collections), packages...)
	}
	return compile.Config{
		Modules: p.modules, Invocation: p.wholeResults(), Brief: p.briefResults(), RolePaths: p.cfg.List("DEFAULT_ROLES_PATH"), CollectionPaths: collections,
		Library: p.library(), Utils: p.cfg.List("DEFAULT_MODULE_UTILS_PATH"), PythonDirs: packages,
		FilterPlugins: p.cfg.List("DEFAULT_FILTER_PLUGIN_PATH"), TestPlugins: p.cfg.List("DEFAULT_TEST_PLUGIN_PATH"),
		LookupPlugins: p.cfg.List("DEFAULT_LOOKUP_PLUGIN_PATH"), PluginNames: p.pluginNames,
		Templates: p.templates, Lookups: isLookup(), LenientTasks: !p.cfg.Bool("INVALID_TASK_ATTRIBUTE_FAILED"),
		Tags: p.tags("TAGS_RUN", p.o.tags), SkipTags: p.tags("TAGS_SKIP", p.o.skipTags), Extra: p.extra, Options: p.magicOptions(),
		ConfigFile: p.cfg.File, Python: p.python(), Interpreter: p.cfg.Text("INTERPRETER_PYTHON"), FactsModules: p.cfg.List("FACTS_MODULES"), Keywords: p.keywords(), HashMerge: p.hashMerge(),
		Attach: p.ahead(), AttachModule: answer.AheadModule(func(s *plan.Step) ([]byte, error) { return p.compiler.Pack(s) }),
		Native: p.templates.Native, Extensions: p.cfg.List("DEFAULT_JINJA2_EXTENSIONS"), InjectFacts: p.cfg.Bool("INJECT_FACTS_AS_VARS"),
		Debugger: p.cfg.Bool("ENABLE_TASK_DEBUGGER"), DebugIgnored: !p.cfg.Bool("TASK_DEBUGGER_IGNORE_ERRORS"),
		IgnoreMissingHandlers: !p.cfg.Bool("ERROR_ON_MISSING_HANDLER"),
		PrivateRoleVars:       p.cfg.Bool("DEFAULT_PRIVATE_ROLE_VARS"), Warn: p.display.Warn,
		Deprecate: p.display.Deprecate, Version: ansibleVersion,
		AnyCollection: p.cfg.Text("COLLECTIONS_ON_ANSIBLE_VERSION_MISMATCH") == "ignore",
		Verbose:       func(level int, text string) { p.display.Verbose(level, "", text) },
	}
}

// ahead reads files that travel with plans.
func (p *project) ahead() func(path, written string, told bool) (compile.Attachment, bool) {
	return answer.Ahead(answer.Config{Setting: p.setting, Private: p.fleet.Home})
}

// tags are those of the flags and of the setting together.
func (p *project) tags(setting string, given []string) []string {
	return split(append(append([]string(nil), p.cfg.List(setting)...), given...))
}

// magicOptions are the options that playbooks can see.
func (p *project) magicOptions() vars.Options {
	return vars.Options{
		Check: p.o.check, Diff: p.o.diff, Forks: p.o.forks, Inventory: p.sources(), Limit: p.o.limit,
		Tags: p.tags("TAGS_RUN", p.o.tags), SkipTags: p.tags("TAGS_SKIP", p.o.skipTags), Verbosity: p.o.verbosity,
	}
}

// keywords are what flags and settings say of keywords that a playbook does not give.
func (p *project) keywords() *value.Dict {
	d := value.NewDict()
	text := func(keyword, v string) {
		if v != "" {
			d.Set(keyword, value.YAMLStr(v))
		}
	}
	flag := func(keyword string, on bool) {
		if on {
			d.Set(keyword, value.Bool(true))
		}
	}
	flag("become", p.o.become)
	text("become_user", p.o.becomeUser)
	if p.o.becomeUser == "" && p.cfg.IsSet("DEFAULT_BECOME_USER") {
		text("become_user", p.cfg.Text("DEFAULT_BECOME_USER"))
	}
	text("become_method", p.o.becomeMethod)
	text("become_flags", p.cfg.Text("DEFAULT_BECOME_FLAGS"))
	text("become_exe", p.cfg.Text("DEFAULT_BECOME_EXE"))
	text("remote_user", p.o.user)
	if p.o.connection != "smart" {
		text("connection", p.o.connection)
	}
	flag("check_mode", p.o.check)
	flag("diff", p.o.diff)
	flag("force_handlers", p.o.forceHandlers)
	flag("any_errors_fatal", p.cfg.Bool("ANY_ERRORS_FATAL"))
	flag("no_log", p.cfg.Bool("DEFAULT_NO_LOG"))
	if s := p.cfg.Text("DEFAULT_STRATEGY"); s != "linear" {
		text("strategy", s)
	}
	text("fact_path", p.cfg.Text("DEFAULT_FACT_PATH"))
	for keyword, setting := range map[string]string{"timeout": "TASK_TIMEOUT", "gather_timeout": "DEFAULT_GATHER_TIMEOUT"} {
		if n := p.cfg.Int(setting); n > 0 {
			d.Set(keyword, value.Int(n))
		}
	}
	if n := p.o.taskTimeout; n > 0 {
		d.Set("timeout", value.Int(n))
	}
	if p.cfg.IsSet("DEFAULT_POLL_INTERVAL") {
		d.Set("poll", value.Int(p.cfg.Int("DEFAULT_POLL_INTERVAL")))
	}
	if subset := p.cfg.List("DEFAULT_GATHER_SUBSET"); len(subset) > 0 {
		d.Set("gather_subset", goValue(subset))
	}
	return d
}

// connectionVars are what flags and settings say of connections, as tasks see it.
func (p *project) connectionVars() *value.Dict {
	d := value.NewDict()
	d.Set("ansible_timeout", value.Int(p.o.timeout))
	d.Set("ansible_pipelining", value.Bool(p.cfg.Bool("ANSIBLE_PIPELINING")))
	d.Set("ansible_shell_executable", value.Str(p.cfg.Text("DEFAULT_EXECUTABLE")))
	d.Set("ansible_module_compression", value.Str(p.cfg.Text("DEFAULT_MODULE_COMPRESSION")))
	if p.o.privateKey != "" {
		d.Set("ansible_private_key_file", value.Str(p.o.privateKey))
	}
	if port := p.cfg.Int("DEFAULT_REMOTE_PORT"); port != 0 {
		d.Set("ansible_port", value.Int(port))
	}
	if p.o.passwords.Connection != "" {
		d.Set("ansible_password", value.UnsafeStr(p.o.passwords.Connection))
	}
	return d
}

// limit narrows the inventory to --limit and checks that something is left, as Ansible does before it runs.
func (p *project) limit(pattern string) ([]*inventory.Host, error) {
	empty := len(p.inventory.Hosts()) == 0
	if empty && p.cfg.Bool("LOCALHOST_WARNING") && pattern != "localhost" && pattern != "127.0.0.1" && pattern != "::1" {
		p.display.Warn("provided hosts list is empty, only localhost is available. Note that the implicit localhost does not match 'all'")
	}
	if p.o.limit != "" {
		if err := p.inventory.Limit(p.o.limit); err != nil {
			return nil, err
		}
	}
	hosts, err := p.inventory.Match(pattern)
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 && !empty {
		return nil, errNoHosts
	}
	return hosts, nil
}

var errNoHosts = failf("Specified inventory, host pattern and/or --limit leaves us with no hosts to target.")

// playbooks reads the playbooks. All that is wrong with them is one error.
func (p *project) playbooks(names []string) ([]*compile.Playbook, error) {
	var books []*compile.Playbook
	var errs []error
	for _, name := range names {
		b, err := p.compiler.Playbook(name)
		books, errs = append(books, b), append(errs, err)
	}
	return books, syntax.Join(errs...)
}

// setting answers the lookup config.
func (p *project) setting(name string) (v value.Value, origin string, ok bool) {
	for _, s := range p.cfg.Values("") {
		if s.Setting.Name == name {
			return goValue(s.V), s.Origin, true
		}
	}
	return nil, "", false
}

// where is the paragraph on a place in a playbook, file:line:column.
func (p *project) where(place string) string {
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

// hash encrypts a password as the filter password_hash does.
func (p *project) hash(plain, scheme, salt, ident string) (string, error) {
	local, call := value.NewDict(), "plain | password_hash(scheme"
	local.Set("plain", value.UnsafeStr(plain))
	local.Set("scheme", value.UnsafeStr(scheme))
	for name, v := range map[string]string{"salt": salt, "ident": ident} {
		if v != "" {
			local.Set(name, value.UnsafeStr(v))
			call += ", " + name + "=" + name
		}
	}
	v, err := templar.New(nil, p.templates).With(local).Expr(context.Background(), call+")")
	if err != nil {
		return "", err
	}
	return value.ToStr(v)
}

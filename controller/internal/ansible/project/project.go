// Package project gathers what a run is made of before it runs: inventory, modules, plug-ins, templates and the
// compiler, by the flags and settings of a call. It reaches no host.
package project

import (
	"context"
	"encoding/json"
	"os"

	"hark/controller/internal/ansible/ansibleerror"
	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/duties/checkout"
	"hark/controller/internal/play/answer"
	"hark/controller/internal/ui/view"
	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/localtime"
	"hark/modules/py/value"
	"hark/playbook/compile"
	"hark/playbook/inventory"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/syntax"
	"hark/playbook/vault"
)

// Config is what a project is opened with.
type Config struct {
	Effective
	Display *view.Display
	Secrets *vault.Secrets
	// Dir is the playbook's directory, where group_vars and host_vars may lie; "" for none.
	Dir string
	// Level is the language of the playbooks.
	Level plan.Level
	// Agents lists the agents of the fleet for the inventory -i hark:, Warn gets the inventory's warnings.
	Agents func(ctx context.Context) ([]inventory.Agent, error)
	Warn   func(text string)
	// Facts returns what knows the facts that are kept of hosts, for a project that has no inventory yet; nil for none.
	Facts func(p *Project) func(host string) *value.Dict
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

	kept func(host string) *value.Dict
}

// Open gathers a project.
func Open(ctx context.Context, c Config) (_ *Project, err error) {
	p := &Project{Config: c}
	if p.Modules, err = Registry(c.Settings, c.Level, c.Display.Warn); err != nil {
		return nil, err
	}
	p.Loader = p.newLoader()
	if p.Extra, err = p.extraVars(p.Loader); err != nil {
		return nil, err
	}
	p.Templates = templates(c)
	p.prepare()
	if c.Facts != nil {
		p.kept = c.Facts(p)
	}
	if p.Inventory, err = inventory.Load(ctx, p.inventoryOptions(c.Dir)); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Project) newLoader() *syntax.Loader {
	return &syntax.Loader{
		Secrets: p.Secrets, Warn: p.Display.Warn, Deprecate: p.Display.Deprecate,
		Duplicates: p.Settings.Text("DUPLICATE_YAML_DICT_KEY"),
		Level:      p.Level,
	}
}

// Again returns the project for one more run, with other options, over the inventory that was read.
func (p *Project) Again(o *Options, d *view.Display) *Project {
	q := *p
	q.Options, q.Display = o, d
	q.Loader = q.newLoader() // which knows no playbook yet
	q.prepare()
	return &q
}

// prepare makes what a run has for itself.
func (p *Project) prepare() {
	p.Templates.Plugin = answer.RunPlugin(func(ctx context.Context, c plugins.Call) (json.RawMessage,
		error) {
		return p.Plugins.Run(ctx, c)
	})
	cfg := p.compileConfig()
	p.Plugins = p.newPlugins(cfg)
	p.Actions = &plugins.Actions{Homes: cfg.PythonDirs, Collections: cfg.CollectionPaths}
	p.Compiler = compile.New(p.Loader, cfg)
	for kind, setting := range map[string]string{
		"action": "DEFAULT_ACTION_PLUGIN_PATH", "connection": "DEFAULT_CONNECTION_PLUGIN_PATH",
		"callback": "DEFAULT_CALLBACK_PLUGIN_PATH",
		"become":   "BECOME_PLUGIN_PATH", "strategy": "DEFAULT_STRATEGY_PLUGIN_PATH",
	} {
		p.Compiler.PluginDirs(kind, p.Settings.List(setting))
	}
}

// templates returns how a project renders: lookups of this machine, and no plug-ins in Python yet.
func templates(c Config) templar.Options {
	own := answer.Config{Secrets: c.Secrets, Warn: c.Display.Warn}
	o := templar.Options{
		Engine: templar.NewEngine().At(c.Level), BrokenConditions: c.Settings.Bool("ALLOW_BROKEN_CONDITIONALS"),
		Native: c.Settings.Bool("DEFAULT_JINJA2_NATIVE"), Warn: c.Display.Warn,
		Lookup: answer.OwnLookup(own, c.Dir), TemplateFile: answer.OwnTemplate(own, c.Dir),
	}
	if hidden := c.Display.Hidden(); hidden != nil {
		o.Secrets = hidden
	}
	o.Extensions(c.Settings.List("DEFAULT_JINJA2_EXTENSIONS"))
	o.Plugins = o.Engine.WithPlugins(nil, nil, true)
	return o
}

// outgoing returns the variables that the language has and a later one will not; facts are, unless somebody has set
// that they are variables.
func (p *Project) outgoing() plan.Outgoing {
	return plan.Outgoing{Vars: p.Level.Has(dialect.VarsDict), Facts: p.Level.Has(dialect.FactsInjected) &&
		p.Settings.Get("INJECT_FACTS_AS_VARS").Origin == "default"}
}

func (p *Project) inventoryOptions(dir string) inventory.Options {
	own := dir
	if p.Options.BaseDir == "" {
		own = ""
	}
	return inventory.Options{
		Sources: p.Sources(), Loader: p.Loader, PlaybookDir: dir, AssumedDir: own == "",
		VarsExtensions: p.Settings.List("YAML_FILENAME_EXTENSIONS"),
		YAMLExtensions: p.Settings.List("inventory/yaml.yaml_extensions"),
		UseExtra:       p.Settings.Bool("inventory/constructed.use_extra_vars"),
		Plugins:        p.Settings.List("INVENTORY_ENABLED"), IgnoreExtensions: p.Settings.List("INVENTORY_IGNORE_EXTS"),
		IgnorePatterns: p.Settings.List("INVENTORY_IGNORE_PATTERNS"), HashMerge: p.HashMerge(),
		GroupChars:      p.Settings.Text("TRANSFORM_INVALID_GROUP_CHARS"),
		FailUnparsed:    p.Settings.Bool("INVENTORY_UNPARSED_IS_FAILED"),
		FailAnyUnparsed: p.Settings.Bool("INVENTORY_ANY_UNPARSED_IS_FAILED"),
		QuietUnparsed:   !p.Settings.Bool("INVENTORY_UNPARSED_WARNING"),
		VarsPlugins:     p.varsPlugins(own), FilesStage: p.filesStage(),
		Foreign: plugins.Inventory{Runner: p.Plugins,
			Book: own}, Agents: p.Agents, Mismatch: p.Settings.Text("HOST_PATTERN_MISMATCH"), Python: python(p.Plugins.Homes),
		Extra: p.Extra, Facts: p.kept, Templates: p.Templates,
		Warn: p.Warn, Verbose: func(level int, text string) { p.Display.Verbose(level, "", text) },
	}
}

// python returns what playbooks see as ansible_playbook_python: that of the ansible-core on this machine. hark needs
// none; modules and lookups of theirs may.
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

// Private are hark's own files. A keeper's checkouts lie among them, and are the project's.
func (p *Project) Private() answer.Private {
	home := p.Settings.Text("HARK_HOME")
	return answer.Private{Dir: home, Key: p.Settings.Text("HARK_OPERATOR_KEY"), Checkout: checkout.Root(home, p.Dir)}
}

func (p *Project) compileConfig() compile.Config {
	packages := pythonPackages()
	return compile.Config{
		Modules: p.Modules, Invocation: p.wholeResults(), Brief: p.BriefResults(),
		RolePaths: p.Settings.List("DEFAULT_ROLES_PATH"), CollectionPaths: p.collectionPaths(packages),
		Library: p.library(), Utils: p.Settings.List("DEFAULT_MODULE_UTILS_PATH"), PythonDirs: packages,
		FilterPlugins: p.Settings.List("DEFAULT_FILTER_PLUGIN_PATH"),
		TestPlugins:   p.Settings.List("DEFAULT_TEST_PLUGIN_PATH"),
		LookupPlugins: p.Settings.List("DEFAULT_LOOKUP_PLUGIN_PATH"), PluginNames: p.pluginNames,
		Templates: p.Templates, Lookups: isLookup(), LenientTasks: !p.Settings.Bool("INVALID_TASK_ATTRIBUTE_FAILED"),
		Tags: p.tags(p.Level), SkipTags: p.skipTags(), Extra: p.Extra, Options: p.magicOptions(p.Level),
		ConfigFile: p.Settings.File, Python: python(packages), Interpreter: p.Settings.Text("INTERPRETER_PYTHON"),
		ForModules: p.forModules(), FactsModules: p.Settings.List("FACTS_MODULES"), Keywords: p.keywords(),
		HashMerge: p.HashMerge(),
		Attach: answer.Ahead(answer.Config{Setting: ConfigLookup{p.Settings}.Setting,
			Private: p.Private()}), AttachModule: answer.AheadModule(func(s *plan.Step) ([]byte, error) {
			return p.Compiler.Pack(s)
		}),
		Level: p.Level, BrokenConditions: p.Templates.BrokenConditions, Native: p.Templates.Native,
		Extensions: p.Settings.List("DEFAULT_JINJA2_EXTENSIONS"), InjectFacts: p.Settings.Bool("INJECT_FACTS_AS_VARS"),
		Outgoing: p.outgoing(), Zone: localtime.Data(), AnyText: !p.Settings.Bool("MODULE_STRICT_UTF8_RESPONSE"),
		Debugger: p.Settings.Bool("ENABLE_TASK_DEBUGGER"), DebugIgnored: !p.Settings.Bool("TASK_DEBUGGER_IGNORE_ERRORS"),
		IgnoreMissingHandlers: !p.Settings.Bool("ERROR_ON_MISSING_HANDLER"),
		PrivateRoleVars:       p.Settings.Bool("DEFAULT_PRIVATE_ROLE_VARS"), Warn: p.Display.Warn,
		Deprecate: p.Display.Deprecate, Version: p.Level.CoreVersion(),
		AnyCollection: p.Settings.Text("COLLECTIONS_ON_ANSIBLE_VERSION_MISMATCH") == "ignore",
		Verbose:       func(level int, text string) { p.Display.Verbose(level, "", text) },
	}
}

// Limit narrows the inventory to --limit and checks that something is left, as Ansible does before it runs.
func (p *Project) Limit(pattern string) ([]*inventory.Host, error) {
	all, err := p.Inventory.Match("all") // without those of a file that could not be read to its end
	if err != nil {
		return nil, err
	}
	empty := len(all) == 0
	if empty && p.Settings.Bool("LOCALHOST_WARNING") && pattern != "localhost" && pattern != "127.0.0.1" &&
		pattern != "::1" {
		p.Display.Warn(
			"provided hosts list is empty, only localhost is available. Note that the implicit localhost does not match 'all'")
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

var ErrNoHosts = ansibleerror.Errorf(
	"Specified inventory, host pattern and/or --limit leaves us with no hosts to target.")

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

// Hash encrypts a password as the filter password_hash does, with the templates of the project. A salt or ident of ""
// is not given.
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
	v, err := templar.New(nil, p.Templates).With(local).Expr(context.Background(), value.SourceText(call+")"))
	if err != nil {
		return "", err
	}
	return value.ToStr(v)
}

package builtin

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type dnfArgs struct {
	AllowDowngrade  bool     `arg:"allow_downgrade,default=no" doc:"Allow an older version."`
	AllowErasing    bool     `arg:"allowerasing,default=no" doc:"Allow to remove what stands in the way."`
	Autoremove      bool     `arg:"autoremove,default=no" doc:"Remove what nothing needs any more."`
	Best            *bool    `arg:"best,since=2.17" doc:"Whether only the newest version will do."`
	Bugfix          bool     `arg:"bugfix,default=no" doc:"With latest: only what fixes bugs."`
	CacheOnly       bool     `arg:"cacheonly,default=no" doc:"Use only what was fetched before."`
	ConfFile        *string  `arg:"conf_file" doc:"Another configuration of dnf."`
	DisableExcludes *string  `arg:"disable_excludes" doc:"Excludes to ignore: all, main or a repository's id."`
	NoGPGCheck      bool     `arg:"disable_gpg_check,default=no" doc:"Install what is not signed."`
	DisablePlugin   []string `arg:"disable_plugin,default=" doc:"Plugins to leave out."`
	DisableRepo     []string `arg:"disablerepo,default=" doc:"Repositories to leave out."`
	DownloadOnly    bool     `arg:"download_only,default=no" doc:"Fetch packages, install nothing."`
	DownloadDir     *string  `arg:"download_dir" doc:"Where to put what is fetched."`
	EnablePlugin    []string `arg:"enable_plugin,default=" doc:"Plugins to use."`
	EnableRepo      []string `arg:"enablerepo,default=" doc:"Repositories to use."`
	Exclude         []string `arg:"exclude,default=" doc:"Packages to leave as they are."`
	InstallRoot     string   `arg:"installroot,default=/" doc:"The root of the system to change."`
	Repoquery       bool     `arg:"install_repoquery,until=2.20,default=yes" doc:"Of no meaning any more."`
	WeakDeps        bool     `arg:"install_weak_deps,default=yes" doc:"Whether to install what packages recommend."`
	List            *string  `arg:"list" doc:"Tell packages instead: installed, updates, available, repos, or a spec."`
	LockTimeout     int      `arg:"lock_timeout,default=30" doc:"Seconds to wait for another dnf."`
	Name            []string `arg:"name,alias=pkg,default=" doc:"Packages: name, name-version, @group, file or address; * with latest is all."`
	NoBest          *bool    `arg:"nobest,default=no" doc:"Whether an older version will do."`
	ReleaseVer      *string  `arg:"releasever" doc:"Release to install from."`
	Security        bool     `arg:"security,default=no" doc:"With latest: only what closes security holes."`
	SkipBroken      bool     `arg:"skip_broken,default=no" doc:"Leave out what cannot be installed."`
	SSLVerify       bool     `arg:"sslverify,default=yes" doc:"Check TLS certificates of repositories."`
	State           *string  `arg:"state,choices=absent|installed|latest|present|removed" doc:"What shall be; present by itself, absent with autoremove."`
	UpdateCache     bool     `arg:"update_cache,alias=expire-cache,default=no" doc:"Fetch the lists again first."`
	UpdateOnly      bool     `arg:"update_only,default=no" doc:"With latest: install nothing that is not installed."`
	Validate        bool     `arg:"validate_certs,default=yes" doc:"Check TLS certificates of packages that have an address."`
	UseBackend      string   `arg:"use_backend,default=auto,choices=auto|dnf|yum|yum4|dnf4|dnf5" doc:"dnf4, dnf5 or yum; found out by itself."`
	AutoInstall     bool     `arg:"auto_install_module_deps,since=2.19,default=yes" doc:"Of no meaning here: no Python is needed."`
}

// Dnf is ansible.builtin.dnf.
var Dnf = dnfModule("ansible.builtin.dnf", "Manages packages with the dnf package manager", "dnf", "dnf5", "yum")

// dnfModule declares one of the modules; programs are those that do its work, the first that the host has.
func dnfModule(name, doc string, programs ...string) *modules.Module {
	short := name[strings.LastIndexByte(name, '.')+1:]
	return modules.Define(name, doc,
		func(ctx context.Context, env *modules.Env, a dnfArgs) (modules.Result, error) {
			d := &dnf{ctx: ctx, env: env, args: a}
			return d.run(programs)
		},
		modules.Operands("name", "list"),
		modules.StartsInCheck("dnf*", "microdnf", "rpm", "yum", "python*", "platform-python*"),
		modules.WithRules(modules.Rules{
			OneOf: [][]string{{"name", "list", "update_cache"}}, Exclusive: [][]string{{"name", "list"}},
		}),
		modules.WithParam("use_backend", func(p *modules.Param) {
			switch short {
			case "dnf":
				p.Since = "2.15"
			case "dnf5":
				p.Extra = true
			}
		}),
		modules.From(dialect.ModuleOptions219, func(s *modules.Spec) {
			s.Rules.Exclusive = [][]string{{"name", "list"}, {"best", "nobest"}}
			s.Param("nobest").Default = nil
			if !s.Release.Has(dialect.OptionsGone220) {
				s.Param("install_repoquery").Removed = "2.20"
			}
		}),
		modules.With(func(m *modules.Module) {
			m.Examples = fmt.Sprintf(
				"- ansible.builtin.%s: {name: [httpd, mod_ssl], state: present}\n"+
					"- ansible.builtin.%s: {name: \"*\", state: latest}\n", short, short)
			m.Returns = []modules.Return{
				{Name: "results", Type: "list", When: "always", Doc: "What was installed and removed; with list the packages."},
				{Name: "rc", Type: "int", When: "a state was asked for", Doc: "0, or 1 if something failed."},
				{Name: "failures", Type: "list", When: "something failed", Doc: "What failed."},
			}
		}), modules.RunsPrograms)
}

// dnf is one call of a module.
type dnf struct {
	ctx   context.Context
	env   *modules.Env
	args  dnfArgs
	path  string
	dnf5  bool
	names []string
	state string
}

func (d *dnf) run(programs []string) (modules.Result, error) {
	if backend := map[string]string{"dnf4": "dnf", "dnf5": "dnf5", "yum": "yum", "yum3": "yum", "yum4": "dnf",
		"dnf": "dnf"}[d.args.UseBackend]; backend != "" {
		programs = []string{backend}
	}
	for _, name := range programs {
		if d.path = d.env.LookPath(name); d.path != "" {
			d.dnf5 = name == "dnf5"
			break
		}
	}
	if d.path == "" {
		_, err := tool.Find(d.env, programs[0])
		return modules.Result{}, err
	}
	if err := d.prepare(); err != nil {
		return modules.Result{}, err
	}
	if python := libraryPython(d.path); python != nil {
		return d.library(python)
	}
	switch {
	case d.args.UpdateCache && len(d.names) == 0 && d.args.List == nil:
		return d.refresh()
	case d.args.List != nil:
		return d.list(*d.args.List)
	case !d.args.DownloadOnly && os.Geteuid() != 0 && d.env.User != "root" && !d.args.alone():
		return modules.Result{Failed: true, Msg: "This command has to be run under the root user.",
			Data: value.DictOf("results", []any{})}, nil
	}
	return d.bring()
}

// alone reports whether the call changes a tree of its own, which any user may do.
func (a *dnfArgs) alone() bool { return a.InstallRoot != "/" }

// prepare makes plain lists of names and checks what the rules do not.
func (d *dnf) prepare() error {
	a := &d.args
	d.names = flat(a.Name)
	a.DisableRepo, a.EnableRepo, a.Exclude = flat(a.DisableRepo), flat(a.EnableRepo), flat(a.Exclude)
	for _, name := range d.names {
		if strings.Contains(name, " ") && !strings.ContainsAny(name, "@><=") {
			return tool.Fail(nil, "It appears that a space separated string of packages was passed in as an argument. "+
				"To operate on several packages, pass a comma separated string of packages or a list of packages.")
		}
	}
	d.state = modules.Text(a.State)
	switch {
	case d.state == "" && a.Autoremove:
		d.state = "absent"
	case d.state == "" || d.state == "installed":
		d.state = "present"
	case d.state == "removed":
		d.state = "absent"
	}
	if a.Autoremove && d.state != "absent" {
		return tool.Fail(value.DictOf("results", []any{}), "Autoremove should be used alone or with state=absent")
	}
	if conf := modules.Text(a.ConfFile); conf != "" {
		if f, err := os.Open(conf); err != nil {
			return tool.Fail(value.DictOf("conf_file", conf, "results", []any{}), "cannot read configuration file")
		} else if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// flat parts names at commas.
func flat(list []string) []string {
	var out []string
	for _, item := range list {
		for _, name := range strings.Split(item, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}

// options returns those of every run of the program.
func (d *dnf) options() []string {
	a := d.args
	var list []string
	add := func(wanted bool, words ...string) {
		if wanted {
			list = append(list, words...)
		}
	}
	each := func(option string, values []string) {
		for _, v := range values {
			list = append(list, option+v)
		}
	}
	add(modules.Text(a.ConfFile) != "", "--config="+modules.Text(a.ConfFile))
	add(a.InstallRoot != "/", "--installroot="+a.InstallRoot)
	add(modules.Text(a.ReleaseVer) != "", "--releasever="+modules.Text(a.ReleaseVer))
	each("--disablerepo=", a.DisableRepo)
	each("--enablerepo=", a.EnableRepo)
	each("--exclude=", a.Exclude)
	each("--disableplugin=", a.DisablePlugin)
	each("--enableplugin=", a.EnablePlugin)
	add(modules.Text(a.DisableExcludes) != "" && !d.dnf5, "--disableexcludes="+modules.Text(a.DisableExcludes))
	add(modules.Text(a.DisableExcludes) != "" && d.dnf5, "--setopt=disable_excludes="+modules.Text(a.DisableExcludes))
	add(a.NoGPGCheck && !d.dnf5, "--nogpgcheck")
	add(a.NoGPGCheck && d.dnf5, "--no-gpgchecks")
	add(a.CacheOnly, "--cacheonly")
	add(!a.SSLVerify, "--setopt=sslverify=0")
	add(!a.WeakDeps, "--setopt=install_weak_deps=0")
	add(d.state == "absent", "--setopt=clean_requirements_on_remove="+map[bool]string{true: "1", false: "0"}[a.Autoremove])
	return list
}

// changing returns the further options of runs that change packages.
func (d *dnf) changing(verb string) []string {
	a := d.args
	var list []string
	if a.AllowErasing && verb != "remove" && verb != "autoremove" {
		list = append(list, "--allowerasing")
	}
	nobest := a.NoBest != nil && *a.NoBest || a.Best != nil && !*a.Best
	switch {
	case nobest && d.dnf5:
		list = append(list, "--setopt=best=0")
	case nobest:
		list = append(list, "--nobest")
	case a.Best != nil:
		list = append(list, "--setopt=best=1")
	}
	if a.SkipBroken && verb != "remove" && verb != "autoremove" {
		list = append(list, "--skip-broken")
	}
	if a.Security && verb == "upgrade" {
		list = append(list, "--security")
	}
	if a.Bugfix && verb == "upgrade" {
		list = append(list, "--bugfix")
	}
	if a.DownloadOnly {
		list = append(list, "--downloadonly")
		if dir := modules.Text(a.DownloadDir); dir != "" && d.dnf5 {
			list = append(list, "--setopt=destdir="+dir)
		} else if dir != "" {
			list = append(list, "--downloaddir="+dir)
		}
	}
	return list
}

var unknownRepo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Unknown repo: '([^']+)'`) })

// call runs the program. While another one holds its lock it is tried again, until the lock's time-out.
func (d *dnf) call(args ...string) (tool.Output, error) {
	argv := append(append([]string{d.path}, d.options()...), args...)
	deadline := time.Now().Add(time.Duration(max(0, d.args.LockTimeout)) * time.Second)
	for {
		// dnf itself would wait for the lock for ever.
		out, err := tool.Run(d.ctx, d.env,
			modules.Command{Argv: argv, Env: append(tool.Plain(), "LANGUAGE=C.UTF-8", "COLUMNS=4096")})
		if m := unknownRepo().FindStringSubmatch(out.Stderr); m != nil && slices.Contains(d.args.EnableRepo, m[1]) {
			// The module knows patterns, the program names: one that fits nothing is no failure.
			d.args.EnableRepo = slices.DeleteFunc(d.args.EnableRepo, func(s string) bool { return s == m[1] })
			return d.call(args...)
		}
		held := strings.Contains(out.Stderr, "exit_on_lock") ||
			strings.Contains(out.Stdout+out.Stderr, "lock") && strings.Contains(out.Stderr, "another process")
		if err != nil || out.Rc == 0 || !held {
			return out, err
		}
		if time.Now().After(deadline) {
			return out, tool.Fail(nil, "dnf lockfile is held by another process")
		}
		select {
		case <-time.After(time.Second):
		case <-d.ctx.Done():
			return out, d.ctx.Err()
		}
	}
}

func (d *dnf) refresh() (modules.Result, error) {
	out, err := d.call("makecache", "--refresh")
	if err != nil {
		return modules.Result{}, err
	}
	if out.Rc != 0 {
		return modules.Result{Failed: true, Msg: problem(out), Data: value.DictOf("results", []any{}, "rc", int64(1))}, nil
	}
	return modules.Result{Msg: "Cache updated", Data: value.DictOf("results", []any{}, "rc", int64(0))}, nil
}

// problem returns what the program says that is wrong.
func problem(out tool.Output) string {
	var lines []string
	found := false
	for _, line := range strings.Split(strings.TrimSpace(out.Stderr+"\n"+out.Stdout), "\n") {
		if text, ok := strings.CutPrefix(line, "Error: "); ok {
			line, found = text, true
		} else if text, ok := strings.CutPrefix(line, "Failed to resolve the transaction:"); ok {
			line, found = strings.TrimSpace(text), true
		}
		chatter := strings.HasPrefix(line, "(try to add") || strings.HasPrefix(line, "Last metadata expiration check") ||
			strings.HasPrefix(line, "Dependencies resolved")
		if found && !chatter {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return strings.TrimSpace(out.Stderr)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// list returns packages or repositories.
func (d *dnf) list(what string) (modules.Result, error) {
	results := []any{}
	if what == "repos" || what == "repositories" {
		out, err := d.call("repolist", "-q")
		if err == nil {
			err = d.failed(out)
		}
		for i, line := range strings.Split(out.Stdout, "\n") {
			if f := strings.Fields(line); i > 0 && len(f) > 0 {
				results = append(results, value.DictOf("repoid", f[0], "state", "enabled"))
			}
		}
		return modules.Result{Data: value.DictOf("msg", "", "results", results)}, err
	}
	queries := map[string][]string{"installed": {"--installed"}, "updates": {"--upgrades"}, "upgrades": {"--upgrades"},
		"available": {"--available"}}[what]
	if queries == nil {
		queries = []string{"--installed", "--available"}
	}
	for _, query := range queries {
		argv := []string{"repoquery", "-q", query, "--qf", `%{name}\t%{arch}\t%{epoch}\t%{version}\t%{release}\t%{repoid}\n`}
		if len(queries) > 1 {
			argv = append(argv, what)
		}
		out, err := d.call(argv...)
		if err == nil {
			err = d.failed(out)
		}
		if err != nil {
			return modules.Result{}, err
		}
		results = append(results, packagesListed(out.Stdout, query)...)
	}
	return modules.Result{Data: value.DictOf("msg", "", "results", results)}, nil
}

func (d *dnf) failed(out tool.Output) error {
	if out.Rc == 0 {
		return nil
	}
	return tool.Fail(value.DictOf("rc", int64(1), "results", []any{}), "%s", problem(out))
}

// packagesListed reads the lines of a query. A version of dnf that takes \t as two characters prints those.
func packagesListed(text, query string) []any {
	state := "available"
	if query == "--installed" {
		state = "installed"
	}
	var list []any
	for _, line := range strings.Split(strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(text), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			continue
		}
		repo := f[5]
		if state == "installed" && !strings.HasPrefix(repo, "@") {
			repo = "@System"
		}
		envra := fmt.Sprintf("%s:%s-%s-%s.%s", f[2], f[0], f[3], f[4], f[1])
		list = append(list, value.DictOf(
			"name", f[0], "arch", f[1], "epoch", f[2], "version", f[3], "release", f[4], "repo", repo, "envra", envra, "nevra",
			envra, "yumstate", state,
		))
	}
	return slices.Clip(list)
}

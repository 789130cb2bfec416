package builtin

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/host/tool"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
)

type pipArgs struct {
	State        string   `arg:"state,default=present,choices=present|absent|latest|forcereinstall" doc:"What shall be."`
	Name         []string `arg:"name" doc:"Packages, with version specifiers if wanted, or addresses."`
	Version      *string  `arg:"version" doc:"Version of the one package."`
	Requirements *string  `arg:"requirements" doc:"File of requirements on the host."`
	Virtualenv   *string  `arg:"virtualenv,type=path" doc:"Virtual environment to install into; it is made if it is not there."`
	SitePackages bool     `arg:"virtualenv_site_packages,default=no" doc:"Whether a new environment sees the host's packages."`
	VenvCommand  string   `arg:"virtualenv_command,type=path,default=virtualenv" doc:"Command that makes the environment."`
	VenvPython   *string  `arg:"virtualenv_python" doc:"Python of a new environment."`
	ExtraArgs    *string  `arg:"extra_args" doc:"More arguments of pip."`
	Editable     bool     `arg:"editable,default=no" doc:"Install in editable mode."`
	Chdir        *string  `arg:"chdir,type=path" doc:"Directory to run pip in."`
	Executable   *string  `arg:"executable,type=path" doc:"The pip to run: a path, or a name like pip3.11."`
	Umask        *string  `arg:"umask" doc:"Umask of what pip writes, as octal text."`
	BreakSystem  bool     `arg:"break_system_packages,since=2.17,default=no" doc:"Install although the host's own packages are managed otherwise (PEP 668)."`
}

// Pip is ansible.builtin.pip.
var Pip = modules.Define("ansible.builtin.pip", "Manages Python library dependencies", runPip,
	modules.Operands("name"),
	modules.StartsInCheck("*"),
	modules.WithRules(modules.Rules{
		OneOf:     [][]string{{"name", "requirements"}},
		Exclusive: [][]string{{"name", "requirements"}, {"executable", "virtualenv"}},
	}),
	modules.From(dialect.OptionsGone221, func(s *modules.Spec) {
		s.Rules.Exclusive = append(slices.Clone(s.Rules.Exclusive), []string{"editable", "requirements"})
	}),
	modules.With(func(m *modules.Module) {
		m.Examples = `- ansible.builtin.pip: {name: ["flask>=2,<3", requests]}
- ansible.builtin.pip:
    requirements: /srv/app/requirements.txt
    virtualenv: /srv/app/venv
    virtualenv_command: python3 -m venv
`
		m.Returns = []modules.Return{
			{Name: "cmd", Type: "list", When: "always", Doc: "The command."},
			{Name: "name", Type: "list", When: "always", Doc: "The packages as given."},
			{Name: "version", Type: "str", When: "always", Doc: "The version as given."},
			{Name: "requirements", Type: "str", When: "always", Doc: "The file as given."},
			{Name: "virtualenv", Type: "str", When: "always", Doc: "The environment."},
		}
	}), modules.RunsPrograms,
	modules.Programs("executable", "virtualenv", "virtualenv_command", "virtualenv_python", "extra_args"))

// pip is one call of the module.
type pip struct {
	ctx  context.Context
	env  *modules.Env
	args pipArgs
	// venv is the environment, "" for none; dir where pip runs.
	venv, dir string
	umask     *uint32
	command   []string
	packages  []requirement
	// stdout and stderr gather what the commands print.
	stdout, stderr string
	created        bool // the environment was made
}

func runPip(ctx context.Context, env *modules.Env, a pipArgs) (modules.Result, error) {
	p := &pip{ctx: ctx, env: env, args: a, venv: modules.Text(a.Virtualenv), dir: modules.Text(a.Chdir)}
	if p.venv != "" && p.dir != "" && !filepath.IsAbs(p.venv) {
		p.venv = filepath.Join(p.dir, p.venv)
	}
	if p.dir == "" {
		p.dir = os.TempDir()
	}
	if err := p.prepare(); err != nil {
		return modules.Result{}, err
	}
	if p.venv != "" {
		if _, err := os.Stat(filepath.Join(p.venv, "bin", "activate")); err != nil {
			if env.Check {
				return modules.Result{Changed: true}, nil
			}
			p.created = true
			if err := p.makeVenv(); err != nil {
				return modules.Result{}, err
			}
		}
	}
	var err error
	if p.command, err = p.program(); err != nil {
		return modules.Result{}, err
	}
	argv, err := p.argv()
	if err != nil {
		return modules.Result{}, err
	}
	if env.Check {
		return p.foretell()
	}
	return p.install(argv)
}

// prepare checks what the argument rules do not.
func (p *pip) prepare() error {
	a := &p.args
	if given := modules.Text(a.Umask); given != "" {
		bits, err := strconv.ParseUint(given, 8, 12)
		if err != nil {
			return tool.Fail(value.DictOf("details", "invalid literal for int() with base 8: "+modules.Repr(given)),
				"umask must be an octal integer")
		}
		mask := uint32(bits)
		p.umask = &mask
	}
	if a.State == "latest" && a.Version != nil {
		return tool.Fail(nil, "version is incompatible with state=latest")
	}
	for _, name := range joinNames(a.Name) {
		p.packages = append(p.packages, parseRequirement(name))
	}
	if a.Version == nil || len(p.packages) == 0 {
		return nil
	}
	switch {
	case len(p.packages) > 1:
		return tool.Fail(nil, "'version' argument is ambiguous when installing multiple package distributions. "+
			"Please specify version restrictions next to each package in 'name' argument.")
	case len(p.packages[0].specs) > 0:
		return tool.Fail(nil,
			"The 'version' argument conflicts with any version specifier provided along with a package name. "+
				"Please keep the version specifier, but remove the 'version' argument.")
	}
	version := strings.TrimLeft(*a.Version, " \t\n")
	if version != "" && version[0] >= '0' && version[0] <= '9' {
		version = "==" + version
	}
	p.packages[0] = parseRequirement(p.packages[0].text + version)
	return nil
}

// run runs a command where pip runs; the environment's programs come first.
func (p *pip) run(argv []string, environ ...string) (tool.Output, error) {
	if p.venv != "" {
		environ = append(environ, "PATH="+filepath.Join(p.venv, "bin")+":"+p.env.Getenv("PATH"))
	}
	return tool.Run(p.ctx, p.env, modules.Command{Argv: argv, Dir: p.dir, Env: environ, Umask: p.umask})
}

// program returns the pip to run: the one named, that of the environment, or that of the host's Python.
func (p *pip) program() ([]string, error) {
	names := []string{"pip3"}
	if given := modules.Text(p.args.Executable); given != "" {
		if filepath.IsAbs(given) {
			return []string{given}, nil
		}
		names = []string{given}
	}
	if p.venv != "" {
		names = []string{"pip3", "pip"}
		for _, name := range names {
			path := filepath.Join(p.venv, "bin", name)
			if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
				return []string{path}, nil
			}
		}
		return nil, tool.Fail(nil, "Unable to find pip in the virtualenv, %s, under any of these names: %s. "+
			"Make sure pip is present in the virtualenv.", p.venv, strings.Join(names, ", "))
	}
	if modules.Text(p.args.Executable) == "" {
		if python := p.python(); python != "" {
			argv := []string{python, "-m", "pip.__main__"}
			if out, err := p.run(append(slices.Clone(argv), "--version")); err == nil && out.Rc == 0 {
				return argv, nil
			}
		}
	}
	for _, name := range names {
		if path := p.env.LookPath(name); path != "" {
			return []string{path}, nil
		}
	}
	return nil, tool.Fail(nil, "Unable to find any of %s to use.  pip needs to be installed.", strings.Join(names, ", "))
}

// python returns the host's Python: that of ansible_python_interpreter, or the system's.
func (p *pip) python() string {
	if given := p.env.Interpreter; strings.HasPrefix(given, "/") {
		return given
	}
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return p.env.LookPath("python3")
}

// argv returns the command that does what is asked for.
func (p *pip) argv() ([]string, error) {
	verbs := map[string][]string{
		"present": {"install"}, "absent": {"uninstall", "-y"}, "latest": {"install", "-U"},
		"forcereinstall": {"install", "-U", "--force-reinstall"},
	}
	argv := append(slices.Clone(p.command), verbs[p.args.State]...)
	extra := modules.Text(p.args.ExtraArgs)
	if p.args.Editable {
		words := strings.Split(extra, " ")
		if extra == "" {
			words = nil
		}
		if !slices.Contains(words, "-e") {
			words = append(words, "-e")
		}
		extra = strings.Join(words, " ")
		p.args.ExtraArgs = &extra
	}
	words, err := shlex.Split(extra)
	if err != nil {
		return nil, err
	}
	argv = append(argv, words...)
	if p.args.BreakSystem {
		argv = append(argv, "--break-system-packages")
	}
	for _, r := range p.packages {
		argv = append(argv, r.text)
	}
	if len(p.packages) == 0 {
		argv = append(argv, "-r", modules.Text(p.args.Requirements))
	}
	return argv, nil
}

// listed returns the installed packages as pip prints them, and the command that did.
func (p *pip) listed() (line string, out tool.Output, err error) {
	argv := append(slices.Clone(p.command), "list", "--format=freeze")
	out, err = p.run(argv, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "LC_MESSAGES=C.UTF-8")
	if err == nil && out.Rc != 0 { // an old pip
		argv = append(slices.Clone(p.command), "freeze")
		if out, err = p.run(argv); err == nil && out.Rc != 0 {
			err = failed(argv, out.Stdout, out.Stderr)
		}
	}
	return strings.Join(argv, " "), out, err
}

func failed(argv []string, stdout, stderr string) error {
	msg := ""
	if stdout != "" {
		msg += "stdout: " + stdout
	}
	if stderr != "" {
		msg += "\n:stderr: " + stderr
	}
	return tool.Fail(value.DictOf("cmd", modules.List(argv)), "%s", msg)
}

// foretell returns, for check mode, whether something would change.
func (p *pip) foretell() (modules.Result, error) {
	if modules.Text(p.args.ExtraArgs) != "" || modules.Text(p.args.Requirements) != "" || p.args.State == "latest" ||
		len(p.packages) == 0 {
		return modules.Result{Changed: true}, nil
	}
	line, out, err := p.listed()
	if err != nil {
		return modules.Result{}, err
	}
	installed := installedVersions(out.Stdout)
	changed := false
	for _, r := range p.packages {
		there := r.satisfied(installed)
		changed = changed || p.args.State == "present" && !there || p.args.State == "absent" && there
	}
	return modules.Result{Changed: changed, Data: value.DictOf(
		"cmd", line, "stdout", p.stdout+out.Stdout, "stderr", p.stderr+out.Stderr,
	)}, nil
}

func (p *pip) install(argv []string) (modules.Result, error) {
	// Repositories are installed again each time: only the list reports whether something changed.
	compare := modules.Text(p.args.Requirements) != "" || slices.ContainsFunc(p.args.Name, fromRepository)
	var before tool.Output
	var err error
	if compare {
		if _, before, err = p.listed(); err != nil {
			return modules.Result{}, err
		}
	}
	out, err := p.run(argv)
	if err != nil {
		return modules.Result{}, err
	}
	p.stdout, p.stderr = p.stdout+out.Stdout, p.stderr+out.Stderr
	absent := p.args.State == "absent"
	gone := absent && out.Rc == 1 && strings.Contains(out.Stdout+out.Stderr, "not installed")
	if out.Rc != 0 && !gone {
		return modules.Result{}, failed(argv, p.stdout, p.stderr)
	}
	changed := strings.Contains(out.Stdout, "Successfully installed")
	switch {
	case absent:
		changed = strings.Contains(out.Stdout, "Successfully uninstalled")
	case compare:
		_, after, err := p.listed()
		if err != nil {
			return modules.Result{}, err
		}
		changed = after.Stdout != before.Stdout
	}
	res := modules.Result{Changed: changed || p.created, Data: value.DictOf(
		"cmd", modules.List(argv), "name", nil, "version", nil, "state", p.args.State, "requirements", nil, "virtualenv", nil,
		"stdout", p.stdout, "stderr", p.stderr,
	)}
	if p.args.Name != nil {
		res.Data.Put("name", modules.List(p.args.Name))
	}
	for key, v := range map[string]*string{"version": p.args.Version, "requirements": p.args.Requirements} {
		if v != nil {
			res.Data.Put(key, *v)
		}
	}
	if p.venv != "" {
		res.Data.Put("virtualenv", p.venv)
	}
	return res, nil
}

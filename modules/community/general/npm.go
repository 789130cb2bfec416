package general

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type npmArgs struct {
	Name          *string `arg:"name" doc:"The package; without it, what package.json of path names."`
	Path          *string `arg:"path,type=path" doc:"Directory to install into; needed unless global is true."`
	Version       *string `arg:"version" doc:"Its version."`
	Production    bool    `arg:"production,default=no" doc:"Leave out what only developers need."`
	Executable    *string `arg:"executable,type=path" doc:"The program npm, perhaps with words after it."`
	Registry      *string `arg:"registry" doc:"Registry to install from."`
	State         string  `arg:"state,default=present,choices=present|absent|latest" doc:"Whether it shall be there, and how new."`
	IgnoreScripts bool    `arg:"ignore_scripts,default=no" doc:"Run no scripts of packages."`
	UnsafePerm    bool    `arg:"unsafe_perm,default=no" doc:"Run scripts as root."`
	CI            bool    `arg:"ci,default=no" doc:"Install exactly what package-lock.json says."`
	NoOptional    bool    `arg:"no_optional,default=no" doc:"Leave out what is optional."`
	NoBinLinks    bool    `arg:"no_bin_links,default=no" doc:"Make no links to programs."`
	Force         bool    `arg:"force,extra,default=no" doc:"Install over what is in the way."`
	Global        bool    `arg:"global,default=no" doc:"Install for the whole host."`
}

// Npm is community.general.npm.
var Npm = modules.Define("community.general.npm", "Manage packages of Node.js with npm", runNpm,
	modules.Operands("name", "version"),
	modules.StartsInCheck("npm"),
	modules.Documented(`- community.general.npm: {name: left-pad, version: 1.3.0, path: /srv/app}
- community.general.npm: {name: yarn, global: true, state: latest}
- community.general.npm: {path: /srv/app, ci: true}
`), modules.RunsPrograms, modules.Programs("executable"))

// npm is one call of the module.
type npm struct {
	tool.Host
	args    npmArgs
	program []string
	spec    string // the package as npm takes it: with the version, if one is wanted; "" if none is named
}

func runNpm(ctx context.Context, env *modules.Env, a npmArgs) (modules.Result, error) {
	switch {
	case modules.Text(a.Path) == "" && !a.Global:
		return modules.Fail("path must be specified when not using global")
	case a.State == "absent" && modules.Text(a.Name) == "":
		return modules.Fail("uninstalling a package is only available for named packages")
	}
	n := &npm{Host: hostOf(ctx, env), args: a, spec: modules.Text(a.Name)}
	if n.spec != "" && modules.Text(a.Version) != "" && a.State != "absent" {
		n.spec += "@" + *a.Version
	}
	if modules.Text(a.Executable) != "" {
		n.program = strings.Split(*a.Executable, " ")
	} else {
		path, err := tool.Find(env, "npm")
		if err != nil {
			return modules.Result{}, err
		}
		n.program = []string{path}
	}
	changed, err := n.bring()
	return modules.Result{Changed: changed}, err
}

func (n *npm) bring() (changed bool, err error) {
	if n.args.CI {
		return true, n.change("ci")
	}
	installed, missing, err := n.list()
	if err != nil {
		return false, err
	}
	if n.args.State == "absent" {
		if slices.Contains(installed, n.spec) {
			return true, n.change("uninstall")
		}
		return false, nil
	}
	outdated := false
	if n.args.State == "latest" {
		if outdated, err = n.outdated(); err != nil {
			return false, err
		}
	}
	if missing {
		err = n.change("install")
	}
	if outdated && err == nil {
		err = n.change("update")
	}
	return missing || outdated, err
}

// change runs what must succeed; in check mode it does nothing.
func (n *npm) change(verb string) error {
	if n.Env.Check {
		return nil
	}
	out, err := n.npm([]string{verb}, n.spec)
	if err == nil {
		err = out.Check()
	}
	return err
}

// npm runs the program with the options that the arguments stand for, in the directory, which it makes but in check
// mode.
func (n *npm) npm(words []string, spec string) (tool.Output, error) {
	a, argv := n.args, slices.Concat(n.program, words)
	add := func(is bool, words ...string) {
		if is {
			argv = append(argv, words...)
		}
	}
	installs := slices.ContainsFunc(argv, func(w string) bool { return w == "install" || w == "update" || w == "ci" })
	add(a.Global, "--global")
	add(a.Production && installs, "--production")
	add(a.IgnoreScripts, "--ignore-scripts")
	add(a.UnsafePerm, "--unsafe-perm")
	add(spec != "", spec)
	add(modules.Text(a.Registry) != "", "--registry", modules.Text(a.Registry))
	add(a.NoOptional, "--no-optional")
	add(a.NoBinLinks, "--no-bin-links")
	add(a.Force, "--force")
	dir := modules.Text(a.Path)
	if n.Env.Check && dir != "" && !fsx.Exists(dir) {
		return tool.Output{}, nil // where it would be made, nothing is installed
	}
	if err := makeDir(dir); err != nil {
		return tool.Output{}, err
	}
	return tool.Run(n.Ctx, n.Env, modules.Command{Argv: argv, Dir: dir})
}

// makeDir makes a directory where nothing is; "" is none.
func makeDir(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return tool.Fail(nil, "%s", oserr.Path(err, path))
		}
		return nil
	}
	if !info.IsDir() {
		return tool.Fail(nil, "path %s is not a directory", path)
	}
	return nil
}

// list returns what is installed, as name and as name@version, and whether anything that is wanted is not.
func (n *npm) list() (installed []string, missing bool, err error) {
	out, err := n.npm([]string{"list", "--json", "--long"}, "")
	if err != nil || out.Stdout == "" {
		return nil, true, err
	}
	var tree struct {
		Dependencies *map[string]struct{ Missing, Invalid, Version any }
	}
	if err := json.Unmarshal([]byte(out.Stdout), &tree); err != nil {
		return nil, false, tool.Fail(nil, "Failed to parse NPM output with error %v", err)
	}
	if tree.Dependencies == nil {
		return nil, true, nil
	}
	for name, found := range *tree.Dependencies {
		if truth(found.Missing) || truth(found.Invalid) {
			missing = true
			continue
		}
		installed = append(installed, name)
		if truth(found.Version) {
			installed = append(installed, name+"@"+modules.Str(found.Version))
		}
	}
	return installed, missing || n.spec != "" && !slices.Contains(installed, n.spec), nil
}

// truth is Python's of a value read from JSON.
func truth(v any) bool { return value.IsTrue(value.FromGo(v, value.KindStr)) }

// outdated reports whether npm names any package that is not the newest.
func (n *npm) outdated() (bool, error) {
	out, err := n.npm([]string{"outdated"}, n.spec)
	return strings.Trim(out.Stdout, "\r\n") != "", err
}

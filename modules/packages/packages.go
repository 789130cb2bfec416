// Package packages holds the modules that install, upgrade and remove packages, by the system's own tools: what is
// installed and what could be is asked of dpkg and apt-cache, apt-get does the work.
package packages

import (
	"context"
	"maps"
	"os"

	"hark/modules"
)

// All are the modules of this family. others are the package managers of other families, for package to choose from.
func All(others ...Manager) []*modules.Module {
	return []*modules.Module{
		Apt, AptKey, AptRepository, Deb822Repository, Debconf, DpkgSelections, PackageFacts,
		packageOf(append([]Manager{{"/usr/bin/apt-get", "apt", Apt}}, others...)),
	}
}

// Manager is a package manager that has a module of its own: the program that shows that the host has it, and its name.
type Manager struct {
	Path, Name string
	Module     *modules.Module
}

type packageArgs struct {
	Name  any            `arg:"name" doc:"The package, or several."`
	State *string        `arg:"state" doc:"present, absent, or what the package manager's own module knows."`
	Use   string         `arg:"use,default=auto" doc:"The package manager; found out by itself."`
	Rest  map[string]any `arg:"*" doc:"Arguments of the package manager's module."`
}

// packageOf is ansible.builtin.package: the module of whatever package manager the host has.
func packageOf(managers []Manager) *modules.Module {
	return modules.Define("ansible.builtin.package", "Manages packages with the host's package manager",
		func(ctx context.Context, env *modules.Env, a packageArgs) (modules.Result, error) {
			return runPackage(ctx, env, a, managers)
		},
		modules.With(func(m *modules.Module) {
			m.AnyArgs = true
			m.Examples = "- ansible.builtin.package: {name: ntpdate, state: present}\n"
		}), modules.RunsPrograms)
}

// runPackage hands the arguments, without use, to the package manager's module.
func runPackage(ctx context.Context, env *modules.Env, a packageArgs, managers []Manager) (modules.Result, error) {
	args := maps.Clone(a.Rest)
	if args == nil {
		args = map[string]any{}
	}
	if a.Name != nil {
		args["name"] = a.Name
	}
	if a.State != nil {
		args["state"] = *a.State
	}
	for _, m := range managers {
		_, err := os.Stat(m.Path)
		if a.Use == m.Name || a.Use == "auto" && err == nil {
			return m.Module.Run(ctx, env, args), nil
		}
	}
	if a.Use != "auto" {
		return modules.Fail("Could not find a module for %s.", a.Use)
	}
	return modules.Fail("Could not detect which package manager to use. Try gathering facts or setting the \"use\" option.")
}

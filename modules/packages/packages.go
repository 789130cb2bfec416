// Package packages holds the modules that install, upgrade and remove packages, by the system's own tools: what is
// installed and what could be is asked of dpkg and apt-cache, apt-get does the work.
package packages

import (
	"context"
	"maps"
	"os"

	"hark/modules"
)

// All are the modules of this family.
func All() []*modules.Module {
	return []*modules.Module{Apt, AptRepository, Debconf, DpkgSelections, Package, PackageFacts}
}

type packageArgs struct {
	Name  any            `arg:"name" doc:"The package, or several."`
	State *string        `arg:"state" doc:"present, absent, or what the package manager's own module knows."`
	Use   string         `arg:"use,default=auto" doc:"The package manager; found out by itself."`
	Rest  map[string]any `arg:"*" doc:"Arguments of the package manager's module."`
}

// Package is ansible.builtin.package: the module of whatever package manager the host has.
var Package = modules.Define("ansible.builtin.package", "Manages packages with the host's package manager", runPackage,
	modules.With(func(m *modules.Module) { m.AnyArgs = true }))

// managers are the package managers that have a module of their own here, by the program that shows them.
func managers() []manager { return []manager{{"/usr/bin/apt-get", "apt", Apt}} }

type manager struct {
	path, name string
	module     *modules.Module
}

// runPackage hands the arguments, without use, to the package manager's module.
func runPackage(ctx context.Context, env *modules.Env, a packageArgs) (modules.Result, error) {
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
	for _, m := range managers() {
		_, err := os.Stat(m.path)
		if a.Use == m.name || a.Use == "auto" && err == nil {
			return m.module.Run(ctx, env, args), nil
		}
	}
	if a.Use != "auto" {
		return modules.Fail("Could not find a module for %s.", a.Use)
	}
	return modules.Fail("Could not detect which package manager to use. Try gathering facts or setting the \"use\" option.")
}

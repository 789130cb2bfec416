package builtin

import (
	"context"
	"os"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
)

// manager is a package manager that has a module of its own: the program that shows that the host has it, and its name.
type manager struct {
	Path, Name string
	Module     *modules.Module
}

type packageArgs struct {
	Name  value.Value `arg:"name" doc:"The package, or several."`
	State *string     `arg:"state" doc:"present, absent, or what the package manager's own module knows."`
	Use   string      `arg:"use,default=auto" doc:"The package manager; found out by itself."`
	Rest  *value.Dict `arg:"*" doc:"Arguments of the package manager's module."`
}

// Package is ansible.builtin.package.
var Package = packageOf([]manager{
	{"/usr/bin/apt-get", "apt", Apt},
	{"/usr/bin/dnf", "dnf", Dnf},
	{"/usr/bin/dnf5", "dnf5", Dnf5},
	{"/usr/bin/yum", "yum", Yum},
})

// packageOf returns the module that hands its arguments to that of the first of the managers that the host has.
func packageOf(managers []manager) *modules.Module {
	return modules.Define("ansible.builtin.package", "Manages packages with the host's package manager",
		func(ctx context.Context, env *modules.Env, a packageArgs) (modules.Result, error) {
			return runPackage(ctx, env, a, managers)
		},
		modules.Operands("name"),
		modules.StartsInCheck("apt-cache", "apt-get", "apt-mark", "aptitude", "dnf*", "dpkg*", "rpm", "yum",
			"python*", "platform-python*"),
		modules.With(func(m *modules.Module) {
			m.AnyArgs = true
			m.Examples = "- ansible.builtin.package: {name: ntpdate, state: present}\n"
		}), modules.RunsPrograms)
}

// runPackage hands the arguments, without use, to the package manager's module.
func runPackage(ctx context.Context, env *modules.Env, a packageArgs, managers []manager) (modules.Result, error) {
	args := a.Rest.Copy()
	if a.Name != nil {
		args.Put("name", a.Name)
	}
	if a.State != nil {
		args.Put("state", *a.State)
	}
	for _, m := range managers {
		_, err := os.Stat(m.Path)
		if a.Use == m.Name || a.Use == "auto" && err == nil {
			return m.Module.Run(ctx, env, args), nil
		}
	}
	switch {
	case a.Use != "auto" && env.Has(dialect.ModuleMessages):
		return modules.Result{},
			modules.ActionCaught("", "Could not find a matching action for the \"%s\" package manager.", a.Use)
	case a.Use != "auto":
		return modules.Result{}, modules.ActionCaught("", "Could not find a module for %s.", a.Use)
	}
	return modules.Result{}, modules.ActionCaught("",
		"Could not detect which package manager to use. Try gathering facts or setting the \"use\" option.")
}

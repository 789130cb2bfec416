package builtin

import (
	"context"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/py/value"
)

type aptArgs struct {
	Package      []string `arg:"package,alias=pkg|name" doc:"Packages: name, name=version, name>=version, wildcards."`
	State        string   `arg:"state,default=present,choices=absent|build-dep|fixed|latest|present" doc:"What shall be."`
	UpdateCache  *bool    `arg:"update_cache,alias=update-cache" doc:"Run apt-get update first."`
	Retries      int      `arg:"update_cache_retries,default=5" doc:"How often an update is tried."`
	RetryDelay   int      `arg:"update_cache_retry_max_delay,default=12" doc:"Most seconds between tries."`
	ValidTime    int      `arg:"cache_valid_time,default=0" doc:"Seconds for which the lists count as fresh."`
	Purge        bool     `arg:"purge,default=no" doc:"Remove configuration too."`
	Deb          *string  `arg:"deb,type=path" doc:"A .deb file to install; several are parted by commas."`
	Release      *string  `arg:"default_release,alias=default-release" doc:"Release to install from."`
	Recommends   *bool    `arg:"install_recommends,alias=install-recommends" doc:"Whether to install what packages recommend."`
	Force        bool     `arg:"force,default=no" doc:"Answer yes to everything, also to what is harmful."`
	Upgrade      string   `arg:"upgrade,default=no,choices=dist|full|no|safe|yes" doc:"Upgrade all packages."`
	DpkgOptions  string   `arg:"dpkg_options" default:"force-confdef,force-confold" doc:"Options of dpkg, parted by commas."`
	Autoremove   bool     `arg:"autoremove,default=no" doc:"Remove what nothing needs any more."`
	Autoclean    bool     `arg:"autoclean,default=no" doc:"Remove archives that cannot be downloaded any more."`
	NoAutoremove bool     `arg:"fail_on_autoremove,default=no" doc:"Fail when packages would be removed."`
	PolicyRC     *int     `arg:"policy_rc_d" doc:"Exit code of policy-rc.d meanwhile, so that services are not started."`
	OnlyUpgrade  bool     `arg:"only_upgrade,default=no" doc:"Install nothing that is not installed."`
	ForceAptGet  bool     `arg:"force_apt_get,default=no" doc:"Use apt-get although aptitude is there."`
	Clean        bool     `arg:"clean,default=no" doc:"Remove all downloaded archives."`
	Unverified   bool     `arg:"allow_unauthenticated,alias=allow-unauthenticated,default=no" doc:"Install what is not signed."`
	Downgrade    bool     `arg:"allow_downgrade,alias=allow-downgrade|allow_downgrades|allow-downgrades,default=no" doc:"Allow an older version."`
	ChangeHeld   bool     `arg:"allow_change_held_packages,default=no" doc:"Change packages that are held."`
	AutoInstall  bool     `arg:"auto_install_module_deps,since=2.19,default=yes" doc:"Of no meaning here: no Python is needed."`
	LockTimeout  int      `arg:"lock_timeout,default=60" doc:"Seconds to wait for another apt."`
}

// Apt is ansible.builtin.apt.
var Apt = modules.Define("ansible.builtin.apt", "Manages apt packages", runApt,
	modules.Operands("package", "deb"),
	modules.StartsInCheck("apt-cache", "apt-get", "apt-mark", "aptitude", "dpkg", "dpkg-deb", "dpkg-query"),
	modules.WithRules(modules.Rules{
		Exclusive: [][]string{{"deb", "package", "upgrade"}},
		OneOf:     [][]string{{"autoremove", "deb", "package", "update_cache", "upgrade"}},
	}),
	modules.Documented(`- ansible.builtin.apt: {name: [nginx, curl], state: present, update_cache: true, cache_valid_time: 3600}
- ansible.builtin.apt: {deb: /tmp/app.deb}
- ansible.builtin.apt: {upgrade: dist, autoremove: true}
`,
		modules.Return{Name: "cache_updated", Type: "bool", When: "always", Doc: "Whether the lists were fetched."},
		modules.Return{Name: "cache_update_time", Type: "int", When: "always",
			Doc: "When they were, in seconds of the epoch."},
		modules.Return{Name: "stdout", Type: "str", When: "apt-get ran", Doc: "What it printed."},
		modules.Return{Name: "stderr", Type: "str", When: "apt-get ran", Doc: "What it printed as errors."},
	), modules.RunsPrograms)

// apt is one call of the module.
type apt struct {
	ctx  context.Context
	env  *modules.Env
	args aptArgs
	// deadline is when waiting for another apt's lock ends.
	deadline time.Time
}

func runApt(ctx context.Context, env *modules.Env, args aptArgs) (modules.Result, error) {
	a := &apt{ctx: ctx, env: env, args: args, deadline: time.Now().Add(time.Duration(args.LockTimeout) * time.Second)}
	others := len(args.Package) > 0 || args.Upgrade != "no" || args.Deb != nil
	if args.Clean {
		res, err := a.clean()
		if err != nil || res.Failed || !others {
			return res, err
		}
	}
	updated, res, err := a.refresh()
	if err != nil || res.Failed {
		return res, err
	}
	if (args.UpdateCache != nil && *args.UpdateCache || args.ValidTime > 0) && !others {
		return modules.Result{Changed: updated,
			Data: value.DictOf("cache_updated", updated, "cache_update_time", listsTime())}, nil
	}
	if args.Upgrade != "no" {
		return a.upgrade(args.Upgrade)
	}
	if args.Deb != nil {
		return a.debs()
	}
	names, all := splitAll(args.Package)
	if all && args.State == "latest" {
		if len(names) > 0 {
			return modules.Fail("unable to install additional packages when upgrading all installed packages")
		}
		return a.upgrade("yes")
	}
	return a.packages(names, updated)
}

// splitAll takes the name that means all installed packages out.
func splitAll(list []string) (names []string, all bool) {
	for _, name := range list {
		if name == "*" {
			all = true
		} else {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names, all
}

func (a *apt) packages(names []string, updated bool) (modules.Result, error) {
	var specs []spec
	for _, name := range names {
		if strings.Count(name, "=") > 1 {
			return modules.Fail("invalid package spec: %s", name)
		}
		specs = append(specs, parseSpec(name))
	}
	if len(specs) == 0 && (a.args.Autoclean || a.args.Autoremove) {
		operation := "autoremove"
		if a.args.Autoclean {
			operation = "autoclean"
		}
		return a.cleanup(operation)
	}
	specs, missing, err := a.expand(specs)
	if err != nil {
		return modules.Result{}, err
	}
	if missing != "" {
		return modules.Fail("No package(s) matching '%s' available", missing)
	}
	if a.args.State == "absent" {
		return a.remove(specs)
	}
	res, err := a.install(specs)
	if err == nil {
		if res.Data == nil {
			res.Data = value.NewDict()
		}
		res.Data.Put("cache_updated", updated)
		res.Data.Put("cache_update_time", listsTime())
	}
	return res, err
}

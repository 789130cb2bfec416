package builtin

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

type packageFactsArgs struct {
	Manager  []string `arg:"manager,default=auto" doc:"Package managers to ask, in this order; auto is all that Ansible knows."`
	Strategy string   `arg:"strategy,default=first,choices=first|all" doc:"Whether to stop at the first one that the host has."`
}

// PackageFacts is ansible.builtin.package_facts.
var PackageFacts = modules.Define("ansible.builtin.package_facts", "Tells the packages that are installed",
	runPackageFacts,
	modules.StartsInCheck("apk", "apt-get", "dpkg", "dpkg-query", "pacman", "pkg", "rpm", "sh"),
	modules.Documented(`- ansible.builtin.package_facts:
- ansible.builtin.debug: {msg: "{{ ansible_facts.packages.openssl[0].version }}"}
`,
		modules.Return{Name: "ansible_facts", Type: "dict", When: "always",
			Doc: "packages: a list of what is installed for each name."},
	), modules.Is(modules.OnlyLooks))

// inventories returns the package managers in the order of auto. Those without a tool are never found here.
func inventories() []inventory {
	return []inventory{
		{"rpm", "rpm", rpmPackages}, {"apt", "dpkg-query", aptPackages}, {"pacman", "", nil}, {"pkg", "", nil},
		{"portage", "", nil}, {"apk", "apk", apkPackages}, {"pkg_info", "", nil},
	}
}

// managerOf resolves the names that newer releases have for the same packages.
func managerOf(name string) string {
	switch name {
	case "dnf", "dnf5", "yum", "zypper":
		return "rpm"
	case "pkg5", "pkgng":
		return "pkg"
	case "openbsd_pkg":
		return "pkg_info"
	}
	return name
}

type inventory struct {
	name, tool string
	list       func(context.Context, *modules.Env) ([]*value.Dict, error)
}

const unusable = "Requested package manager %s was not usable by this module: %v"

func runPackageFacts(ctx context.Context, env *modules.Env, a packageFactsArgs) (modules.Result, error) {
	for i, name := range a.Manager {
		a.Manager[i] = managerOf(strings.ToLower(name))
	}
	wanted, unknown := wantedInventories(a.Manager)
	if len(unknown) > 0 && slices.Contains(a.Manager, "auto") {
		return modules.Fail("Could not auto detect a usable package manager, check warnings for details.")
	}
	if len(unknown) > 0 {
		return modules.Fail("Unsupported package managers requested: %s", strings.Join(unknown, ", "))
	}
	all, found := value.NewDict(), false
	names := []any{}
	for _, inv := range wanted {
		names = append(names, inv.name)
		guest := inv.name == "rpm" && !slices.Contains(a.Manager, "rpm") && debianHost()
		if found && a.Strategy == "first" {
			continue
		}
		if _, err := tool.Find(env, cmp.Or(inv.tool, inv.name)); err != nil && env.Has(dialect.PackageFactsWarn) &&
			slices.Contains(a.Manager, inv.name) {
			env.Warn(unusable, inv.name, err)
		}
		if inv.tool == "" || env.LookPath(inv.tool) == "" || guest {
			continue
		}
		list, err := inv.list(ctx, env)
		if ctx.Err() != nil {
			return modules.Result{}, ctx.Err()
		}
		if err == nil && len(list) == 0 && slices.Contains(a.Manager, "auto") {
			continue // the tool is there, but the host's packages are another's
		}
		if err != nil && env.Has(dialect.PackageFactsWarn) {
			env.Warn("Failed to retrieve packages with %s: %v", inv.name, err)
		}
		if env.Has(dialect.PackageFactsWarn) && len(list) == 0 {
			env.Warn("Found \"%s\" but no associated packages", inv.name)
			continue
		}
		found = true
		if err != nil {
			if slices.Contains(a.Manager, inv.name) {
				env.Warn(unusable, inv.name, err)
			}
			continue
		}
		addByName(all, list, inv.name)
	}
	if !found {
		return modules.Fail(
			"Could not detect a supported package manager from the following list: %s, or the required Python library is not "+
				"installed."+
				" Check warnings for details.", modules.Repr(names))
	}
	return modules.Result{Facts: value.DictOf("packages", all)}, nil
}

// debianHost reports whether the host's own packages are Debian's. It may have rpm too, as a tool for building
// packages; Ansible does not take that for the package manager, for want of rpm's Python library.
func debianHost() bool {
	_, err := os.Stat("/etc/debian_version")
	return err == nil
}

// wantedInventories resolves names; auto stands for all others, at the end.
func wantedInventories(names []string) (list []inventory, unknown []string) {
	if slices.Contains(names, "auto") {
		names = slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "auto" })
		for _, inv := range inventories() {
			names = append(names, inv.name)
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		at := slices.IndexFunc(inventories(), func(inv inventory) bool { return inv.name == name })
		switch {
		case seen[name]:
		case at < 0:
			unknown = append(unknown, name)
		default:
			list = append(list, inventories()[at])
		}
		seen[name] = true
	}
	return list, unknown
}

// addByName adds what a source has; of a name that an earlier one had too, the later one's.
func addByName(all *value.Dict, list []*value.Dict, source string) {
	mine := map[string]*value.List{}
	for _, p := range list {
		p.Put("source", source)
		name := p.Text("name")
		if mine[name] == nil {
			mine[name] = value.NewList()
			all.Put(name, mine[name])
		}
		mine[name].Items = append(mine[name].Items, p)
	}
}

// outputRows returns the lines of a tool's output, each parted into at least n fields.
func outputRows(ctx context.Context, env *modules.Env, sep string, n int, argv ...string) ([][]string, error) {
	out, err := env.Exec(ctx, modules.Command{Argv: argv, Env: []string{"LC_ALL=C"}})
	if err != nil {
		return nil, err
	}
	if out.Rc != 0 {
		//lint:ignore ST1005 the words that users see
		return nil, fmt.Errorf("Unable to list packages rc=%d : %s", out.Rc, out.Stderr)
	}
	var list [][]string
	for _, line := range strings.Split(string(out.Stdout), "\n") {
		if f := strings.Split(line, sep); len(f) >= n {
			list = append(list, f)
		}
	}
	return list, nil
}

func aptPackages(ctx context.Context, env *modules.Env) ([]*value.Dict, error) {
	const format = "${Package}\t${Version}\t${Architecture}\t${Section}\t${db:Status-Status}\n"
	lines, err := outputRows(ctx, env, "\t", 5, "dpkg-query", "-W", "-f", format)
	if err != nil {
		return nil, err
	}
	native, err := outputRows(ctx, env, "\t", 1, "dpkg", "--print-architecture")
	if err != nil {
		return nil, err
	}
	var list []*value.Dict
	wanted := map[string]bool{}
	for _, f := range lines {
		if f[4] == "not-installed" || f[4] == "config-files" {
			continue
		}
		name := aptName(f[0], f[2], native[0][0])
		wanted[name+"="+f[1]] = true
		list = append(list, value.DictOf("name", name, "version", f[1], "arch", f[2], "category", f[3], "origin", ""))
	}
	known, err := archivedVersions(ctx, env, native[0][0], wanted)
	for _, p := range list {
		of, ok := known[p.Text("name")+"="+p.Text("version")]
		if !ok {
			continue
		}
		p.Put("origin", of.origin)
		if of.section != "" {
			p.Put("category", of.section)
		}
	}
	return list, err
}

func rpmPackages(ctx context.Context, env *modules.Env) ([]*value.Dict, error) {
	lines, err := outputRows(ctx, env, "\t", 5, "rpm", "-qa", "--qf",
		`%{NAME}\t%{VERSION}\t%{RELEASE}\t%{EPOCH}\t%{ARCH}\n`)
	var list []*value.Dict
	for _, f := range lines {
		p := value.DictOf("name", f[0], "version", f[1], "release", f[2], "epoch", nil, "arch", nil)
		if f[3] != "(none)" {
			p.Put("epoch", number(f[3]))
		}
		if f[4] != "(none)" {
			p.Put("arch", f[4])
		}
		list = append(list, p)
	}
	return list, err
}

// number returns an epoch: small, and digits only.
func number(s string) int64 {
	var n int64
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

func apkPackages(ctx context.Context, env *modules.Env) ([]*value.Dict, error) {
	lines, err := outputRows(ctx, env, "\n", 1, "apk", "info", "-v")
	var list []*value.Dict
	for _, f := range lines {
		if f[0] == "" {
			continue
		}
		p := value.DictOf("name", f[0], "version", "", "release", "")
		if parts := strings.Split(f[0], "-"); len(parts) > 2 {
			n := len(parts)
			p = value.DictOf("name", strings.Join(parts[:n-2], "-"), "version", parts[n-2], "release", parts[n-1])
		}
		list = append(list, p)
	}
	return list, err
}

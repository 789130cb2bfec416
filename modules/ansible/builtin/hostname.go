package builtin

import (
	"context"
	"fmt"
	"os"
	"strings"

	"hark/modules"
	"hark/modules/internal/fqdn"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/osrelease"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type hostnameArgs struct {
	Name string `arg:"name,required" doc:"The name."`
	Use  string `arg:"use,choices=alpine|debian|freebsd|generic|macos|macosx|darwin|openbsd|openrc|redhat|sles|solaris|systemd" doc:"How the host keeps its name; found out by itself."`
}

// Hostname is ansible.builtin.hostname.
var Hostname = modules.Define("ansible.builtin.hostname", "Sets the host's name", runHostname,
	modules.Operands("name"),
	modules.Is(modules.ReadsInCheck),
	modules.Documented(`- ansible.builtin.hostname: {name: web1.example.org}
`,
		modules.Return{Name: "name", Type: "str", When: "always", Doc: "The name."},
		modules.Return{Name: "ansible_facts", Type: "dict", When: "always",
			Doc: "ansible_hostname, ansible_nodename, ansible_fqdn and ansible_domain."},
	))

func runHostname(ctx context.Context, env *modules.Env, a hostnameArgs) (modules.Result, error) {
	k, err := keeperOf(ctx, env, a.Use)
	if err != nil {
		return modules.Result{}, err
	}
	return k.set(a.Name, env.Check)
}

// keeper is one way of keeping a host's name: the one it has now, and the one it will have after a boot.
type keeper struct {
	ctx context.Context
	// current is nil where the permanent name is all that is looked at.
	current, permanent func() (string, error)
	// setCurrent is nil where only a boot makes the name current.
	setCurrent, setPermanent func(name string) error
	// permanentFirst is the order in which both are set.
	permanentFirst bool
}

func keeperOf(ctx context.Context, env *modules.Env, use string) (*keeper, error) {
	if use == "" {
		use = usualKeeper(env)
	}
	switch use {
	case "systemd", "debian":
		return systemdKeeper(ctx, env), nil
	case "file":
		return fileKeeper(ctx, "/etc/hostname"), nil
	case "sles":
		return fileKeeper(ctx, "/etc/HOSTNAME"), nil
	case "alpine":
		k := fileKeeper(ctx, "/etc/hostname")
		k.permanentFirst = true // the tool reads the file
		k.setCurrent = func(string) error {
			return toolFailure(tool.Host{Ctx: ctx, Env: env}.Run("hostname", "-F", "/etc/hostname"))
		}
		return k, nil
	case "openrc":
		return lineKeeper(ctx, "/etc/conf.d/hostname", "hostname=", `hostname="%s"`), nil
	case "redhat":
		return lineKeeper(ctx, "/etc/sysconfig/network", "HOSTNAME=", "HOSTNAME=%s"), nil
	}
	return nil, fmt.Errorf("hostname module cannot be used on platform Linux (%s)", osrelease.Distribution())
}

// usualKeeper returns what a host without systemd uses, by its distribution.
func usualKeeper(env *modules.Env) string {
	if _, err := os.Stat("/run/systemd/system/"); err == nil && env.LookPath("systemctl") != "" {
		return "systemd"
	}
	switch osrelease.Distribution() {
	case "Debian", "Kylin", "Cumulus-linux", "Kali", "Parrot", "Ubuntu", "Linuxmint", "Linaro", "Devuan", "Raspbian",
		"Uos", "Deepin", "Neon", "Void", "Pop":
		return "file"
	case "Redhat", "Centos", "Anolis", "Cloudlinuxserver", "Cloudlinux", "Alinux", "Scientific", "Oracle", "Virtuozzo",
		"Amazon", "Altlinux", "Eurolinux":
		return "redhat"
	case "Alpine":
		return "alpine"
	case "Gentoo":
		return "openrc"
	case "Sles":
		return "sles"
	}
	return ""
}

// set makes name the host's name; in check mode it only reports whether it would.
func (k *keeper) set(name string, check bool) (modules.Result, error) {
	permanent, err := k.permanent()
	if err != nil {
		return modules.Result{}, err
	}
	current := permanent
	if k.current != nil {
		if current, err = k.current(); err != nil {
			return modules.Result{}, err
		}
	}
	before := permanent
	if current != name {
		before = current
	}
	var steps []func(string) error
	if current != name && k.setCurrent != nil {
		steps = append(steps, k.setCurrent)
	}
	if permanent != name {
		steps = append(steps, k.setPermanent)
		if n := len(steps); k.permanentFirst && n == 2 {
			steps[0], steps[1] = steps[1], steps[0]
		}
	}
	for _, step := range steps {
		if check {
			break
		}
		if err := step(name); err != nil {
			return modules.Result{}, err
		}
	}
	return k.outcome(name, before), nil
}

func (k *keeper) outcome(name, before string) modules.Result {
	now, _ := os.Hostname()
	fqdn := fqdn.Of(k.ctx, now)
	_, domain, _ := strings.Cut(fqdn, ".")
	short, _, _ := strings.Cut(name, ".")
	res := modules.Result{
		Changed: before != name, Data: value.DictOf("name", name),
		Facts: value.DictOf("ansible_hostname", short, "ansible_nodename", name, "ansible_fqdn", fqdn, "ansible_domain",
			domain),
	}
	if res.Changed {
		res.Diff = []modules.Diff{{Before: "hostname = " + before + "\n", After: "hostname = " + name + "\n"}}
	}
	return res
}

func systemdKeeper(ctx context.Context, env *modules.Env) *keeper {
	ask := func(which string) func() (string, error) {
		return func() (string, error) {
			out, err := tool.Host{Ctx: ctx, Env: env}.Run("hostnamectl", which, "status")
			return strings.TrimSpace(out.Stdout), toolFailure(out, err)
		}
	}
	tell := func(options ...string) func(string) error {
		return func(name string) error {
			if len(name) > 64 {
				return fmt.Errorf("name cannot be longer than 64 characters on systemd servers, try a shorter name")
			}
			return toolFailure(tool.Host{Ctx: ctx, Env: env}.Run("hostnamectl", append(options, "set-hostname", name)...))
		}
	}
	return &keeper{
		ctx: ctx, current: ask("--transient"), permanent: ask("--static"),
		setCurrent: tell("--transient"), setPermanent: tell("--pretty", "--static"), permanentFirst: true,
	}
}

// toolFailure is the failure of a tool that did not do what it was told.
func toolFailure(out tool.Output, err error) error {
	if err != nil || out.Rc == 0 {
		return err
	}
	//lint:ignore ST1005 the words that users see
	return fmt.Errorf("Command failed rc=%d, out=%s, err=%s", out.Rc, out.Stdout, out.Stderr)
}

// bound: the file of a container may be one of its host, in whose place no other can be put.
const bound = true

// fileKeeper returns a file that holds nothing but the name.
func fileKeeper(ctx context.Context, path string) *keeper {
	return &keeper{
		ctx: ctx,
		permanent: func() (string, error) {
			if !fsx.IsFile(path) {
				return "", nil
			}
			raw, err := os.ReadFile(path)
			return strings.TrimSpace(string(raw)), keepError(err, "read", path)
		},
		setPermanent: func(name string) error {
			return keepError(fsx.WriteFile(path, []byte(name+"\n"), bound), "update", path)
		},
	}
}

// lineKeeper returns a file in which one line, found by its prefix, holds the name.
func lineKeeper(ctx context.Context, path, prefix, format string) *keeper {
	return &keeper{
		ctx: ctx,
		permanent: func() (string, error) {
			raw, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				return "", keepError(err, "read", path)
			}
			for _, line := range strings.Split(string(raw), "\n") {
				if name, ok := strings.CutPrefix(strings.TrimSpace(line), prefix); ok {
					return strings.Trim(strings.TrimSpace(name), `"`), nil
				}
			}
			return "", nil
		},
		setPermanent: func(name string) error {
			raw, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				return keepError(err, "update", path)
			}
			text := withLine(string(raw), prefix, fmt.Sprintf(format, name))
			return keepError(fsx.WriteFile(path, []byte(text), bound), "update", path)
		},
	}
}

// withLine puts a line in the place of those with the prefix, or at the end if there is none.
func withLine(text, prefix, line string) string {
	found := false
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, old := range lines {
		if strings.HasPrefix(strings.TrimSpace(old), prefix) {
			lines[i], found = line, true
		}
	}
	if !found {
		lines = append(lines, line)
	}
	return strings.TrimPrefix(strings.Join(lines, "\n")+"\n", "\n")
}

func keepError(err error, what, path string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("failed to %s hostname: %s", what, oserr.Path(err, path))
}

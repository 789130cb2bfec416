package facts

import (
	"bytes"
	"encoding/json"
	"strings"

	"golang.org/x/sys/unix"

	"hark/modules"
	"hark/modules/internal/fqdn"
)

func platform(p *probe) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return
	}
	machine, node := unix.ByteSliceToString(u.Machine[:]), unix.ByteSliceToString(u.Nodename[:])
	p.set("system", unix.ByteSliceToString(u.Sysname[:]))
	p.set("kernel", unix.ByteSliceToString(u.Release[:]))
	p.set("kernel_version", unix.ByteSliceToString(u.Version[:]))
	p.set("machine", machine)
	p.set("nodename", node)
	p.set("hostname", strings.SplitN(node, ".", 2)[0])
	full := fqdn.Of(p.ctx, node)
	p.set("fqdn", full)
	_, domain, _ := strings.Cut(full, ".")
	p.set("domain", domain)
	architecture(p, machine)
	if id := strings.SplitN(content("/var/lib/dbus/machine-id")+"\n", "\n", 2)[0]; id != "" {
		p.set("machine_id", id)
	} else if id := content("/etc/machine-id"); id != "" {
		p.set("machine_id", strings.SplitN(id, "\n", 2)[0])
	}
	if py := interpreter(p); py != nil {
		p.set("python_version", py.Release)
	}
}

// architecture is that of the machine; the user space is 32 bits wide where the kernel says so.
func architecture(p *probe, machine string) {
	bits := "64"
	if strings.HasPrefix(machine, "i") || strings.HasPrefix(machine, "armv") {
		bits = "32"
	}
	p.set("userspace_bits", bits)
	p.set("architecture", machine)
	switch {
	case machine == "x86_64":
		p.set("userspace_architecture", "x86_64")
	case len(machine) == 4 && strings.HasPrefix(machine, "i") && strings.HasSuffix(machine, "86"):
		p.set("architecture", "i386")
		p.set("userspace_architecture", "i386")
	}
}

// pythonInfo is what an interpreter says of itself.
type pythonInfo struct {
	Release    string `json:"release"`
	Info       []any  `json:"info"`
	Executable string `json:"executable"`
	SSL        bool   `json:"ssl"`
	Type       string `json:"type"`
	// Distro is the version of the distribution, if the library distro is there.
	Distro string `json:"distro"`
}

// debianDistro is where Debian's package puts the library distro.
const debianDistro = "/usr/lib/python3/dist-packages/distro"

const pythonProbe = `import sys, json, platform
try:
    from ssl import SSLContext
    ssl = True
except ImportError:
    ssl = False
try:
    import distro
    version = distro.version(best=True)
except Exception:
    version = ''
print(json.dumps(dict(release=platform.python_version(), info=list(sys.version_info), executable=sys.executable, ssl=ssl, type=sys.implementation.name, distro=version)))`

// interpreter asks the host's Python about itself, once for as long as the interpreter stays the same; nil
// without one.
func interpreter(p *probe) *pythonInfo {
	path, command := p.env.Python(), p.env.PythonCommand()
	if path == "" {
		return nil
	}
	info, _ := p.known.recall("python "+strings.Join(command, " "), stampOf(path, debianDistro, debianDistro+".py"),
		func() (any, bool) {
			out, err := p.env.Exec(p.ctx, modules.Command{Argv: append(command, "-c", pythonProbe), Timeout: p.limit})
			py, answer := &pythonInfo{}, json.NewDecoder(bytes.NewReader(out.Stdout))
			answer.UseNumber()
			if err != nil || answer.Decode(py) != nil || len(py.Info) != 5 {
				return (*pythonInfo)(nil), err == nil && !out.TimedOut
			}
			for i, v := range py.Info {
				if n, ok := v.(json.Number); ok {
					py.Info[i], _ = n.Int64()
				}
			}
			return py, true
		}).(*pythonInfo)
	return info
}

func python(p *probe) {
	py := interpreter(p)
	if py == nil {
		return
	}
	p.set("python", map[string]any{
		"version": map[string]any{
			"major": py.Info[0], "minor": py.Info[1], "micro": py.Info[2], "releaselevel": py.Info[3], "serial": py.Info[4],
		},
		"version_info":   py.Info,
		"executable":     py.Executable,
		"has_sslcontext": py.SSL,
		"type":           py.Type,
	})
}

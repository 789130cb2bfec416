// Package foreign runs modules that are not native to hark: those written in Python, and scripts and programs of any
// kind that speak Ansible's contract for modules. They come from the controller, packed with what they import
// (package playbook/foreign makes the packs), and run as processes of their own. The host needs the interpreter they
// are written for.
package foreign

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"hark/modules"
	"hark/modules/py/value"
)

// Name is the full name of the one module of this package.
const Name = "hark.builtin.foreign"

// SourceDir is the Env.Source directory under which the controller hands out the pack of a step's module.
const SourceDir = "module"

// All returns the modules of this package: the one that runs what the plan's step names, which is not native. It
// keeps Pythons that wait for the next call.
func All() []*modules.Module {
	p := &pythons{}
	return []*modules.Module{modules.Define(Name, "Runs a module that is not native, from the controller's disk.", p.run,
		modules.WithResolve(resolve),
		modules.With(func(m *modules.Module) { m.AnyArgs, m.FreeForm, m.Foreign, m.Close = true, true, true, p.close }),
		modules.RunsPrograms)}
}

type args struct {
	Pack string `arg:"hark_pack,hidden"`
	// Args are the module's own arguments, as JSON.
	Args string `arg:"hark_args,hidden"`
	// Settings is what the module is told beside them, as JSON.
	Settings string `arg:"hark_told,hidden"`
}

// resolve names the pack to the host. The module's own arguments move out of the way of these.
func resolve(ctx context.Context, env *modules.Env, all *value.Dict) error {
	src, err := env.Source(ctx, SourceDir, env.Name, false)
	if err != nil {
		return modules.Raise("%v", err)
	}
	told, err := moduleSettings(ctx, env)
	if err != nil {
		return err
	}
	*all = *Arguments(src.Digest, all, told)
	return nil
}

// Arguments returns those of this package's module, for a pack, the arguments of the module in it and what that is
// told beside them (modules.Env has ForModules). They keep what Python distinguishes: 1.0 is not 1.
func Arguments(pack string, own, told *value.Dict) *value.Dict {
	all := value.DictOf("hark_pack", pack, "hark_args", modules.PyJSON(own))
	if told.Len() > 0 {
		all.Put("hark_told", value.JSONText(told, value.JSONOptions{}))
	}
	return all
}

// moduleSettings returns what modules get from the settings and the variables of the task beside their arguments.
func moduleSettings(ctx context.Context, env *modules.Env) (*value.Dict, error) {
	all := value.NewDict()
	if env.ForModules != nil {
		all = env.ForModules.Copy()
	}
	if env.Option == nil {
		return all, nil
	}
	for _, name := range []string{"syslog_facility", "shell_executable", "remote_tmp", "socket"} {
		v, ok, err := env.Option(ctx, "ansible_"+name)
		if err != nil {
			return nil, err
		}
		if ok && modules.Str(v) != "" {
			all.Put(name, v)
		}
	}
	for _, name := range scripting {
		v, ok, err := env.Option(ctx, "ansible_"+name+"_interpreter")
		if err != nil {
			return nil, err
		}
		if ok && modules.Str(v) != "" {
			all.Put(interpreterOf+name, v)
		}
	}
	return all, nil
}

// scripting are the programs that scripts name in their first line and that variables may replace
// (ansible_perl_interpreter).
var scripting = []string{"sh", "bash", "dash", "ksh", "zsh", "perl", "ruby", "node", "php", "lua", "tclsh", "env"}

// interpreterOf is what the key of such a program begins with in what a module is told.
const interpreterOf = "interpreter of "

// manifest says what a pack holds.
type manifest struct {
	Style   string `json:"style"`
	Entry   string `json:"entry"`
	Version string `json:"version"`
	// Base names, by their content, the files that every module in Python imports.
	Base string `json:"base"`
	// Internals are the arguments with which this Ansible tells modules how they are run; nil for all that were
	// always there.
	Internals []string `json:"internals"`
}

// maxPack is the largest pack, in bytes: it is held in memory.
const maxPack = 256 << 20

func (p *pythons) run(ctx context.Context, env *modules.Env, a args) (modules.Result, error) {
	read := sync.OnceValues(func() ([]byte, error) { return readPack(ctx, env, a.Pack) })
	m, err := p.manifests.of(a.Pack, read)
	if err != nil {
		return modules.Result{}, fmt.Errorf("cannot read the pack of the module %s: %w", env.Name, err)
	}
	dir, err := env.ScratchDir()
	if err != nil {
		return modules.Result{}, fmt.Errorf("cannot make a directory for the module %s: %w", env.Name, err)
	}
	defer os.RemoveAll(dir)
	own, err := value.ParseJSON(a.Args, value.KindStr)
	if err != nil {
		return modules.Result{}, fmt.Errorf("cannot read the arguments of the module %s: %w", env.Name, err)
	}
	object, _ := own.(*value.Dict)
	beside, err := value.ParseJSON(cmp.Or(a.Settings, "{}"), value.KindStr)
	if err != nil {
		return modules.Result{}, fmt.Errorf("cannot read what the module %s is told: %w", env.Name, err)
	}
	told, _ := beside.(*value.Dict)
	c := &call{env: env, dir: dir, m: m, settings: told, args: withInternals(env, m, dir, object, told)}
	var out modules.Output
	if m.Style == "python" {
		out, err = c.python(ctx, p, wanted{digest: a.Pack, read: read, m: m, environ: env.Environ})
	} else {
		out, err = c.file(ctx, read)
	}
	if err != nil {
		return modules.Result{}, err
	}
	return c.result(out), nil
}

// call is one run of a foreign module.
type call struct {
	env      *modules.Env
	dir      string // of its own, removed afterwards
	m        manifest
	args     *value.Dict
	settings *value.Dict // beside the arguments
	// program is what was started.
	program string
}

// manifests are those of packs that were read: a call that finds its Python needs no more of a pack.
type manifests struct {
	mu    sync.Mutex
	known map[string]manifest // by the digests of packs; guarded by mu
}

// mostManifests is how many are kept.
const mostManifests = 500

// of returns the manifest of a pack, which is read if it was not before.
func (k *manifests) of(digest string, read func() ([]byte, error)) (manifest, error) {
	k.mu.Lock()
	m, ok := k.known[digest]
	k.mu.Unlock()
	if ok {
		return m, nil
	}
	raw, err := read()
	if err != nil {
		return m, err
	}
	text, err := member(raw, "manifest.json")
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= mostManifests {
		k.known = map[string]manifest{}
	}
	k.known[digest] = m
	return m, nil
}

// readPack reads a pack.
func readPack(ctx context.Context, env *modules.Env, digest string) ([]byte, error) {
	r, err := env.Open(ctx, digest)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxPack))
}

// member returns one file of a pack.
func member(pack []byte, name string) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(pack), int64(len(pack)))
	if err != nil {
		return nil, err
	}
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxPack))
}

// withInternals adds the arguments with which Ansible tells modules how they are run.
func withInternals(env *modules.Env, m manifest, dir string, own, told *value.Dict) *value.Dict {
	all := own.Copy()
	verbosity := int64(env.Verbosity)
	internals := map[string]any{
		"check_mode": env.Check, "diff": env.Diff, "verbosity": verbosity, "no_log": env.NoLog, "debug": false,
		"version": m.Version, "module_name": env.Name, "syslog_facility": "LOG_USER", "shell_executable": "/bin/sh",
		"selinux_special_fs":       modules.List(specialFilesystems),
		"string_conversion_action": "warn", "socket": nil, "keep_remote_files": false, "tmpdir": dir,
		"remote_tmp": "~/.ansible/tmp",
		// These came later, and others refuse them.
		"ignore_unknown_opts": false, "target_log_info": nil, "tracebacks_for": tracebacks(env), "inject_invocation": true,
	}
	for name := range internals {
		if v, ok := told.Get(name); ok {
			internals[name] = v
		}
	}
	for _, k := range slices.Sorted(maps.Keys(internals)) {
		if slices.Contains(m.Internals, k) || m.Internals == nil && !slices.Contains(later, k) {
			all.Put("_ansible_"+k, internals[k])
		}
	}
	return all
}

// tracebacks returns the events for which modules say where they came from: since ansible-core 2.19 they have to be
// asked.
func tracebacks(env *modules.Env) []any {
	if env.Verbosity < 3 {
		return []any{}
	}
	return []any{"error"}
}

var specialFilesystems = []string{"fuse", "nfs", "vboxsf", "ramfs", "9p", "vfat"}

// later are the internal arguments that ansible-core has not always had.
var later = []string{"ignore_unknown_opts", "target_log_info", "tracebacks_for", "inject_invocation"}

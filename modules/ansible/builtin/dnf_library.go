package builtin

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/internal/host/httpx"
	"hark/modules/internal/host/tool"
	"hark/modules/py/value"
)

// dnfScript does the work with dnf's own library.
//
//go:embed dnf.py
var dnfScript string

// dnfLoader reads a request with its script, so that neither is in a list of processes.
const dnfLoader = `import json, sys
request = json.load(sys.stdin)
exec(compile(request["script"], "dnf.py", "exec"))`

// libraryPython returns the command of the Python that a program is written in; nil if it is another kind of program.
// dnf 4 and yum 4 are scripts in Python, dnf 5 is not.
func libraryPython(program string) []string {
	f, err := os.Open(program)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	words, ok := strings.CutPrefix(string(line), "#!")
	if !ok || !strings.Contains(words, "python") {
		return nil
	}
	return strings.Fields(words)
}

// library plays the task with dnf's library, as Ansible's module does.
func (d *dnf) library(python []string) (modules.Result, error) {
	changes := d.args.List == nil && !(d.args.UpdateCache && len(d.names) == 0)
	if changes && !d.args.DownloadOnly && os.Geteuid() != 0 {
		return modules.Result{Failed: true, Msg: "This command has to be run under the root user.",
			Data: value.DictOf("results", []any{})}, nil
	}
	dir, err := d.env.ScratchDir()
	if err != nil {
		return modules.Result{}, err
	}
	defer os.RemoveAll(dir)
	request := d.request()
	if changes {
		names, files, err := d.fetched(dir)
		if err != nil {
			return modules.Result{}, err
		}
		request.Put("names", words(names))
		request.Put("files", words(files))
		request.Put("state", d.state)
	}
	out, err := tool.Run(d.ctx, d.env, modules.Command{
		Argv:  append(python, "-I", "-c", dnfLoader),
		Stdin: value.PlainJSON(request), Env: append(tool.Plain(), "LANGUAGE=C.UTF-8"), Literal: true,
	})
	if err != nil {
		return modules.Result{}, err
	}
	return libraryResult(out, python[0])
}

// request returns what the script is asked for by every task.
func (d *dnf) request() *value.Dict {
	a := &d.args
	optional := func(s *string) any {
		if s == nil {
			return nil
		}
		return *s
	}
	choice := func(b *bool) any {
		if b == nil {
			return nil
		}
		return *b
	}
	options := value.DictOf(
		"allow_downgrade", a.AllowDowngrade, "allowerasing", a.AllowErasing, "autoremove", a.Autoremove,
		"best", choice(a.Best), "bugfix", a.Bugfix, "cacheonly", a.CacheOnly, "conf_file", optional(a.ConfFile),
		"disable_excludes", optional(a.DisableExcludes), "disable_gpg_check", a.NoGPGCheck,
		"disable_plugin", words(a.DisablePlugin), "disablerepo", words(a.DisableRepo),
		"download_dir", optional(a.DownloadDir), "download_only", a.DownloadOnly,
		"enable_plugin", words(a.EnablePlugin), "enablerepo", words(a.EnableRepo), "exclude", words(a.Exclude),
		"install_weak_deps", a.WeakDeps, "installroot", a.InstallRoot, "nobest", choice(a.NoBest),
		"releasever", optional(a.ReleaseVer), "security", a.Security, "skip_broken", a.SkipBroken,
		"sslverify", a.SSLVerify, "update_cache", a.UpdateCache, "update_only", a.UpdateOnly,
	)
	return value.DictOf(
		"script", dnfScript, "names", []any{}, "files", []any{}, "state", "", "list", optional(a.List),
		"check", d.env.Check, "by_query", d.env.Has(dialect.DnfQueries), "options", options,
	)
}

func words(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// fetched parts the names of packages from files, and brings those that have an address into dir.
func (d *dnf) fetched(dir string) (names, files []string, err error) {
	for _, name := range d.names {
		switch {
		case strings.Contains(name, "://"):
			file, err := d.fetch(name, dir)
			if err != nil {
				return nil, nil, err
			}
			files = append(files, file)
		case strings.HasSuffix(name, ".rpm"):
			files = append(files, name)
		default:
			names = append(names, name)
		}
	}
	return names, files, nil
}

// fetch brings a package file to the host.
func (d *dnf) fetch(address, dir string) (string, error) {
	body, msg, err := httpx.Open(d.ctx, d.env, address, d.args.Validate)
	if err != nil {
		return "", err
	}
	if body == nil {
		return "", tool.Fail(nil, "Failure downloading %s, %s", address, msg)
	}
	defer body.Close()
	sub, err := os.MkdirTemp(dir, "")
	if err != nil {
		return "", err
	}
	name := path.Base(address)
	if !strings.HasSuffix(name, ".rpm") || len(name) > 255 {
		name = "package.rpm"
	}
	file := filepath.Join(sub, name)
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, body)
	return file, errors.Join(err, f.Close())
}

// libraryResult reads the script's answer.
func libraryResult(out tool.Output, python string) (modules.Result, error) {
	answer, err := value.ParseJSON(out.Stdout, value.KindUnsafe)
	reply, ok := answer.(*value.Dict)
	if err != nil || !ok {
		lines := strings.Split(strings.TrimSpace(out.Stderr), "\n")
		return modules.Result{}, tool.Fail(value.DictOf("rc", int64(out.Rc), "results", []any{}),
			"dnf ended without an answer: %s", lines[len(lines)-1])
	}
	if why := reply.Text("missing"); why != "" {
		return modules.Result{}, tool.Fail(value.DictOf("results", []any{}),
			"Could not import the dnf python module using %s: %s", python, why)
	}
	v, _ := reply.Get("result")
	data, ok := v.(*value.Dict)
	if !ok {
		return modules.Result{}, fmt.Errorf("dnf answered %s", out.Stdout)
	}
	res := modules.Result{Changed: data.True("changed"), Failed: data.True("failed"), Data: data}
	for _, flag := range []string{"changed", "failed"} {
		data.Delete(value.Str(flag))
	}
	if warnings, _ := reply.Get("warnings"); warnings != nil {
		for _, w := range warnings.(*value.List).Items {
			text, _ := value.Text(w)
			res.Warnings = append(res.Warnings, text)
		}
	}
	return res, nil
}

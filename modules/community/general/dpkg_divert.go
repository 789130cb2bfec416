package general

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"hark/modules"
	"hark/modules/internal/fsx"
	"hark/modules/internal/host/tool"
	"hark/modules/internal/oserr"
	"hark/modules/py/value"
)

type dpkgDivertArgs struct {
	Path   string  `arg:"path,required,type=path" doc:"The file whose packaged version goes elsewhere."`
	State  string  `arg:"state,default=present,choices=absent|present" doc:"Whether it is diverted."`
	Holder *string `arg:"holder" doc:"The package whose file is not diverted; the host itself, LOCAL, if not given."`
	Divert *string `arg:"divert,type=path" doc:"Where it goes; the path with .distrib after it if not given."`
	Rename bool    `arg:"rename,default=no" doc:"Move the file that is there too."`
	Force  bool    `arg:"force,default=no" doc:"Let rename replace what is at its target."`
}

// DpkgDivert is community.general.dpkg_divert.
var DpkgDivert = modules.Define("community.general.dpkg_divert", "Override a package's version of a file", runDpkgDivert,
	modules.Documented(`- community.general.dpkg_divert: {path: /usr/bin/busybox, rename: true}
- community.general.dpkg_divert: {path: /usr/bin/busybox, holder: branding, divert: /usr/bin/busybox.branded}
- community.general.dpkg_divert: {path: /usr/bin/busybox, state: absent, rename: true, force: true}
`,
		modules.Return{Name: "commands", Type: "list", When: "success", Doc: "The command lines that were run."},
		modules.Return{Name: "messages", Type: "list", When: "success", Doc: "What they printed."},
		modules.Return{Name: "diversion", Type: "dict", When: "always", Doc: "The diversion after the task: path, state, divert, holder."},
	))

// diversion is what dpkg knows of a path. Without one, divert and holder are empty.
type diversion struct{ path, divert, holder string }

func (d diversion) present() bool { return d.holder != "" }

func (d diversion) data() *value.Dict {
	if !d.present() {
		return value.DictOf("path", d.path, "state", "absent", "divert", nil, "holder", nil)
	}
	return value.DictOf("path", d.path, "state", "present", "divert", d.divert, "holder", d.holder)
}

// dpkgDivert is one call of the module.
type dpkgDivert struct {
	tool.Host
	args           dpkgDivertArgs
	program        string
	before, wanted diversion
	// keeps tells that dpkg-divert knows --no-rename: before 1.19.1 that was what it did by itself.
	keeps bool
	// commands are those of the result; last is the output of the one that failures speak of.
	commands, messages []any
	last               tool.Output
}

func runDpkgDivert(ctx context.Context, env *modules.Env, a dpkgDivertArgs) (modules.Result, error) {
	d := &dpkgDivert{Host: hostOf(ctx, env), args: a, wanted: a.wanted()}
	var err error
	if d.program, err = tool.Find(env, "dpkg-divert"); err != nil {
		return modules.Result{}, err
	}
	if err = d.askVersion(); err != nil {
		return modules.Result{}, err
	}
	if d.before, err = d.look(); err != nil {
		return modules.Result{}, err
	}
	if err = d.bring(); err != nil {
		return modules.Result{}, err
	}
	after := d.wanted
	if !env.Check {
		if after, err = d.look(); err != nil {
			return modules.Result{}, err
		}
	}
	if after != d.wanted {
		return modules.Result{}, d.fail(after, "Unexpected error: see stdout and stderr for details.")
	}
	diff := modules.Diff{Raw: value.NewDict()}
	if env.Diff {
		diff.Raw = value.DictOf("before", d.before.data(), "after", after.data())
	}
	return modules.Result{Changed: after != d.before, Diff: []modules.Diff{diff}, Data: value.DictOf(
		"diversion", after.data(), "commands", d.commands, "messages", d.messages,
	)}, nil
}

func (a *dpkgDivertArgs) wanted() diversion {
	d := diversion{path: a.Path}
	if a.State == "absent" {
		return d
	}
	if d.holder = modules.Text(a.Holder); d.holder == "" {
		d.holder = "LOCAL"
	}
	if d.divert = modules.Text(a.Divert); d.divert == "" {
		d.divert = a.Path + ".distrib"
	}
	return d
}

func (d *dpkgDivert) askVersion() error {
	out, err := d.must("--version")
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(out.Stdout, "\n")
	for _, word := range strings.Fields(line) {
		v := numbers(word)
		if len(v) < 2 {
			continue
		}
		if slices.Compare(v, []int{1, 15, 0}) < 0 {
			return tool.Fail(nil, "Unsupported dpkg version (<1.15.0).")
		}
		d.keeps = slices.Compare(v, []int{1, 19, 1}) >= 0
		return nil
	}
	return tool.Fail(nil, "cannot find the version of dpkg-divert in %q", line)
}

// numbers are the parts of a version up to the first that is none.
func numbers(version string) (parts []int) {
	for _, part := range strings.Split(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		parts = append(parts, n)
	}
	return parts
}

func (d *dpkgDivert) divert(args ...string) (tool.Output, error) {
	return tool.Run(d.Ctx, d.Env, modules.Command{Argv: append([]string{d.program}, args...)})
}

func (d *dpkgDivert) must(args ...string) (tool.Output, error) {
	out, err := d.divert(args...)
	if err == nil {
		err = out.Check()
	}
	return out, err
}

// look is the diversion as it is.
func (d *dpkgDivert) look() (diversion, error) {
	now := diversion{path: d.args.Path}
	out, err := d.must("--listpackage", now.path)
	if err != nil || out.Stdout == "" {
		return now, err
	}
	now.holder = strings.TrimSpace(out.Stdout)
	if out, err = d.must("--truename", now.path); err == nil {
		now.divert = strings.TrimSpace(out.Stdout)
	}
	return now, err
}

// options are those that make the change in one step.
func (d *dpkgDivert) options(rename bool) (args []string) {
	if rename {
		args = append(args, "--rename")
	} else if d.keeps {
		args = append(args, "--no-rename")
	}
	if !d.wanted.present() {
		return append(args, "--remove", d.args.Path)
	}
	if d.wanted.holder == "LOCAL" {
		args = append(args, "--local")
	} else {
		args = append(args, "--package", d.wanted.holder)
	}
	if modules.Text(d.args.Divert) != "" {
		args = append(args, "--divert", d.wanted.divert)
	}
	return append(args, "--add", d.args.Path)
}

func (d *dpkgDivert) note(args []string) {
	d.commands = append(d.commands, strings.Join(append([]string{d.program}, args...), " "))
}

func (d *dpkgDivert) say(out tool.Output) {
	d.messages = append(d.messages, strings.TrimRight(out.Stdout, " \t\r\n"))
}

// bring makes the change, or tries what it would do.
func (d *dpkgDivert) bring() (err error) {
	args := d.options(d.args.Rename)
	d.note(args)
	if d.Env.Check || d.wanted == d.before {
		args = slices.Insert(args, 0, "--test")
	}
	if d.last, err = d.divert(args...); err != nil {
		return err
	}
	switch {
	case d.last.Rc == 0:
		d.say(d.last)
		return nil
	case d.wanted.present() != d.before.present():
		return d.makeRoom(args)
	}
	return d.replace()
}

// makeRoom removes the file that keeps dpkg-divert from renaming, and lets it try again.
func (d *dpkgDivert) makeRoom(args []string) error {
	target := d.wanted.divert
	if !d.wanted.present() {
		target = d.before.divert
	}
	if !d.args.Rename || !fsx.Exists(d.args.Path) || !fsx.Exists(target) {
		return d.fail(d.before, "Unexpected error while changing state of the diversion.")
	}
	if !d.args.Force {
		return d.fail(d.before, "Set 'force' param to True to force renaming of files.")
	}
	remove := d.args.Path
	if d.wanted.present() {
		remove = d.wanted.divert
	}
	if !d.Env.Check {
		if err := syscall.Unlink(remove); err != nil {
			return d.fail(d.before, "Failed to remove %s: %s", remove, oserr.Bytes(err, remove))
		}
		var err error
		if d.last, err = d.must(args...); err != nil {
			return err
		}
	}
	d.say(d.last)
	return nil
}

// replace ends a diversion of another holder or to another place, which dpkg-divert cannot change, and makes the wanted one.
func (d *dpkgDivert) replace() error {
	remove := []string{"--remove", d.args.Path}
	if d.keeps {
		remove = slices.Insert(remove, 0, "--no-rename")
	}
	add := d.options(false)
	d.commands = nil
	d.note(remove)
	if d.Env.Check {
		d.note(d.tested(add))
		out, err := d.must(slices.Insert(remove, 0, "--test")...)
		d.say(out)
		d.messages = append(d.messages, "Running in check mode")
		return err
	}
	d.note(add)
	out, err := d.must(remove...)
	if err != nil {
		return err
	}
	d.say(out)
	if d.last, err = d.must(add...); err != nil {
		return err
	}
	d.say(d.last)
	if from, to := d.before.divert, d.wanted.divert; from != to && fsx.Exists(from) && !fsx.Exists(to) {
		_ = os.Rename(from, to) // what the old diversion set aside follows if it can; the diversion stands without it
	}
	return nil
}

// tested is a command line as Ansible shows it in check mode: with --test where --rename had stood after it.
func (d *dpkgDivert) tested(add []string) []string {
	if !d.args.Rename {
		return add
	}
	at := 0
	if d.keeps {
		at = 1
	}
	return slices.Insert(slices.Clone(add), at, "--test")
}

// fail is a failure with what the last command left.
func (d *dpkgDivert) fail(now diversion, format string, a ...any) error {
	data := d.last.Data()
	data.Put("cmd", d.commands[len(d.commands)-1])
	data.Put("diversion", now.data())
	return tool.Fail(data, format, a...)
}

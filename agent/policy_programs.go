package agent

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/agent/internal/runner"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
)

// A limit on modules or paths is worth nothing if a module that it lets pass runs a program of the caller's: what can
// do that is refused unless it is named.

// limited reports whether the rule bounds what modules may do, beyond their users.
func (r *Rule) limited() bool { return len(r.Modules)+len(r.Paths) > 0 }

// names reports whether a module is given by its own name.
func (r *Rule) names(m *modules.Module) bool {
	return m.NamedIn(r.Modules) || r.unconfined(m)
}

// changes reports whether a call changes something though the operator may only look.
func (r *Rule) changes(inv runner.Invocation) error {
	switch {
	case !r.Check:
		return nil
	case inv.Call.Async > 0: // what is kept of a job is written, where the caller says
		return forbidden("to start a job: this operator may look and not change")
	case inv.Module.Has(modules.AsksForJobs):
		return nil
	case r.unconfined(inv.Module) && (inv.Call.Check || inv.Module.Facts) && !inv.Module.NoCheck && !inv.Module.Foreign:
		return nil
	case inv.Module.Foreign: // its code comes with the call, and does in check mode what it likes
		return forbidden("the module %s, since this operator may look and not change", inv.Module.Name)
	case inv.Module.NoCheck:
		return forbidden("the module %s, which has no check mode: this operator may look and not change", inv.Module.Name)
	case !inv.Call.Check && !inv.Module.Facts:
		return forbidden("the module %s but in check mode (--check): this operator may look and not change", inv.Module.Name)
	case !inv.Module.Has(modules.ReadsInCheck):
		return forbidden("the module %s, which starts programs in check mode (%s): this operator may look and not change",
			inv.Module.Name,
			strings.Join(inv.Module.StartsInCheck, ", "))
	}
	return nil
}

// unconfined reports whether the rule lets a module be that neither Check nor Paths can bind.
func (r *Rule) unconfined(m *modules.Module) bool { return m.NamedIn(r.Unconfined) }

// bounds returns what the module of a call must keep to while it runs, whatever its arguments say.
func (p *Policy) bounds(operator string, inv runner.Invocation) (modules.Bounds, error) {
	r, err := p.rule(operator)
	if err != nil || inv.Module.Has(modules.AsksForJobs) || r.unconfined(inv.Module) {
		return modules.Bounds{}, err
	}
	var b modules.Bounds
	if r.Check && !inv.Module.Facts {
		b.NoPrograms = "this operator may look and not change"
	}
	if len(r.Paths) == 0 || !inv.Module.Has(modules.OpensByPath) {
		return b, nil
	}
	for _, dir := range r.Paths {
		b.Paths = append(b.Paths, filepath.Clean(dir))
	}
	if b.NoPrograms == "" && !r.grantsProgram(inv) {
		b.NoPrograms = "paths bind what modules open, and not what programs do"
	}
	return b, nil
}

// grantsProgram reports whether a call names a program that the rule allows it.
func (r *Rule) grantsProgram(inv runner.Invocation) bool {
	return slices.ContainsFunc(inv.Module.Programs, func(name string) bool {
		p := paramOf(inv.Module, name)
		return p != nil && isGiven(p, inv.Args) && slices.Contains(r.Arguments, inv.Module.Name+"."+name)
	})
}

// job reports whether an operator may ask about a job, or have its file removed.
func (p *Policy) job(operator string, q modules.JobQuery) error {
	r, err := p.rule(operator)
	switch {
	case err != nil:
		return err
	case !r.module(modules.AsyncStatus):
		return forbidden("the module %s", modules.AsyncStatus)
	case r.Check && q.Mode != "status":
		return forbidden("to remove what is kept of a job: this operator may look and not change")
	}
	return r.inside("the directory of jobs", q.Dir)
}

// jobs reports whether an operator may do what `hark jobs` wants.
func (p *Policy) jobs(operator string, q wire.JobsQuery) error {
	r, err := p.rule(operator)
	switch {
	case err != nil:
		return err
	case !r.module(wire.JobsModule):
		return forbidden("the module %s", wire.JobsModule)
	case r.Check && q.Op == "cancel":
		return forbidden("to end a job: this operator may look and not change")
	}
	return nil
}

// inside reports whether a directory that a call names beside its arguments lies where it may.
func (r *Rule) inside(what, dir string) error {
	if dir == "" || len(r.Paths) == 0 {
		return nil
	}
	if !filepath.IsAbs(dir) || slices.Contains(strings.Split(dir, "/"), "..") || !r.within(dir) ||
		!r.within(resolve(dir)) {
		return forbidden("%s %s", what, dir)
	}
	return nil
}

// programs reports whether a call can have a program of the caller's run. What a module starts of its own accord is
// for changes and bounds.
func (r *Rule) programs(inv runner.Invocation) error {
	if !r.limited() && !r.Check {
		return nil
	}
	m := inv.Module
	if m.Runs && r.limited() && !r.names(m) {
		return forbidden("the module %s, which can run any program: it would have to be named without * or ?", m.Name)
	}
	for _, name := range append(slices.Clone(m.Programs), m.ProgramsByPath...) {
		p := paramOf(m, name)
		if p == nil || !isGiven(p, inv.Args) || slices.Contains(r.Arguments, m.Name+"."+name) {
			continue
		}
		if slices.Contains(m.Programs, name) ||
			slices.ContainsFunc(given(p, inv.Args), func(v string) bool { return strings.Contains(v, "/") }) {
			return forbidden("the argument %s of %s, which can run a program: arguments would have to have %s.%s", name,
				m.Name, m.Name, name)
		}
	}
	if err := environment(inv.Call.Environment); err != nil {
		return err
	}
	return r.calling(inv)
}

// calling reports whether what a call says beside its arguments can have a program run.
func (r *Rule) calling(inv runner.Invocation) error {
	c := inv.Call
	if p := c.Interpreter; p != "" && !strings.HasPrefix(p, "auto") && !usualPython().MatchString(p) {
		return forbidden("the interpreter %s", p)
	}
	if exe := c.User.Exe; exe != "" && exe != c.User.Method {
		return forbidden("to become another user by %s", exe)
	}
	if !usualFlags().MatchString(c.User.Flags) {
		return forbidden("to become another user with %q", c.User.Flags)
	}
	return r.inside("the directory of jobs", c.AsyncDir)
}

var (
	usualPython = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(/usr/bin/|/bin/|/usr/local/bin/|/usr/libexec/)?(platform-)?python[0-9.]*$`)
	})
	usualFlags = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s*-[HSniElm]+)*\s*$`) })
	usualWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`^(LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|NO_COLOR|DEBIAN_FRONTEND|(?i:https?|ftp|no|all)(?i:_proxy))$`)
	})
)

// environment reports whether a variable could have a program run: PATH, LD_PRELOAD, PYTHONPATH, GIT_SSH_COMMAND, and
// nobody knows them all.
func environment(given map[string]string) error {
	for name := range given {
		if !usualWords().MatchString(name) {
			return forbidden("the environment variable %s: only those of language, time, terminal and proxies", name)
		}
	}
	return nil
}

func paramOf(m *modules.Module, name string) *modules.Param {
	i := slices.IndexFunc(m.Params(), func(p modules.Param) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &m.Params()[i]
}

// given returns the texts that a call gives for a parameter, under its name or an alias.
func given(p *modules.Param, args *value.Dict) []string {
	var all []string
	for _, name := range append([]string{p.Name}, p.Aliases...) {
		all = append(all, textsWithin(modules.Argument(args, name))...)
	}
	return all
}

// privileged reports whether a mode would give a file's rights to whoever runs it; modes as modules take them.
func privileged(mode value.Value) bool {
	const setID = 0o6000
	switch m := mode.(type) {
	case value.None:
		return false
	case value.Float:
		return m < 0 || int64(m)&setID != 0
	case value.Int:
		return m&setID != 0
	}
	text := strings.TrimSpace(modules.Str(mode))
	if n, err := strconv.ParseUint(strings.TrimPrefix(text, "0o"), 8, 32); err == nil {
		return n&setID != 0
	}
	return text == "preserve" || strings.Contains(text, "s")
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hark/agent/internal/runner"
	"hark/agent/internal/strictyaml"
	"hark/agent/securefile"
	"hark/agent/wire"
	"hark/modules"
	"hark/modules/nss"
	"hark/modules/py/value"
)

// PolicyVersion is that of the policy file's format. It is raised when an agent of before would allow more than a
// file of now says.
const PolicyVersion = 1

// Policy is what an administrator of the host lets operators do, beyond the question which operators the agent obeys
// at all. It is a file that no message can change; without one every operator may do everything.
type Policy struct {
	// Version is that of the file's format, PolicyVersion at most; 0 stands for the first.
	Version int `yaml:"version"`
	// Operators are the rules by public key. "*" is for those who are not named; without it they may do nothing.
	Operators map[string]*Rule `yaml:"operators"`

	// open says that there is no file; looks reports whether those who trust an operator let them look and not change.
	open  bool
	looks func(operator string) bool
}

// Rule is what one operator may do. What is not given is not limited.
type Rule struct {
	// Modules are patterns of full names (ansible.builtin.*, and hark.jobs for what `hark jobs` does); one that
	// begins with ! takes modules away again. Modules that can run any program (modules.Module.Runs) are only
	// those that are named without * or ?.
	Modules []string `yaml:"modules"`
	// Arguments are those that name programs (modules.Module.Programs) and may be given all the same:
	// ansible.builtin.template.validate.
	Arguments []string `yaml:"arguments"`
	// Users are the users that modules may run as.
	Users []string `yaml:"users"`
	// Paths are directories in which the files of the host must lie that a task names. It binds modules that say what
	// they touch, and not those that can run any program.
	Paths []string `yaml:"paths"`
	// Unconfined are modules, by their full names, that Check or Paths cannot bind and that may be called all the same.
	Unconfined []string `yaml:"unconfined"`
	// Check lets the operator look and not change: everything must be in check mode, and can be, and starts no program.
	Check bool `yaml:"check"`
	// Upgrade and Trust let the operator replace the agent, and change which operators it obeys; not given is yes.
	Upgrade *bool `yaml:"upgrade"`
	Trust   *bool `yaml:"trust"`
}

// ReadPolicy reads a policy file. The error is fs.ErrNotExist if there is none.
func ReadPolicy(file string) (*Policy, error) {
	text, err := securefile.Read(file, securefile.Ours)
	if err != nil {
		return nil, fmt.Errorf("cannot read the policy: %w", err)
	}
	var p Policy
	if err := strictyaml.YAML(text, &p); err != nil {
		return nil, fmt.Errorf("cannot read the policy %s: %v", file, err)
	}
	if p.Version < 0 || p.Version > PolicyVersion {
		return nil, fmt.Errorf("cannot use the policy %s: it has version %d, this agent knows %d; upgrade hark-agent", file,
			p.Version, PolicyVersion)
	}
	for key, rule := range p.Operators {
		if key != "*" && !wire.ValidKey(key) {
			return nil, fmt.Errorf("cannot use the policy %s: %q is not an operator's public key", file, key)
		}
		if rule == nil {
			p.Operators[key] = &Rule{}
			continue
		}
		for _, pattern := range rule.Modules {
			if _, err := path.Match(strings.TrimPrefix(pattern, "!"), ""); err != nil {
				return nil, fmt.Errorf("cannot use the policy %s: %q is not a pattern", file, pattern)
			}
		}
		for _, name := range rule.Unconfined {
			if strings.Count(name, ".") != 2 || strings.ContainsAny(name, "*?[! ") {
				return nil, fmt.Errorf("cannot use the policy %s: %q is not the full name of a module, as ansible.builtin.systemd",
					file, name)
			}
		}
		for _, name := range rule.Arguments {
			if strings.Count(name, ".") < 3 || strings.ContainsAny(name, "*? ") {
				return nil, fmt.Errorf(
					"cannot use the policy %s: %q is not an argument with the full name of its "+
						"module, as ansible.builtin.copy.validate", file, name)
			}
		}
		for _, dir := range rule.Paths {
			if !filepath.IsAbs(dir) {
				return nil, fmt.Errorf("cannot use the policy %s: %q is not an absolute path", file, dir)
			}
			// Modules are kept to where files really lie, so that such a directory would allow nothing.
			if real := resolve(dir); real != filepath.Clean(dir) {
				return nil, fmt.Errorf("cannot use the policy %s: the path %s leads through a link to %q: name that",
					file, dir, real)
			}
		}
	}
	return &p, nil
}

// ReadPolicyIfThere is ReadPolicy, and nil where there is no file.
func ReadPolicyIfThere(file string) (*Policy, error) {
	p, err := ReadPolicy(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return p, err
}

func forbidden(format string, a ...any) error {
	return &wire.RefusedError{Reason: wire.Forbidden, Text: "this host's policy does not allow it: " +
		fmt.Sprintf(format, a...)}
}

// rule returns that of an operator. A nil Policy allows everything.
func (p *Policy) rule(operator string) (*Rule, error) {
	if p == nil {
		return &Rule{}, nil
	}
	r, err := p.written(operator)
	if err == nil && p.looks != nil && !r.Check && p.looks(operator) {
		looking := *r
		looking.Check = true
		return &looking, nil
	}
	return r, err
}

// written returns the rule that the file has.
func (p *Policy) written(operator string) (*Rule, error) {
	if p.open {
		return &Rule{}, nil
	}
	if r := p.Operators[operator]; r != nil {
		return r, nil
	}
	if r := p.Operators["*"]; r != nil {
		return r, nil
	}
	return nil, forbidden("operator %s may do nothing", operator)
}

// call reports whether an operator may have a module run.
func (p *Policy) call(operator string, inv runner.Invocation) error {
	r, err := p.rule(operator)
	if err != nil {
		return err
	}
	if !r.module(inv.Module.Name) {
		return forbidden("the module %s", inv.Module.Name)
	}
	if err := r.changes(inv); err != nil {
		return err
	}
	if err := r.programs(inv); err != nil {
		return err
	}
	if name := userName(inv.Call.User.User); len(r.Users) > 0 && !slices.Contains(r.Users, name) {
		return forbidden("to run as %s", name)
	}
	if len(r.Paths) == 0 {
		return nil
	}
	return r.files(inv)
}

// named reports whether an operator may have something done that is no call of a module, but has a name as if it were
// one.
func (p *Policy) named(operator, name string) error {
	r, err := p.rule(operator)
	if err == nil && !r.module(name) {
		err = forbidden("the module %s", name)
	}
	return err
}

// within returns the policy with what those said who trust operators: what both allow is allowed.
func (p *Policy) within(o *Operators) *Policy {
	if o == nil {
		return p
	}
	if p == nil {
		return &Policy{open: true, looks: o.Looks}
	}
	both := *p
	both.looks = o.Looks
	return &both
}

// userName returns the user that a module would run as, "" for this process's own user.
func userName(name string) string {
	if name != "" {
		return name
	}
	if u, err := nss.Current(); err == nil {
		return u.Name
	}
	return fmt.Sprint(os.Geteuid())
}

// module reports whether the rule allows a module; the last pattern that matches counts.
func (r *Rule) module(name string) bool {
	allowed := len(r.Modules) == 0 || strings.HasPrefix(r.Modules[0], "!")
	for _, pattern := range r.Modules {
		bare, not := strings.CutPrefix(pattern, "!")
		if ok, _ := path.Match(bare, name); ok { // the pattern was checked when it was read
			allowed = !not
		}
	}
	return allowed
}

// policyGate puts the policy before what operators do.
type policyGate struct {
	cfg     *Config
	refused *refusals
}

// permit puts the policy before what runs modules for an operator.
func (g *policyGate) permit(operator string, h Host) Host {
	if g.cfg.Policy == nil {
		return h
	}
	refused := func(what string, err error) error {
		if err != nil {
			g.refusal(operator, what, err)
		}
		return err
	}
	check := func(inv runner.Invocation) error {
		err := g.cfg.Policy.call(operator, inv)
		if err == nil {
			inv.Env.Bounds, err = g.cfg.Policy.bounds(operator, inv)
		}
		return refused(inv.Module.Name, err)
	}
	call, start, status, manage := h.Call, h.Jobs.Start, h.Jobs.Status, h.Jobs.Manage
	h.Call = func(ctx context.Context, inv runner.Invocation) modules.Result {
		if err := check(inv); err != nil {
			return modules.Result{Failed: true, Msg: err.Error()}
		}
		return call(ctx, inv)
	}
	if start != nil {
		h.Jobs.Start = func(ctx context.Context, inv runner.Invocation) (*value.Dict, error) {
			if err := check(inv); err != nil {
				return nil, err
			}
			return start(ctx, inv)
		}
	}
	if status != nil { // async_status asks here and not through Call
		h.Jobs.Status = func(ctx context.Context, q modules.JobQuery) (*value.Dict, error) {
			if err := refused(modules.AsyncStatus, g.cfg.Policy.job(operator, q)); err != nil {
				return nil, err
			}
			return status(ctx, q)
		}
	}
	if manage != nil {
		h.Jobs.Manage = func(ctx context.Context, q wire.JobsQuery) (wire.JobsReply, error) {
			if err := refused(wire.JobsModule, g.cfg.Policy.jobs(operator, q)); err != nil {
				return wire.JobsReply{}, err
			}
			return manage(ctx, q)
		}
	}
	return h
}

// refusal logs and counts what the policy has refused.
func (g *policyGate) refusal(operator, what string, err error) {
	g.cfg.Logger.Warn().Str("operator", operator).Str("what", what).Uint64("count",
		g.refused.add(wire.Forbidden, g.cfg.Now())).AnErr("cause", err).
		Msg("refused by policy")
}

// may reports whether an operator may do something to the agent itself.
func (p *Policy) may(operator string, what func(*Rule) *bool, words string) error {
	r, err := p.rule(operator)
	if err == nil {
		if allowed := what(r); r.Check || allowed != nil && !*allowed {
			err = forbidden("%s", words)
		}
	}
	return err
}

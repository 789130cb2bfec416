package answer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/ansible/plugins"
	"hark/controller/internal/play/link"
	"hark/modules"
	"hark/modules/connection"
	"hark/modules/foreign"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// question is what an action plug-in wants, as action.py writes it.
type question struct {
	// a module
	Name        string            `json:"name"`
	Args        json.RawMessage   `json:"args"`
	Check       bool              `json:"check"`
	Diff        bool              `json:"diff"`
	Job         bool              `json:"job"`
	Collections []string          `json:"collections"`
	Environment map[string]string `json:"environment"`
	// a command or a piece of a file
	Cmd    string `json:"cmd"`
	Stdin  string `json:"stdin"`
	Become bool   `json:"become"`
	Path   string `json:"path"`
	Data   string `json:"data"`
	More   bool   `json:"more"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	// the variables of a host
	Host string `json:"host"`
}

// answer answers a question of the plug-in.
func (p *acting) answer(ctx context.Context, op string, about json.RawMessage) (any, error) {
	var q question
	if err := json.Unmarshal(about, &q); err != nil {
		return nil, fmt.Errorf("internal error: cannot read what the action plug-in asks: %w", err)
	}
	switch op {
	case "module":
		return p.module(ctx, q)
	case "exec":
		return p.connect(ctx, q.Become, map[string]any{"do": "exec", "cmd": q.Cmd, "data": q.Stdin})
	case "put":
		return p.connect(ctx, false, map[string]any{"do": "put", "path": q.Path, "data": q.Data, "more": q.More})
	case "fetch":
		return p.connect(ctx, false, map[string]any{"do": "fetch", "path": q.Path, "offset": q.Offset, "size": q.Size})
	case "hostvars":
		return p.hostvars(ctx, q.Host)
	case "decrypt":
		return p.decrypt(q)
	}
	return nil, fmt.Errorf("internal error: the action plug-in asks for %q", op)
}

// ownJobLimit bounds jobs that a plug-in starts for a task that is none.
const ownJobLimit = time.Hour

// module runs a module on the host. Without an answer Ansible's own way over the connection is left: for modules that
// are half in the session, and for those that are not found.
func (p *acting) module(ctx context.Context, q question) (any, error) {
	full, file := p.a.Actions.Module(q.Name, q.Collections)
	args, err := value.Decode(q.Args, value.KindStr)
	if err != nil {
		return nil, fmt.Errorf("cannot read the arguments of the module %s: %w", q.Name, err)
	}
	c := *p.ask.Call
	c.Name, c.Check, c.Diff, c.Environment, c.Invocation = q.Name, q.Check, q.Diff, q.Environment, true
	switch {
	case !q.Job:
		c.Async = 0
	case c.Async == 0:
		c.Async = ownJobLimit // gather_facts has its modules run side by side without a word of async in the task
	}
	c.Poll = 0
	given, err := value.ToPlain(args)
	if err != nil {
		return nil, fmt.Errorf("cannot read the arguments of the module %s: %w", q.Name, err)
	}
	own, ok := given.(*value.Dict)
	if !ok {
		own = value.NewDict()
	}
	if file != nil {
		c.Module = foreign.Name
		if own, err = p.packed(full, file, own); err != nil {
			return nil, err
		}
		c.Files = []string{own.Text("hark_pack")}
	} else {
		m, ok := p.a.Actions.Modules.Get(full)
		if !ok || m.Session || m.Resolves() && !onHost(m, own) {
			return nil, nil
		}
		if c.Check && m.NoCheck {
			return map[string]any{"skipped": true, "msg": fmt.Sprintf("remote module (%s) does not support check mode",
				q.Name)}, nil
		}
		c.Module = m.Name
	}
	c.Args = value.PlainJSON(own)
	return p.exec(ctx, c)
}

// onHost has a module read on the host what its stage in the session would read on the controller: under Ansible a
// plug-in has put it there.
func onHost(m *modules.Module, args *value.Dict) bool {
	if !m.Resolves() || !slices.ContainsFunc(m.Params(), func(p modules.Param) bool { return p.Name == "remote_src" }) {
		return false
	}
	args.Put("remote_src", true)
	return modules.IsGiven(args, "src")
}

// packed returns the arguments of a module that is not native: its pack, and its own.
func (p *acting) packed(full string, file *plan.Foreign, args *value.Dict) (*value.Dict, error) {
	ask := p.ask
	ask.Host = p.ask.Name
	a, err := p.a.module(&plan.Step{ID: p.step.ID, Action: full, Foreign: file}, ask)
	if err != nil {
		return nil, err
	}
	return foreign.Arguments(a.File.Digest, args, p.b.Plan.Play.ForModules.Dict), nil
}

// connect does what a connection does in Ansible: as the user who logs in, or for become as the one that it is for.
func (p *acting) connect(ctx context.Context, become bool, args map[string]any) (any, error) {
	c := *p.ask.Call
	c.Module, c.Name, c.Environment, c.Async, c.Poll, c.Check, c.Invocation = connection.Name, connection.Name, nil, 0, 0,
		false, false
	if !become {
		login, _ := p.ask.Kw.Get("login")
		c.User = wire.RunAs{}
		c.User.User, _ = value.Text(login)
	}
	var err error
	if c.Args, err = json.Marshal(args); err != nil {
		return nil, err
	}
	raw, err := p.exec(ctx, c)
	if err != nil {
		return nil, err
	}
	var failed struct {
		Failed bool   `json:"failed"`
		Msg    string `json:"msg"`
	}
	if err := json.Unmarshal(raw, &failed); err == nil && failed.Failed {
		return nil, errors.New(failed.Msg)
	}
	return raw, nil
}

// exec runs a call on the host of the step, or on the one that it is delegated to.
func (p *acting) exec(ctx context.Context, c wire.Call) (json.RawMessage, error) {
	e := wire.Exec{
		Run: p.ask.Run, ID: p.b.Plan.Play.ID + "-" + strconv.FormatUint(p.a.execs.Add(1), 10),
		Host: p.ask.Name, Origin: p.ask.Host, Play: p.ask.Play, Step: p.ask.Step, Call: c,
	}
	p.b.admit(e.Host, e.Origin)
	defer p.b.dismiss(e.Host, e.Origin)
	raw, err := p.a.Exec(ctx, e)
	var absent *link.AbsentError
	if errors.As(err, &absent) {
		return nil, &plugins.UnreachableError{Reason: absent.Error()}
	}
	return raw, err
}

// hostvars returns the variables of a host of the inventory, raw; nil if it has none of the name.
func (p *acting) hostvars(ctx context.Context, host string) (any, error) {
	known, err := p.a.rawHostvars(ctx, p.b, host)
	if known == nil || err != nil {
		return nil, err
	}
	raw, err := value.Encode(known)
	return json.RawMessage(raw), err
}

// decrypt opens a vault that the plug-in has read.
func (p *acting) decrypt(q question) (any, error) {
	data, err := base64.StdEncoding.DecodeString(q.Data)
	if err != nil {
		return nil, err
	}
	plain, err := p.a.Secrets.Decrypt(data, q.Name)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString(plain), nil
}

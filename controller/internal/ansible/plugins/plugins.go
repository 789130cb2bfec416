// Package plugins runs the plug-ins of a project that are written in Python: filters, tests, lookups, inventory, vars
// and cache plug-ins in one Python process on the controller, started when the first is needed, which serves all of a
// run; callbacks in another, and actions in forks of a third. hark's own stand before them, but for those of the
// project's own directories, which hide hark's as they hide Ansible's.
package plugins

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/templar"
)

//go:embed codec.py
var codec string

//go:embed versions.py
var versions string

//go:embed hostvars.py
var hostVars string

//go:embed context.py
var contextServer string

//go:embed vars.py
var varsServer string

//go:embed serve.py
var server string

//go:embed standin.py
var standIn string

// Call is one use of a plug-in.
type Call struct {
	Kind string // filter, test or lookup
	Name string
	// Args begin with the value that a filter or test is applied to; those of a lookup are its terms.
	Args []value.Value
	Kw   *value.Dict
	// Vars are a lookup's variables, raw; Rendered gives them as far as they can be rendered, for where there is no
	// Ansible to do it. Dir is where it looks for files.
	Vars     *value.Dict
	Rendered func() *value.Dict
	Dir      string
	// Context gives the variables to a filter or test that wants to know the template that uses it, raw. Nil: there
	// are none. It runs no plug-ins, and neither does Hostvars: the variables of another host, raw, nil if there is
	// none of the name.
	Context  func() (*value.Dict, error)
	Hostvars func(host string) (*value.Dict, error)

	// written are the variables as they are written, where Rendered stands in for them.
	written func() (*value.Dict, error)
}

// Runner runs plug-ins. It is safe for concurrent use; calls run one at a time.
type Runner struct {
	// Find gives the directories in which a plug-in is looked for, nearest first, and its name there; the name "" is
	// that of the project's own.
	Find func(kind, name string) (short string, dirs []string)
	// Why says in Ansible's words why there is no filter or test of a name, "" if nothing is known of it but that;
	// nil knows nothing.
	Why func(kind, name string) string
	// Marked reports whether text that inventory and vars plug-ins give is a template only where they, or Ansible for
	// them, say so: from ansible-core 2.19 on. Otherwise all is that they do not mark as unsafe.
	Marked bool
	// Homes are directories of Python's packages. The first that holds ansible tells the interpreter.
	Homes []string
	// Collections are the directories that hold an ansible_collections, and Books the playbooks', which may have one
	// too. Places are the directories of playbooks and roles: lookups find the plug-ins of the project there that
	// their own templates use.
	Collections   []string
	Books, Places func() []string
	// Templates are how templates are rendered, and hark's own filters found, for plug-ins where there is no Ansible
	// to do it.
	Templates templar.Options

	second *Runner // set by Beside

	mu      sync.Mutex
	process *process // nil if none runs; guarded by mu
}

// Second returns the Runner a second one of the same settings, for plug-ins that are wanted while a lookup of this
// one waits: the variables of hosts that it reads may be what vars plug-ins say. It ends with this one. Call it
// before either is used, once.
func (r *Runner) Second() *Runner {
	r.second = &Runner{
		Find: r.Find, Why: r.Why, Marked: r.Marked, Homes: r.Homes, Collections: r.Collections, Books: r.Books,
		Places: r.Places, Templates: r.Templates,
	}
	return r.second
}

// process is a running Python.
type process struct {
	cmd *exec.Cmd
	in  io.Closer // its standard input
	conversation
}

// request is what serve.py reads.
type request struct {
	Kind    string          `json:"kind"`
	Name    string          `json:"name"`
	Full    string          `json:"full,omitempty"` // as the template writes it
	Dirs    []string        `json:"dirs"`
	Books   []string        `json:"books,omitempty"`
	Places  []string        `json:"places,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Kw      json.RawMessage `json:"kw,omitempty"`
	Vars    json.RawMessage `json:"vars,omitempty"`
	Basedir string          `json:"basedir,omitempty"`
	Marked  bool            `json:"marked,omitempty"` // see Runner
}

// reply is what it answers, or what it wants to know before.
type reply struct {
	question
	Value   json.RawMessage `json:"value"`
	Missing bool            `json:"missing"`
	Error   string          `json:"error"`
	Class   string          `json:"class"`
}

// question is what Python wants to know; one of the fields is set.
type question struct {
	Hostvars *string `json:"hostvars"` // the variables of this host
	Context  bool    `json:"context"`  // the variables of the template
	// Filter is one of hark's, for these arguments.
	Filter string          `json:"filter"`
	Args   json.RawMessage `json:"args"`
	Kw     json.RawMessage `json:"kw"`
	// Template is a value to be rendered, with these variables or, if there are none, with those of the task.
	Template json.RawMessage `json:"template"`
	Vars     json.RawMessage `json:"vars"`
}

// asks reports whether there is a question at all.
func (q question) asks() bool {
	return q.Hostvars != nil || q.Context || q.Filter != "" || q.Template != nil
}

// Names returns the plug-ins of a kind, filter or test, in the project's own directories. Without such a directory
// nothing is started.
func (r *Runner) Names(ctx context.Context, kind string) ([]string, error) {
	_, dirs := r.Find(kind, "")
	if len(dirs) == 0 {
		return nil, nil
	}
	raw, err := r.ask(ctx, request{Kind: "names", Name: kind, Dirs: dirs}, Call{})
	if err != nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(raw, &names); err != nil {
		return nil, fmt.Errorf("cannot read what Python says of its plug-ins: %w", err)
	}
	return names, nil
}

// Run runs a plug-in and gives its value as value.Encode writes it. jinja.ErrNoPlugin: there is none of the name.
// What the plug-in raises is a *value.Error of its class.
func (r *Runner) Run(ctx context.Context, c Call) (json.RawMessage, error) {
	q := request{Kind: c.Kind, Full: c.Name, Basedir: c.Dir}
	q.Name, q.Dirs = r.Find(c.Kind, c.Name)
	if len(q.Dirs) == 0 {
		return nil, r.missing(q)
	}
	var err error
	if q.Args, err = value.Encode(value.NewList(c.Args...)); err == nil {
		q.Kw, err = encodeDict(c.Kw)
	}
	if r.Places != nil {
		q.Places = r.Places()
	}
	if _, ansible := interpreter(r.Homes); ansible == nil && c.Rendered != nil {
		c.written = c.known
		c.Vars, c.Context = nil, func() (*value.Dict, error) { return c.Rendered(), nil }
	}
	if err == nil && c.Kind == "lookup" {
		q.Vars, err = c.variables()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot give %s %s to Python: %w", c.Kind, c.Name, err)
	}
	return r.ask(ctx, q, c)
}

// missing is the error of a plug-in that is nowhere.
func (r *Runner) missing(q request) error {
	if r.Why != nil && (q.Kind == "filter" || q.Kind == "test") {
		if why := r.Why(q.Kind, q.Full); why != "" {
			return &jinja.NoPlugin{Reason: why}
		}
	}
	return jinja.ErrNoPlugin
}

// variables returns those that the plug-in sees.
func (c Call) variables() (json.RawMessage, error) {
	known, err := c.known()
	if err != nil {
		return nil, err
	}
	return encodeDict(known)
}

func (c Call) known() (*value.Dict, error) {
	if c.Vars == nil && c.Context != nil {
		return c.Context()
	}
	return c.Vars, nil
}

func encodeDict(d *value.Dict) (json.RawMessage, error) {
	if d == nil {
		return nil, nil
	}
	return value.Encode(d)
}

// ask sends a request and waits for its answer; c tells what Python may want to know before. When ctx is over first,
// the process is ended: the plug-in may never come back.
func (r *Runner) ask(ctx context.Context, q request, c Call) (json.RawMessage, error) {
	if r.Books != nil && q.Books == nil {
		q.Books = r.Books()
	}
	q.Marked = r.Marked
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		p, err := start(r.Homes, r.Collections)
		if err != nil {
			return nil, err
		}
		r.process = p
	}
	leader := r.process.cmd.Process.Pid
	stop := context.AfterFunc(ctx, func() { killGroup(leader) })
	a, err := r.process.exchange(q, func(q question) (json.RawMessage, error) { return r.answer(ctx, q, c) })
	if !stop() && ctx.Err() != nil || err != nil {
		r.process.end()
		r.process = nil
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case a.Missing:
		return nil, r.missing(q)
	case a.Class != "":
		return nil, value.Errorf(a.Class, "%s", a.Error)
	}
	return a.Value, nil
}

// Close ends the process, if one runs.
func (r *Runner) Close() {
	if r.second != nil {
		r.second.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != nil {
		r.process.leave()
		r.process = nil
	}
}

// start starts Python with what serves the requests.
func start(homes, collections []string) (*process, error) {
	cmd := python(homes, collections, standIn+codec+versions+hostVars+contextServer+varsServer+cacheServer+server)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot run the project's plug-ins, which are written in Python: %w", err)
	}
	return &process{cmd, in, newConversation("it", in, out)}, nil
}

// exchange sends a request and reads the answer to it; told answers what is asked before.
func (p *process) exchange(q request, told func(question) (json.RawMessage, error)) (reply, error) {
	var a reply
	err := p.say(q)
	if err == nil {
		_, err = p.hear(&a)
	}
	for err == nil && a.asks() {
		said := map[string]any{}
		if known, err := told(a.question); err != nil {
			said["error"] = err.Error()
		} else {
			said["value"] = known
		}
		a = reply{}
		if err = p.say(said); err == nil {
			_, err = p.hear(&a)
		}
	}
	if err != nil {
		return a, fmt.Errorf("cannot talk to the Python that runs the project's plug-ins: %w", err)
	}
	return a, nil
}

// leave lets the process end by itself: ansible-core removes its temporary directory then. It is killed if that takes
// longer than patience.
func (p *process) leave() {
	_ = p.in.Close()
	overdue := time.AfterFunc(patience, func() { killGroup(p.cmd.Process.Pid) })
	defer overdue.Stop()
	_ = p.cmd.Wait()
}

// end kills the process and waits for it.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

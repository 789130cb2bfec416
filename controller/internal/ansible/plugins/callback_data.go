package plugins

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"hark/agent/wire"
	"hark/controller/internal/ui/view"
	"hark/modules/py/value"
	"hark/playbook/plan"
)

// hostData is a host as callbacks see it.
type hostData struct {
	Name     string          `json:"name"`
	Address  string          `json:"address"`
	Implicit bool            `json:"implicit"`
	File     string          `json:"file"` // of the inventory
	Dir      string          `json:"dir"`
	Vars     json.RawMessage `json:"vars"`
	Groups   []string        `json:"groups"`
}

// unknown describes those of the hosts that the callbacks have not heard of.
func (c *Callbacks) unknown(hosts []string) []hostData {
	var out []hostData
	for _, name := range hosts {
		if c.hosts[name] {
			continue
		}
		c.hosts[name] = true
		if h := c.o.Inventory.Host(name); h != nil {
			out = append(out, hostData{
				Name: name, Address: h.Address, Implicit: h.Implicit, File: h.File(), Dir: h.Dir(),
				Vars:   encoded(c.o.Inventory.OwnVars(h)),
				Groups: append(c.o.Inventory.GroupNames(h), "all"),
			})
		}
	}
	return out
}

// encoded returns a value for Python; what cannot be written is null.
func encoded(v value.Value) json.RawMessage {
	if d, ok := v.(*value.Dict); v == nil || ok && d == nil {
		return json.RawMessage("null")
	}
	raw, err := value.Encode(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// playData is a play as it starts.
type playData struct {
	Name     string   `json:"play"`
	Pattern  []string `json:"pattern"`
	Strategy string   `json:"strategy"`
	Check    bool     `json:"play_check"`
	Tags     []string `json:"tags"`
	Place    string   `json:"place"`
	// Tasks are the names of the play's own tasks by their blocks.
	Tasks [][]string `json:"tasks"`
}

// includeData is an included file.
type includeData struct {
	File  string   `json:"file"`
	Label string   `json:"label"`
	Names []string `json:"names"`
}

// resultData is what came of a task on a host.
type resultData struct {
	Name      string          `json:"name"` // of the task, as the host renders it
	Status    string          `json:"status"`
	Result    json.RawMessage `json:"result"`
	NoLog     bool            `json:"no_log"`
	Ignored   bool            `json:"ignored"`
	Diff      bool            `json:"diff"`
	Check     bool            `json:"check"`
	Delegated string          `json:"delegated"`
	Attempts  int             `json:"attempts"`
	Retries   int             `json:"retries"`
}

func newResult(r view.Result) *resultData {
	o := r.Outcome
	return &resultData{
		Name: cmp.Or(r.Name, r.Task.Name), Status: string(o.Status), Result: withLines(o), NoLog: o.NoLog ||
			r.Task.NoLog, Ignored: o.Ignored, Diff: r.Task.Diff, Check: r.Task.Check,
		Delegated: o.Delegated, Attempts: o.Attempts, Retries: o.Retries,
	}
}

// withLines returns a result with the lines of its texts, which have not travelled.
func withLines(o *wire.Outcome) json.RawMessage {
	if !bytes.Contains(o.Result, []byte(`{"!l":`)) {
		return o.Result
	}
	return json.RawMessage(value.JSONText(o.Said().Whole(), value.JSONOptions{}))
}

// taskData is a task. Keywords are attributes of Ansible's class by their name there.
type taskData struct {
	ID          string                     `json:"id"`
	Name        string                     `json:"name"`
	Action      string                     `json:"action"`
	Resolved    string                     `json:"resolved"`
	Include     string                     `json:"include"` // file or role, "" if it includes nothing
	Handler     bool                       `json:"handler"`
	Place       string                     `json:"place"`
	Role        *roleData                  `json:"role"`
	Keywords    map[string]json.RawMessage `json:"keywords"`
	LoopControl map[string]json.RawMessage `json:"loop_control"`
}

// roleData is the role of a task.
type roleData struct {
	Name       string `json:"name"`
	Path       string `json:"path"`
	Collection string `json:"collection"`
}

func newTask(t view.Task) *taskData {
	d := &taskData{ID: string(t.ID), Name: t.Name, Action: t.Action, Resolved: t.Action, Handler: t.Handler,
		Place: t.Place}
	if t.In != nil {
		d.Role = &roleData{t.In.Name, t.In.Path, t.In.Collection}
	}
	s := t.Step
	if s == nil {
		s = &plan.Step{}
	} else {
		d.Resolved, d.Place = s.Action, s.Place
	}
	if s.Kind == plan.Include || s.Kind == plan.Meta {
		d.Resolved = "" // no module
	}
	if s.Kind == plan.Include {
		d.Include = "file"
		if strings.HasSuffix(s.Action, "include_role") {
			d.Include = "role"
			if s.Name == "" {
				d.Name = "" // what is shown instead is made by Ansible's class
			}
		}
	}
	d.Keywords = keywords(s, plan.OnTask)
	if s.Loop != nil {
		d.LoopControl = keywords(s, plan.OnLoopControl)
	}
	return d
}

// keywords returns those that a playbook gives of the keywords that stand there.
func keywords(s *plan.Step, on plan.Where) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for _, k := range plan.Keywords() {
		if v := k.Given(s); v != nil && k.On.Has(on) && k.Name != "name" && k.Name != "action" {
			out[k.AnsibleName()] = encoded(v)
		}
	}
	return out
}

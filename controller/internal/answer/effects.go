package answer

import (
	"fmt"
	"strings"

	"hark/agent/wire"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Admit are the effects that a step can have on the variables of a host, out of those that the host's agent tells of. Variables reach
// other hosts and what the controller renders: an agent that was taken over must not set what the step does not, and texts of its
// own making are no templates.
func (a *Answerer) Admit(host string, s *plan.Step, effects []wire.Effect) []wire.Effect {
	var out []wire.Effect
	for _, e := range effects {
		if why := strays(host, s, e); why != "" {
			a.refuse(host, why)
			continue
		}
		admitted := value.NewDict()
		e.Vars.Each(func(k, v value.Value) bool {
			name, _ := value.Text(k)
			switch {
			case a.sets(s, vars.Layer(e.Layer), name):
				admitted.SetKey(k, a.harmless(s, vars.Layer(e.Layer), name, v))
			case acts(s, "set_fact") && given(s, name): // cacheable: Ansible keeps such a variable out of the facts too
			default:
				a.refuse(host, fmt.Sprintf("step %s does not set %q", s.ID, name))
			}
			return true
		})
		e.Vars.Dict = admitted
		out = append(out, e)
	}
	return out
}

func (a *Answerer) refuse(host, why string) {
	a.warn(fmt.Sprintf("refused what the agent of %s tells of its variables: %s", host, why))
}

// strays tells why an effect as a whole cannot be that of a step; "" is that it can.
func strays(host string, s *plan.Step, e wire.Effect) string {
	switch {
	case s == nil:
		return "the plan has no such step"
	case e.Clear && s.Kind != plan.Meta:
		return fmt.Sprintf("step %s clears no facts", s.ID)
	case e.Host != "" && e.Host != host && (s.DelegateFacts.IsZero() || !delegatesTo(s, e.Host)):
		return fmt.Sprintf("step %s changes nothing of %q", s.ID, e.Host)
	case vars.Layer(e.Layer) == vars.Include && !acts(s, "include_vars"):
		return fmt.Sprintf("step %s includes no variables", s.ID)
	}
	return ""
}

// sets tells whether a step may set a variable in a layer. Modules return facts of any name.
func (a *Answerer) sets(s *plan.Step, layer vars.Layer, name string) bool {
	switch {
	case layer == vars.Facts:
		return !steers(name)
	case layer == vars.Include:
		return !steers(name) || a.serves(name)
	case name == s.Register, name == "ansible_failed_task", name == "ansible_failed_result":
		return true
	}
	return acts(s, "set_fact") && (given(s, name) || computed(s) && !steers(name))
}

// steers tells whether a variable decides which agent, or that the controller itself, runs the tasks of a host.
func steers(name string) bool { return name == "ansible_connection" || name == "hark_agent" }

func given(s *plan.Step, name string) bool {
	_, ok := s.Args.Get(name)
	return ok
}

// computed tells whether the names of a step's arguments are known only to the host.
func computed(s *plan.Step) bool {
	names := s.ArgsExpr != "" || len(s.Defaults) > 0
	s.Args.Each(func(k, _ value.Value) bool {
		names = names || templar.IsTemplate(k)
		return !names
	})
	return names
}

// harmless is a value without templates of the agent's own: set_fact and include_vars keep those that the controller has read for them,
// as Ansible does, and debug may show plain text.
func (a *Answerer) harmless(s *plan.Step, layer vars.Layer, name string, v value.Value) value.Value {
	own := layer == vars.Facts || name == s.Register
	if strings.HasPrefix(name, "ansible_failed_") || own && !acts(s, "set_fact", "debug") {
		return value.Unsafe(v)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.disarm(v)
}

// disarm makes text unsafe that is a template which the controller did not serve. Callers hold mu.
func (a *Answerer) disarm(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		v.Each(func(k, item value.Value) bool {
			out.SetKey(a.disarm(k), a.disarm(item))
			return true
		})
		return out
	case *value.List:
		out := make([]value.Value, len(v.Items))
		for i, item := range v.Items {
			out[i] = a.disarm(item)
		}
		return value.NewList(out...)
	}
	if text, ok := value.Text(v); ok && a.templates[text] || !templar.IsTemplate(v) {
		return v
	}
	return value.Unsafe(v)
}

// serve notes what is in a file of variables that a host gets: the host will ask for what it speaks of, and its templates are the controller's
// own.
func (a *Answerer) serve(b *batch, path string, v value.Value) {
	b.mentions.scanValue(v)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.served[path] = v
	a.noteTemplates(v)
}

// noteTemplates takes in the texts that are templates. Callers hold mu.
func (a *Answerer) noteTemplates(v value.Value) {
	switch v := v.(type) {
	case *value.Dict:
		v.Each(func(k, item value.Value) bool {
			a.noteTemplates(k)
			a.noteTemplates(item)
			return true
		})
	case *value.List:
		for _, item := range v.Items {
			a.noteTemplates(item)
		}
	default:
		if text, ok := value.Text(v); ok && templar.IsTemplate(v) {
			a.templates[text] = true
		}
	}
}

// serves tells whether some file of variables that was served sets a name.
func (a *Answerer) serves(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range a.served {
		if d, ok := v.(*value.Dict); ok {
			if _, ok := d.Get(name); ok {
				return true
			}
		}
	}
	return false
}

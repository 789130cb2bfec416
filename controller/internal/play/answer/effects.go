package answer

import (
	"fmt"
	"slices"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
	"hark/playbook/vars"
)

// Admit are the effects that a step which its host has evaluated can have on the host's own variables, out of those that its agent tells of.
// What they hold is data: no text of an agent's making is a template for the controller.
func (a *Answerer) Admit(host string, s *plan.Step, effects []wire.Effect) []wire.Effect {
	var out []wire.Effect
	for _, e := range effects {
		layer := vars.Layer(e.Layer)
		if s == nil || e.Clear || e.Host != "" && e.Host != host || layer != vars.Facts && layer != vars.Set {
			a.refuse(host, "it changes what no step of a host's own changes")
			continue
		}
		admitted := value.NewDict()
		e.Vars.Each(func(k, v value.Value) bool {
			name, _ := value.Text(k)
			switch {
			case steers(name) || !sets(a.Actions.Modules, s, layer, name):
				a.refuse(host, fmt.Sprintf("step %s does not set %q", s.ID, name))
			default:
				admitted.SetKey(k, written(s, name, v))
			}
			return true
		})
		e.Vars.Dict = admitted
		out = append(out, e)
	}
	return out
}

// written is a variable that an agent tells of, as data: but for text that the task itself sets to it, which is the playbook's.
func written(s *plan.Step, name string, v value.Value) value.Value {
	given, ok := s.Args.Get(name)
	if text, isText := value.Text(given); ok && isText && !templar.IsTemplate(given) {
		if told, same := value.Text(v); same && told == text {
			return given
		}
	}
	return value.Data(v)
}

func (a *Answerer) refuse(host, why string) {
	a.warn(fmt.Sprintf("refused what the agent of %s tells of its variables: %s", host, why))
}

// sets tells whether a step may set a variable in a layer. Modules return facts of any name.
func sets(known *modules.Registry, s *plan.Step, layer vars.Layer, name string) bool {
	if layer == vars.Facts || slices.Contains(s.Registers(), name) || name == "ansible_failed_task" || name == "ansible_failed_result" {
		return true
	}
	if !known.Has(s.Action, modules.SetsVariables) {
		return false
	}
	_, given := s.Args.Get(name)
	return given || computed(s)
}

// steers tells whether a variable decides which agent, or that the controller itself, runs the tasks of a host. A step that sets one is the
// controller's (compile, evaluator.go).
func steers(name string) bool { return name == "ansible_connection" || name == "hark_agent" }

// computed tells whether the names of a step's arguments are known only when it is evaluated.
func computed(s *plan.Step) bool {
	names := s.ArgsExpr != "" || len(s.Defaults) > 0
	s.Args.Each(func(k, _ value.Value) bool {
		names = names || templar.IsTemplate(k)
		return !names
	})
	return names
}

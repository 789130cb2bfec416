package answer

import (
	"fmt"

	"hark/agent/wire"
	"hark/playbook/jinja/templar"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

// sendsOther tells why a delegated call is not one of the step's; "" is that it is. What the playbook says must be in it, but for
// templates, whose values only the host knows: an agent that lies about them has what the rest of an argument leaves open.
func sendsOther(step *plan.Step, c *wire.Call) string {
	switch {
	case !calls(step, c):
		return fmt.Sprintf("step %s does not call %q", step.ID, c.Module)
	case len(step.Environment) == 0 && len(c.Environment) > 0:
		return fmt.Sprintf("step %s has no environment", step.ID)
	case c.Await != "", step.Foreign != nil, step.ArgsExpr != "", len(step.Defaults) > 0, acts(step, fileModules...), acts(step, "reboot", "async_status"):
		return "" // nothing is run, or the arguments are made in the session
	}
	v, err := value.Decode(c.Args, value.KindUnsafe)
	args, ok := v.(*value.Dict)
	if err != nil || !ok {
		return fmt.Sprintf("the arguments for step %s are none", step.ID)
	}
	return strayArgument(step, args)
}

// strayArgument tells why arguments are not those of a step; "" is that they may be.
func strayArgument(step *plan.Step, args *value.Dict) string {
	why := ""
	args.Each(func(k, got value.Value) bool {
		if name, _ := value.Text(k); !computed(step) && !mayCarry(step, name, got) {
			why = fmt.Sprintf("step %s has no such argument %q", step.ID, name)
		}
		return why == ""
	})
	return why
}

// mayCarry tells whether a step may come to have an argument of that value.
func mayCarry(step *plan.Step, name string, got value.Value) bool {
	want, ok := step.Args.Get(name)
	if !ok {
		return false
	}
	text, isText := value.Text(got)
	switch want.(type) {
	case value.Int, value.Bool:
		same, err := value.Equal(want, got)
		return same && err == nil
	case value.YAMLStr, value.Str, value.UnsafeStr:
		return isText && mayBecome(want, text) || templar.IsTemplate(want) && !isText
	}
	return true // mappings and lists may hold templates
}

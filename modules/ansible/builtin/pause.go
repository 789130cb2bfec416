package builtin

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"hark/modules"
	"hark/modules/ansible/builtin/internal/action"
	"hark/modules/dialect"
	"hark/modules/py/value"
)

// Pause waits for a time or for the user.
var Pause = modules.Define("ansible.builtin.pause", "Pause playbook execution.", runPause, modules.InSession,
	modules.Is(modules.ForAllHosts|modules.AsksController|modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.pause: {minutes: 2}\n" +
			"- ansible.builtin.pause: {prompt: \"Is the load balancer drained?\"}\n  register: answer\n"
		m.Returns = []modules.Return{
			{Name: "user_input", Type: "str", When: "the user was asked", Doc: "What the user typed."},
			{Name: "stdout", Type: "str", When: "always", Doc: "How long it was."},
			{Name: "start", Type: "str", When: "always", Doc: "When it began."},
			{Name: "stop", Type: "str", When: "always", Doc: "When it ended."},
			{Name: "delta", Type: "int", When: "always", Doc: "Whole seconds."},
		}
	}))

type pauseArgs struct {
	Minutes value.Value `arg:"minutes" doc:"How long."`
	Seconds value.Value `arg:"seconds" doc:"How long."`
	Prompt  value.Value `arg:"prompt" doc:"What to ask the user."`
	Echo    value.Value `arg:"echo" doc:"Show what the user types; default yes."`
	Extra   *value.Dict `arg:"*"`
}

// pauseOptions are the arguments as the action checks them.
type pauseOptions struct {
	Echo    bool        `arg:"echo,default=yes"`
	Minutes value.Value `arg:"minutes"`
	Seconds value.Value `arg:"seconds"`
	Prompt  *string     `arg:"prompt"`
}

var decodePause = modules.Decoder[pauseOptions](modules.Rules{Exclusive: [][]string{{"minutes", "seconds"}}})

func (a pauseArgs) options(env *modules.Env) (pauseOptions, error) {
	args := a.Extra.Copy()
	for k, v := range map[string]value.Value{"minutes": a.Minutes, "seconds": a.Seconds, "prompt": a.Prompt,
		"echo": a.Echo} {
		if v != nil {
			args.Put(k, v)
		}
	}
	o, err := decodePause(env.Name, args, modules.Reading{Release: env.Release})
	if err != nil {
		return o, modules.ActionFail("", "%v", err)
	}
	return o, nil
}

func runPause(ctx context.Context, env *modules.Env, a pauseArgs) (modules.Result, error) {
	o, err := a.options(env)
	if err != nil {
		return modules.Result{}, err
	}
	seconds, unit, err := o.span(env)
	if err != nil {
		return modules.Result{}, err
	}
	start := time.Now()
	text, ask := o.texts(env.Task, seconds)
	if !env.Has(dialect.ModuleMessages) {
		text, ask = strings.TrimPrefix(text+"\n"+ask, "\n"), ""
	}
	input, err := env.Asks.Pause(ctx,
		modules.Pause{Text: text, Ask: ask, Limit: time.Duration(max(seconds, 0)) * time.Second, Echo: o.Echo})
	var res modules.Result
	switch {
	case errors.Is(err, modules.ErrUnattended):
		res.Warnings = []string{"Not waiting for response to prompt as stdin is not interactive"}
	case err != nil:
		return res, err
	}
	stop := time.Now()
	took := stop.Sub(start).Seconds()
	shown := took
	if unit == "minutes" {
		shown /= 60
	}
	res.Data = value.DictOf(
		"rc", int64(0), "stderr", "",
		"stdout", fmt.Sprintf("Paused for %s %s", modules.Str(math.Round(shown*100)/100), unit),
		"start", modules.TimeText(start), "stop", modules.TimeText(stop), "delta", int64(took),
		"echo", o.Echo, "user_input", input,
	)
	return res, nil
}

// span returns the time to wait in whole seconds, -1 for as long as the user takes.
func (o *pauseOptions) span(env *modules.Env) (int, string, error) {
	for _, x := range []struct {
		v      value.Value
		name   string
		factor int
	}{{o.Minutes, "minutes", 60}, {o.Seconds, "seconds", 1}} {
		if x.v == nil {
			continue
		}
		n, err := action.Int(x.v)
		if err != nil {
			return 0, "", modules.ActionFail("", "argument '%s' is of type %s and we were unable to convert to int: %v", x.name,
				yamlType(env, x.v), err)
		}
		return max(n*x.factor, 1), x.name, nil
	}
	return -1, "minutes", nil
}

// yamlType returns the class of a text that stands in a playbook.
func yamlType(env *modules.Env, v value.Value) string {
	if env.Has(dialect.ModuleArguments) {
		return modules.PlainTypeName(v)
	}
	if value.IsText(v) {
		return "<class 'ansible.parsing.yaml.objects.AnsibleUnicode'>"
	}
	return modules.TypeName(v)
}

// texts returns what the user sees meanwhile, and what he sees besides if he can answer.
func (o *pauseOptions) texts(task string, seconds int) (text, ask string) {
	hidden := ""
	if !o.Echo {
		hidden = " (output is hidden)"
	}
	asked := o.Prompt != nil && *o.Prompt != ""
	question := "Press enter to continue, Ctrl+C to interrupt"
	if asked {
		question = *o.Prompt
	}
	prompt := fmt.Sprintf("[%s]\n%s%s:", strings.TrimSpace(task), question, hidden)
	if seconds < 0 {
		return "", prompt
	}
	text = fmt.Sprintf("Pausing for %d seconds%s", seconds, hidden)
	const keys = "(ctrl+C then 'C' = continue early, ctrl+C then 'A' = abort)\r"
	if asked {
		return text + "\n" + keys, prompt
	}
	return text, keys
}

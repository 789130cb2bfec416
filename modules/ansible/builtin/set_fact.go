package builtin

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// SetFact sets variables of the host.
var SetFact = modules.Define("ansible.builtin.set_fact", "Set host variable(s) and fact(s).", runSetFact,
	modules.IsPure, modules.Is(modules.SetsVariables),
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.set_fact: {app_version: \"{{ out.stdout | trim }}\", cacheable: true}\n"
	}))

type setFactArgs struct {
	Cacheable value.Value `arg:"cacheable" doc:"Keep them as facts too: they outlive the play in the cache."`
	Facts     *value.Dict `arg:"*"`
}

func runSetFact(_ context.Context, env *modules.Env, a setFactArgs) (modules.Result, error) {
	if a.Facts.Len() == 0 {
		return modules.Result{}, modules.ActionFail("",
			"No key/value pairs provided, at least one is required for this action to succeed")
	}
	cacheable := false
	if a.Cacheable != nil {
		var err error
		if cacheable, err = value.StrictBool(a.Cacheable); err != nil {
			text := err.Error()
			if env.Has(dialect.ModuleArguments) {
				text = strings.Replace(value.NotBool(value.Printed(a.Cacheable)), ".  Valid", ". Valid", 1)
			}
			return modules.Result{}, modules.RaiseAs("TypeError", "%s", text)
		}
	}
	facts := value.NewDict()
	for i := range a.Facts.Len() {
		written, v := a.Facts.At(i)
		name := modules.Str(written)
		if !env.NamesVariable(name) {
			return modules.Result{}, modules.ActionFail("", badName, name)
		}
		if !env.Native {
			v = boolWord(v)
		}
		facts.SetKey(value.Str(name), v) // as it was given: it may hold templates
	}
	return modules.Result{Facts: facts,
		Data:  value.DictOf("ansible_facts", modules.Here, "failed", false, "changed", modules.AtEnd),
		Marks: result.Marks{Cacheable: result.FlagOf(cacheable)}}, nil
}

// boolWord turns the words of a k=v argument that mean a bool into one.
func boolWord(v value.Value) value.Value {
	s, ok := value.Text(v)
	if !ok {
		return v
	}
	switch strings.ToLower(s) {
	case "true", "yes":
		return value.Bool(true)
	case "false", "no":
		return value.Bool(false)
	}
	return v
}

var badName = dialect.InvalidVariableName.Format + ". Variables must start with a letter or underscore character, " +
	"and contain only letters, numbers and underscores."

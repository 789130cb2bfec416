package builtin

import (
	"context"
	"strings"

	"hark/modules"
	"hark/modules/py/value"
)

// ValidateArgumentSpec checks variables against a role's argument specification.
var ValidateArgumentSpec = modules.Define("ansible.builtin.validate_argument_spec", "Validate role argument specs.",
	runValidateSpec, modules.IsPure, modules.Is(modules.IsAction),
	modules.With(func(m *modules.Module) {
		m.AnyArgs = true
		m.Examples = "- ansible.builtin.validate_argument_spec:\n    argument_spec: {port: {type: int, required: true}}\n" +
			"    provided_arguments: {port: 80}\n"
	}))

type validateSpecArgs struct {
	Spec     value.Value `arg:"argument_spec" doc:"The specification."`
	Provided value.Value `arg:"provided_arguments" doc:"Arguments to check, beside the host's variables of these names."`
	Context  value.Value `arg:"validate_args_context" doc:"Where this comes from; returned as it is."`
	Extra    *value.Dict `arg:"*"`
}

func runValidateSpec(ctx context.Context, env *modules.Env, a validateSpecArgs) (modules.Result, error) {
	if a.Spec == nil {
		all := a.Extra.Copy()
		if a.Provided != nil {
			all.Put("provided_arguments", a.Provided)
		}
		return modules.Result{}, modules.Raise(`"argument_spec" arg is required in args: %s`, modules.Str(all))
	}
	spec, ok := a.Spec.(*value.Dict)
	if !ok {
		return modules.Result{}, modules.Raise("Incorrect type for argument_spec, expected dict and got %s",
			modules.TypeName(a.Spec))
	}
	provided, ok := a.Provided.(*value.Dict)
	if !ok && a.Provided != nil {
		return modules.Result{}, modules.Raise("Incorrect type for provided_arguments, expected dict and got %s",
			modules.TypeName(a.Provided))
	}
	args := value.NewDict()
	for _, name := range spec.Names() {
		v, found, err := env.Var(ctx, name)
		if err != nil {
			return modules.Result{}, modules.Raise("%v", err)
		}
		if found {
			args.Put(name, v)
		}
	}
	provided.Each(args.SetKey)
	if a.Context == nil {
		a.Context = value.NewDict()
	}
	data := value.DictOf("validate_args_context", a.Context, "changed", modules.Here)
	wrong := modules.CheckSpec(spec, args, modules.Reading{Release: env.Release})
	if len(wrong) == 0 {
		return modules.Result{Msg: "The arg spec validation passed", Data: data}, nil
	}
	data.Put("argument_spec_data", spec)
	data.Put("argument_errors", modules.List(wrong))
	return modules.Result{Failed: true, Msg: "Validation of arguments failed:\n" + strings.Join(wrong, "\n"),
		Data: data}, nil
}

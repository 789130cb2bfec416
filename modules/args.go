package modules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// Parsed are call arguments after checking: what Ansible returns as invocation.module_args, and what must not be shown.
type Parsed struct {
	// Params holds every parameter by name, with defaults and None for those not given, beside the aliases that were used.
	// Given arguments come first, in their order.
	Params *value.Dict
	// Secrets are the texts that nolog parameters hold, longest first.
	Secrets  []string
	Warnings []string
	// Deprecations have msg and version.
	Deprecations []map[string]any
}

// Reading says how arguments are read.
type Reading struct {
	// Environ is the environment that paths are expanded with, as KEY=value; with none they stay as they are.
	Environ []string
	// Release reads them as at Env.Release.
	Release Release
}

// Reading returns how a call with this Env reads its arguments; of a nil Env the zero value.
func (env *Env) Reading() Reading {
	if env == nil {
		return Reading{}
	}
	return Reading{Environ: env.Environ, Release: env.Release}
}

// Parse checks call arguments and completes them with defaults; it does not change args. name is the module as in the
// playbook, for messages. An error has the text that Ansible shows; Parsed then holds what was understood.
func (m *Module) Parse(name string, args *value.Dict, r Reading) (*Parsed, error) {
	spec := m.spec(r.Release)
	p := &Parsed{Params: args.CopyFor(len(spec.Params))}
	c := &checker{parsed: p, reading: r, anyArgs: m.AnyArgs}
	c.check(spec.Params, spec.Rules, p.Params, nil)
	if len(c.unsupported) > 0 {
		sort.Strings(c.unsupported)
		c.fail(dialect.UnsupportedOptions.Format, name, strings.Join(c.unsupported, ", "), c.supported+".")
	}
	slices.SortFunc(p.Secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	p.Secrets = slices.Compact(p.Secrets)
	if len(c.errs) > 0 {
		return p, c.errs[0]
	}
	return p, nil
}

// invocation returns what Ansible shows of the arguments: all but what stages pass to each other. Given ones come
// first, in their order, then the parameters whose aliases were given, those with a default and those without, as in
// the specification.
func (p *Parsed) invocation(params []Param, given *value.Dict) *value.Dict {
	out := value.NewDict()
	add := func(name string) {
		if v, ok := p.Params.Get(name); ok {
			out.Put(name, v)
		}
	}
	for _, name := range given.Names() {
		add(name)
	}
	isDefault := func(q Param) bool { return q.Default != nil }
	isAlias := func(q Param) bool { return slices.ContainsFunc(q.Aliases, given.Has) }
	for _, of := range []func(Param) bool{isAlias, isDefault, func(Param) bool { return true }} {
		for _, q := range params {
			if of(q) {
				add(q.Name)
			}
		}
	}
	for _, name := range p.Params.Names() {
		add(name)
	}
	for _, q := range params {
		if q.inner() || q.Extra {
			out.Delete(value.Str(q.Name))
		}
	}
	return out
}

// checker walks a parameter list and its sub-options in the order in which Ansible checks, because
// users see the first error only.
type checker struct {
	parsed      *Parsed
	reading     Reading
	anyArgs     bool
	errs        []error
	unsupported []string
	supported   string
	// text is Python's class of a text, str by default.
	text string
}

func (c *checker) unsupportedText() string {
	return strings.Join(c.unsupported, ", ") + dialect.SupportedOptions.Text(c.supported+".")
}

func (c *checker) fail(format string, a ...any) { c.errs = append(c.errs, fmt.Errorf(format, a...)) }

// check checks and completes args in place; context are the names of the enclosing parameters.
func (c *checker) check(params []Param, rules Rules, args *value.Dict, context []string) {
	c.fallbacks(params, args)
	c.aliases(params, args, context)
	for i := range params {
		c.secrets(&params[i], args)
	}
	if len(context) > 0 || !c.anyArgs {
		c.names(params, args, context)
	}
	c.addRule(rules.exclusive(args), context)
	setDefaults(params, args, false)
	c.addRule(missingArguments(params, args), context)
	c.types(params, args, context)
	c.choices(params, args, context)
	for _, err := range rules.demands(args) {
		c.addRule(err, context)
	}
	setDefaults(params, args, true)
	for i := range params {
		c.subOptions(&params[i], args, context)
	}
}

func found(context []string) string {
	if len(context) == 0 {
		return ""
	}
	return " found in " + strings.Join(context, " -> ")
}

func (c *checker) addRule(err error, context []string) {
	if err != nil {
		c.fail("%v%s", err, found(context))
	}
}

// setDefaults completes args: first, before the checks, only what has a default; at last also None.
func setDefaults(params []Param, args *value.Dict, none bool) {
	for i := range params {
		p := &params[i]
		if !p.inner() && !args.Has(p.Name) && (p.Default != nil || none) {
			args.Put(p.Name, p.Default)
		}
	}
}

func missingArguments(params []Param, args *value.Dict) error {
	var missing []string
	for i := range params {
		p := &params[i]
		if p.Required && !args.Has(p.Name) {
			missing = append(missing, p.Name)
		}
	}
	if missing == nil {
		return nil
	}
	sort.Strings(missing)
	return errors.New("missing required arguments: " + strings.Join(missing, ", "))
}

func (c *checker) types(params []Param, args *value.Dict, context []string) {
	where := ""
	if len(context) > 0 {
		where = " found in '" + strings.Join(context, " -> ") + "'."
	}
	for i := range params {
		p := &params[i]
		v := Argument(args, p.Name)
		if value.IsNone(v) || p.Name == "*" {
			continue
		}
		out, err := coerce(p.Type, v, c.reading)
		if err != nil {
			c.fail("argument '%s' is of type %s%s and we were unable to convert to %s: %v", p.Name, c.kind(v), where, p.Type,
				c.reword(err))
			continue
		}
		if list, ok := out.(*value.List); ok && p.Elements != "" {
			out = c.elements(p, list, strings.TrimSuffix(where, "."))
		}
		args.Put(p.Name, out)
	}
}

// Argument returns the argument for a parameter, None if it was not given.
func Argument(args *value.Dict, name string) value.Value {
	v, _ := args.Get(name)
	return value.OrNone(v)
}

// IsGiven reports whether an argument was given and is not None.
func IsGiven(args *value.Dict, name string) bool { return !value.IsNone(Argument(args, name)) }

// elements converts the elements of a list; those that cannot be converted are reported and left out.
func (c *checker) elements(p *Param, list *value.List, where string) *value.List {
	out := value.NewList()
	for _, item := range list.Items {
		v, err := coerce(p.Elements, item, c.reading)
		if err != nil {
			c.fail("Elements value for option '%s'%s is of type %s and we were unable to convert to %s: %v",
				p.Name, where, c.kind(item), p.Elements, c.reword(err))
			continue
		}
		out.Items = append(out.Items, v)
	}
	return out
}

func (c *checker) choices(params []Param, args *value.Dict, context []string) {
	for i := range params {
		p := &params[i]
		if len(p.Choices) == 0 {
			continue
		}
		v, given := args.Get(p.Name)
		if !given {
			continue
		}
		all := strings.Join(p.Choices, ", ")
		if list, ok := v.(*value.List); ok {
			var wrong []string
			for _, x := range list.Items {
				if !slices.Contains(p.Choices, Str(x)) {
					wrong = append(wrong, Str(x))
				}
			}
			if wrong != nil {
				c.fail("value of %s must be one or more of: %s. Got no match for: %s%s", p.Name, all, strings.Join(wrong, ", "),
					found(context))
			}
			continue
		}
		if word, ok := boolWord(v, p.Choices); ok {
			args.Put(p.Name, word)
			continue
		}
		if !slices.Contains(p.Choices, Str(v)) {
			c.fail("%s%s", dialect.NoSuchChoice.Text(p.Name, all, Str(v)), found(context))
		}
	}
}

// boolWord undoes YAML's reading of a choice like "no" as a bool, if only one choice can be meant.
func boolWord(v value.Value, choices []string) (string, bool) {
	s, _ := value.Text(v)
	if s != "True" && s != "False" || slices.Contains(choices, s) {
		return "", false
	}
	var fits []string
	for _, word := range choices {
		if b, err := Bool(word); err == nil && b == (s == "True") {
			fits = append(fits, word)
		}
	}
	if len(fits) != 1 {
		return "", false
	}
	return fits[0], true
}

func (c *checker) subOptions(p *Param, args *value.Dict, context []string) {
	v := Argument(args, p.Name)
	if value.IsNone(v) && p.ApplyDefaults && p.Options != nil {
		v = value.NewDict()
	}
	if p.Options == nil || value.IsNone(v) {
		return
	}
	inner := append(slices.Clone(context), p.Name)
	checked := func(v value.Value) value.Value {
		d, ok := v.(*value.Dict)
		if !ok {
			c.fail("value of '%s' must be of type dict or list of dicts", p.Name)
			return v
		}
		own := d.Copy()
		c.check(p.Options, p.Rules, own, inner)
		return own
	}
	list, isList := v.(*value.List)
	if !isList {
		args.Put(p.Name, checked(v))
		return
	}
	out := value.NewList()
	for _, item := range list.Items {
		out.Items = append(out.Items, checked(item))
	}
	args.Put(p.Name, out)
}

package modules

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"hark/modules/py/value"
)

// Parsed are call arguments after checking: what Ansible returns as invocation.module_args, and what
// must not be shown.
type Parsed struct {
	// Params holds every parameter by name, with defaults and nil for those not given, beside the
	// aliases that were used.
	Params map[string]any
	// Secrets are the texts that nolog parameters hold, longest first.
	Secrets  []string
	Warnings []string
	// Deprecations have msg and version.
	Deprecations []map[string]any
}

// Parse checks call arguments and completes them with defaults; args stay as they are. name is the module as the
// playbook writes it, for messages; environ the environment that paths are expanded with (nil: not at
// all). An error has the text that Ansible shows; Parsed then holds what was understood.
func (m *Module) Parse(name string, args map[string]any, environ []string) (*Parsed, error) {
	p := &Parsed{Params: make(map[string]any, len(args)+len(m.Params()))}
	for k, v := range args {
		p.Params[k] = v
	}
	c := &checker{parsed: p, environ: environ, anyArgs: m.AnyArgs}
	c.check(m.Params(), m.Rules, p.Params, nil)
	if len(c.unsupported) > 0 {
		sort.Strings(c.unsupported)
		c.fail("Unsupported parameters for (%s) module: %s", name, c.unsupportedText())
	}
	slices.SortFunc(p.Secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	p.Secrets = slices.Compact(p.Secrets)
	if len(c.errs) > 0 {
		return p, c.errs[0]
	}
	return p, nil
}

// invocation is what Ansible shows of the arguments: all but what stages hand to each other. First come those that were given, in their order,
// then the parameters whose aliases were, those with a default and those without, as the specification has them.
func (p *Parsed) invocation(params []Param, given []string) *value.Dict {
	out := value.NewDict()
	add := func(name string) {
		if v, ok := p.Params[name]; ok {
			out.Put(name, v)
		}
	}
	for _, name := range given {
		add(name)
	}
	isDefault := func(q Param) bool { return q.Default != nil }
	isAlias := func(q Param) bool {
		return slices.ContainsFunc(q.Aliases, func(alias string) bool { return slices.Contains(given, alias) })
	}
	for _, of := range []func(Param) bool{isAlias, isDefault, func(Param) bool { return true }} {
		for _, q := range params {
			if of(q) {
				add(q.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
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
	environ     []string
	anyArgs     bool
	errs        []error
	unsupported []string
	supported   string
	// text is Python's class of a text, str by default.
	text string
}

func (c *checker) unsupportedText() string {
	return fmt.Sprintf("%s. Supported parameters include: %s.", strings.Join(c.unsupported, ", "), c.supported)
}

func (c *checker) fail(format string, a ...any) { c.errs = append(c.errs, fmt.Errorf(format, a...)) }

// check checks and completes args in place; context are the names of the enclosing parameters.
func (c *checker) check(params []Param, rules Rules, args map[string]any, context []string) {
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
func setDefaults(params []Param, args map[string]any, none bool) {
	for _, p := range params {
		if p.inner() {
			continue
		}
		if _, given := args[p.Name]; !given && (p.Default != nil || none) {
			args[p.Name] = p.Default
		}
	}
}

func missingArguments(params []Param, args map[string]any) error {
	var missing []string
	for _, p := range params {
		if _, given := args[p.Name]; p.Required && !given {
			missing = append(missing, p.Name)
		}
	}
	if missing == nil {
		return nil
	}
	sort.Strings(missing)
	return errors.New("missing required arguments: " + strings.Join(missing, ", "))
}

func (c *checker) types(params []Param, args map[string]any, context []string) {
	where := ""
	if len(context) > 0 {
		where = " found in '" + strings.Join(context, " -> ") + "'."
	}
	for _, p := range params {
		v := args[p.Name]
		if v == nil || p.Name == "*" {
			continue
		}
		out, err := coerce(p.Type, v, c.environ)
		if err != nil {
			c.fail("argument '%s' is of type %s%s and we were unable to convert to %s: %v", p.Name, c.typeName(v), where, p.Type, c.reword(err))
			continue
		}
		if list, ok := out.([]any); ok && p.Elements != "" {
			out = c.elements(&p, list, strings.TrimSuffix(where, "."))
		}
		args[p.Name] = out
	}
}

// elements converts the elements of a list; those that cannot be converted are reported and left out.
func (c *checker) elements(p *Param, list []any, where string) []any {
	out := make([]any, 0, len(list))
	for _, item := range list {
		v, err := coerce(p.Elements, item, c.environ)
		if err != nil {
			c.fail("Elements value for option '%s'%s is of type %s and we were unable to convert to %s: %v",
				p.Name, where, c.typeName(item), p.Elements, c.reword(err))
			continue
		}
		out = append(out, v)
	}
	return out
}

func (c *checker) choices(params []Param, args map[string]any, context []string) {
	for _, p := range params {
		v, given := args[p.Name]
		if len(p.Choices) == 0 || !given {
			continue
		}
		all := strings.Join(p.Choices, ", ")
		if list, ok := v.([]any); ok {
			var wrong []string
			for _, x := range list {
				if !slices.Contains(p.Choices, Str(x)) {
					wrong = append(wrong, Str(x))
				}
			}
			if wrong != nil {
				c.fail("value of %s must be one or more of: %s. Got no match for: %s%s", p.Name, all, strings.Join(wrong, ", "), found(context))
			}
			continue
		}
		if word, ok := boolWord(v, p.Choices); ok {
			args[p.Name] = word
			continue
		}
		if !slices.Contains(p.Choices, Str(v)) {
			c.fail("value of %s must be one of: %s, got: %s%s", p.Name, all, Str(v), found(context))
		}
	}
}

// boolWord undoes YAML's reading of a choice like "no" as a bool, where only one choice can be meant.
func boolWord(v any, choices []string) (string, bool) {
	s, _ := v.(string)
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

func (c *checker) subOptions(p *Param, args map[string]any, context []string) {
	v := args[p.Name]
	if v == nil && p.ApplyDefaults && p.Options != nil {
		v = map[string]any{}
	}
	if p.Options == nil || v == nil {
		return
	}
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	inner := append(slices.Clone(context), p.Name)
	for i, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			c.fail("value of '%s' must be of type dict or list of dicts", p.Name)
			continue
		}
		own := make(map[string]any, len(m))
		for k, x := range m {
			own[k] = x
		}
		c.check(p.Options, p.Rules, own, inner)
		if isList {
			list[i] = own
		} else {
			args[p.Name] = own
		}
	}
}

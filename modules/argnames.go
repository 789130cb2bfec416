package modules

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"hark/modules/py/value"
)

// aliases assigns an alias's value to its parameter; a later alias overrides an earlier one, and the parameter itself.
func (c *checker) aliases(params []Param, args *value.Dict, context []string) {
	prefix := strings.Join(append(context, ""), ".")
	for i := range params {
		p := &params[i]
		for _, alias := range p.Aliases {
			v, ok := args.Get(alias)
			if !ok {
				continue
			}
			if args.Has(p.Name) {
				c.parsed.Warnings = append(c.parsed.Warnings,
					fmt.Sprintf("Both option %s%s and its alias %s%s are set.", prefix, p.Name, prefix, alias))
			}
			args.Put(p.Name, v)
			if alias == p.OldAlias {
				c.parsed.Deprecations = append(c.parsed.Deprecations, map[string]any{
					"msg":     fmt.Sprintf("Alias '%s' is deprecated. See the module docs for more information", alias),
					"version": p.OldRemoved, "collection_name": core,
				})
			}
		}
		if args.Has(p.Name) && p.Removed != "" {
			c.parsed.Deprecations = append(c.parsed.Deprecations, map[string]any{
				"msg":     fmt.Sprintf("Param '%s%s' is deprecated. See the module docs for more information", prefix, p.Name),
				"version": p.Removed, "collection_name": core,
			})
		}
	}
}

// fallbacks reads arguments that were not given from the environment.
func (c *checker) fallbacks(params []Param, args *value.Dict) {
	for i := range params {
		p := &params[i]
		if p.Env == "" || args.Has(p.Name) {
			continue
		}
		if val, ok := lookupEnv(c.reading.Environ, p.Env); ok {
			args.Put(p.Name, val)
		}
	}
}

// names records the arguments that are no parameters.
func (c *checker) names(params []Param, args *value.Dict, context []string) {
	for _, k := range args.Names() {
		if slices.ContainsFunc(params, func(p Param) bool { return p.Name == k || slices.Contains(p.Aliases, k) }) {
			continue
		}
		c.unsupported = append(c.unsupported, strings.Join(append(context, k), "."))
		c.supported = supportedText(params)
	}
}

// inner reports whether a parameter does not concern users: it is hidden, and Ansible does not show it either.
func (p *Param) inner() bool {
	return p.Name == "*" || p.Hidden && !strings.HasPrefix(p.Name, "_")
}

// supportedText lists the names and, in parentheses, all the aliases.
func supportedText(params []Param) string {
	var names, aliases []string
	for _, p := range params {
		if p.inner() || p.Extra {
			continue
		}
		names = append(names, p.Name)
		aliases = append(aliases, p.Aliases...)
	}
	sort.Strings(names)
	sort.Strings(aliases)
	text := strings.Join(names, ", ")
	if len(aliases) > 0 {
		text += " (" + strings.Join(aliases, ", ") + ")"
	}
	return text
}

// core names the release in which a parameter goes away.
const core = "ansible.builtin"

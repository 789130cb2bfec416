//go:build hostile

package hostile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hark/modules"
	"hark/modules/all"
	levels "hark/playbook/level"
)

// ofModule are the sinks of a module: each argument of its declaration, in all shapes.
func ofModule(m *modules.Module) []sink {
	var all []sink
	for _, p := range m.Params() {
		if p.Hidden || p.Name == "*" {
			continue
		}
		for i, shape := range argumentShapes(m, p) {
			all = append(all, sink{
				name:  fmt.Sprintf("%s of %s, shape %d", p.Name, m.Name, i),
				tasks: "- {name: ID, " + m.Name + ": {" + strings.Join(append(needed(m, p.Name), argumentName(p)+": "+shape), ", ") + "}, " + harmless + "}\n",
			})
		}
	}
	return all
}

// argumentName is how playbooks write an argument.
func argumentName(p modules.Param) string {
	if p.Name == "_raw_params" && len(p.Aliases) > 0 {
		return p.Aliases[0]
	}
	return p.Name
}

// harmless keeps what modules do from being felt: they change nothing, find no programs and have little time.
const harmless = `check_mode: true, ignore_errors: true, environment: {PATH: /nonexistent}, timeout: 3`

// argumentShapes are the ways of giving an argument a foreign text, in YAML.
func argumentShapes(m *modules.Module, p modules.Param) []string {
	shapes := []string{`"{{ TEXT }}"`}
	switch {
	case slices.Contains(m.Bare, p.Name):
		shapes = append(shapes, `"TEXT"`, `["TEXT", "{{ TEXT }}"]`, `"'{{ TEXT }}' == 'x'"`, `"TEXT == 'x'"`, `["{{ [TEXT] }}"]`)
	case p.Type == "list" && len(p.Options) == 0:
		shapes = append(shapes, `["{{ TEXT }}"]`)
	case p.Type == "dict" && len(p.Options) == 0, p.Type == "raw":
		shapes = append(shapes, `{k: ["{{ TEXT }}"], "{{ TEXT }}": k}`)
	}
	for _, o := range p.Options {
		shape := "{" + strings.Join(append(neededOf(p.Options, o.Name), o.Name+`: "{{ TEXT }}"`), ", ") + "}"
		if p.Type == "list" {
			shape = "[" + shape + "]"
		}
		shapes = append(shapes, shape)
	}
	if m.Session || m.Resolves() {
		shapes = append(shapes, `"x{{ TEXT }}"`)
	}
	return shapes
}

// needed are the arguments without which a module says at once that they are missing, but for one.
func needed(m *modules.Module, but string) []string { return neededOf(m.Params(), but) }

func neededOf(params []modules.Param, but string) []string {
	var all []string
	for _, p := range params {
		if !p.Required || p.Name == but {
			continue
		}
		v := `"{{ playbook_dir }}/scratch"`
		switch {
		case len(p.Choices) > 0:
			v = `"` + p.Choices[0] + `"`
		case p.Type == "list":
			v = "[x]"
		case p.Type == "dict":
			v = "{}"
		case p.Type == "int", p.Type == "float":
			v = "1"
		case p.Type == "bool":
			v = "true"
		}
		all = append(all, p.Name+": "+v)
	}
	return all
}

// sinksOfModules are those of the modules that evaluate something themselves, in the session of a run, and those of
// all others.
func sinksOfModules() (session, host []sink) {
	for _, m := range all.Modules() {
		switch {
		case m.Foreign:
		case m.Session || m.Resolves():
			session = append(session, ofModule(m)...)
		default:
			host = append(host, ofModule(m)...)
		}
	}
	return session, host
}

// A module that comes to the catalogue has sinks, and so has each of its arguments.
func TestEveryArgumentHasSinks(t *testing.T) {
	for _, m := range all.Modules() {
		have := ofModule(m)
		for _, p := range m.Params() {
			has := func(s sink) bool { return strings.HasPrefix(s.name, p.Name+" of "+m.Name+",") }
			if !m.Foreign && !p.Hidden && p.Name != "*" && !slices.ContainsFunc(have, has) {
				t.Errorf("no sink has the argument %s of %s", p.Name, m.Name)
			}
		}
	}
}

// No argument of a module makes a foreign text run.
func TestModulesRunNoForeignTexts(t *testing.T) {
	session, host := sinksOfModules()
	inSession, onHost := cases(session), cases(host)
	dir := perches(t, max(len(inSession), len(onHost)))
	from := sources()
	eachLevel(t, func(t *testing.T, level string) {
		c := newCage(t, dir, level)
		at := slices.Index(levels.Names(), level)
		for i, one := range from {
			if one.foreign(level) && (everything() || (i+at)%12 == 0) {
				t.Run(one.name, func(t *testing.T) {
					newCage(t, dir, level).loose(one, caged(one, inSession)).silent(t, inSession)
				})
			}
		}
		if everything() || level == oldest() || level == newest() {
			c.loose(from[0], caged(from[0], onHost)).silent(t, onHost)
		}
	})
}

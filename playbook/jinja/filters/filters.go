// Package filters holds the filters, tests and global functions of Jinja and Ansible, which the
// tables of dialect declare. Those of collections are beside it, and templar brings all together.
package filters

import (
	"maps"
	"slices"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/playbook/jinja"
)

// Filters returns the filters of ansible-core and Jinja that every level has, by all their names.
func Filters() map[string]jinja.Filter {
	return Declared("", dialect.Filters(), functions(), CheckedFilter)
}

// functions are the functions of all filters by short name.
func functions() map[string]jinja.Filter {
	return merged(selecting(), textFilters(), lists(), numbers(), sequences(), arithmetic(), words(),
		ansibleDicts(), ansibleJSON(), ansibleBase64(), ansibleRegex(), ansiblePaths(), ansibleMisc(), ansibleSets(),
		ansibleMaths(), ansibleRandom(), ansibleFormats(), ansibleDigests(), ansiblePasswords(), ansibleVaults(),
		ansibleNames(), ansibleTexts(), ansibleTimes())
}

// Tests returns the tests of ansible-core and Jinja by all their names.
func Tests() map[string]jinja.Test {
	return Declared("", dialect.Tests(), testFunctions(), CheckedTest)
}

// testFunctions are the functions of all tests by short name.
func testFunctions() map[string]jinja.Test {
	return merged(jinjaTests(), numberTests(), ansibleTests(), resultTests(), moreTests(), fileTests())
}

func merged[P any](groups ...map[string]P) map[string]P {
	all := map[string]P{}
	for _, group := range groups {
		maps.Copy(all, group)
	}
	return all
}

// Declared returns the filters or tests of a collection that every level has, by all the names of their rows. have
// holds their functions by short name; what has no row is no plug-in. checked adds the check of the arguments.
func Declared[P any](collection string, rows []dialect.Plugin, have map[string]P,
	checked func(*value.Signature, P) P) map[string]P {
	return named(rows, func(row *dialect.Plugin) (f P, ok bool) {
		if row.Collection != collection || row.Since != nil {
			return f, false
		}
		if f, ok = have[row.Name]; !ok {
			return f, false
		}
		if name, params := row.Function(); name != "" {
			f = checked(value.ParseSignature(name, params), f)
		}
		return f, true
	})
}

// named returns plug-ins by all the names of their rows. function returns that of a row, false for one that is left
// out.
func named[P any](rows []dialect.Plugin, function func(*dialect.Plugin) (P, bool)) map[string]P {
	all := map[string]P{}
	for i := range rows {
		if f, ok := function(&rows[i]); ok {
			for _, name := range rows[i].Names() {
				all[name] = f
			}
		}
	}
	return all
}

// none is Python's None, as a default.
var none = value.None{}

// list makes a list of values.
func list(items []value.Value) value.Value { return &value.List{Items: items} }

// bindSome binds the parameters of a function that takes any number of other arguments, and gives the keyword
// arguments that are left over.
func bindSome(args *jinja.Args, fn string, params ...value.Param) ([]value.Value, []jinja.Kwarg, error) {
	own := &jinja.Args{Pos: args.Pos[:min(len(args.Pos), len(params))]}
	var rest []jinja.Kwarg
	for _, k := range args.Kw {
		if slices.ContainsFunc(params, func(p value.Param) bool { return p.Name == k.Name }) {
			own.Kw = append(own.Kw, k)
		} else {
			rest = append(rest, k)
		}
	}
	bound, err := own.Bind(fn, params...)
	return bound, rest, err
}

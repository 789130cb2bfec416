package filters

import (
	"strings"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/versions"
)

// operators returns the test version's words for comparisons, with the signs of the order that fulfil them, as
// Ansible lists them.
func operators() ([]string, map[string]func(int) bool) {
	names := []string{"==", "=", "eq", "<", "lt", "<=", "le", ">", "gt", ">=", "ge", "!=", "<>", "ne"}
	holds := []func(int) bool{
		func(n int) bool { return n == 0 }, func(n int) bool { return n < 0 }, func(n int) bool { return n <= 0 },
		func(n int) bool { return n > 0 }, func(n int) bool { return n >= 0 }, func(n int) bool { return n != 0 },
	}
	by := map[string]func(int) bool{}
	for i, which := range []int{0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5} {
		by[names[i]] = holds[which]
	}
	return names, by
}

func versionRules() ([]string, map[string]versions.Rule) {
	return []string{"loose", "strict", "semver", "semantic", "pep440"}, map[string]versions.Rule{
		"loose": versions.Loose, "strict": versions.Strict, "semver": versions.Semantic, "semantic": versions.Semantic,
		"pep440": versions.PEP440,
	}
}

func versionTest(_ *jinja.Call, in value.Value, args *jinja.Args) (bool, error) {
	a, err := args.Bind("version_compare", value.Req("version"), value.Opt("operator", value.Str("eq")),
		value.Opt("strict", none), value.Opt("version_type", none))
	if err != nil {
		return false, err
	}
	if !value.IsNone(a[2]) && !value.IsNone(a[3]) {
		return false, value.FilterErrorf("Cannot specify both 'strict' and 'version_type'")
	}
	x, err := versionText(in, "Input version value cannot be empty")
	if err != nil {
		return false, err
	}
	y, err := versionText(a[0], "Version parameter to compare against cannot be empty")
	if err != nil {
		return false, err
	}
	rule, err := versionRule(a[2], a[3])
	if err != nil {
		return false, err
	}
	op, err := value.ToStr(a[1])
	if err != nil {
		return false, err
	}
	names, known := operators()
	if known[op] == nil {
		return false, value.FilterErrorf("Invalid operator type (%s). Must be one of %s", op, reprs(names))
	}
	n, err := versions.Compare(rule, x, y)
	if err != nil {
		return false, value.FilterErrorf("Version comparison failed: %s", err)
	}
	return known[op](n), nil
}

// versionText returns a version as text; what counts as nothing is an error.
func versionText(v value.Value, empty string) (string, error) {
	if given, err := value.Truth(v); err != nil || !given {
		if err == nil {
			err = value.FilterErrorf("%s", empty)
		}
		return "", err
	}
	return value.ToStr(v)
}

func versionRule(strict, kind value.Value) (versions.Rule, error) {
	if on, err := value.Truth(strict); err != nil || on {
		return versions.Strict, err
	}
	if given, err := value.Truth(kind); err != nil || !given {
		return versions.Loose, err
	}
	name, err := value.ToStr(kind)
	if err != nil {
		return nil, err
	}
	names, rules := versionRules()
	if rules[name] == nil {
		return nil, value.FilterErrorf("Invalid version type (%s). Must be one of %s", name, reprs(names))
	}
	return rules[name], nil
}

// reprs are names in quotes, separated by commas.
func reprs(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = value.ReprText(name)
	}
	return strings.Join(out, ", ")
}

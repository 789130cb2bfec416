package general_test

import (
	"context"
	"testing"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// oneVar is a scope with the variable ini.
type oneVar struct{}

func (oneVar) Raw(_ context.Context, name string) (value.Value, bool, error) {
	return value.Str("[a]\nx = 1\ny=%(x)s\n[b]\n"), name == "ini", nil
}

func (oneVar) Names(context.Context) []string { return []string{"ini"} }

// TestYoungerFilters holds the filters that the release whose answers are in testdata/answers does not have.
func TestYoungerFilters(t *testing.T) {
	tpl := templar.New(oneVar{}, templar.Options{Engine: templar.NewEngine()})
	for expr, want := range map[string]string{
		`[1, 2, 2, [3]] | community.general.lists_union([2, 4], [[3]])`:                        `[1, 2, [3], 4]`,
		`[[1, 2], [2, 3]] | community.general.lists_union(flatten=true)`:                       `[1, 2, 3]`,
		`[1, 2, [3]] | community.general.lists_intersect([[3], 2])`:                            `[2, [3]]`,
		`[1, 2, {'a': 1}] | community.general.lists_difference([1], [{'a': 1}])`:               `[2]`,
		`[1, 2] | community.general.lists_symmetric_difference([2, 3])`:                        `[1, 3]`,
		`[{'k0_x': 1, 'k1_y': 2, 'k0': 3}] | community.general.keep_keys(['k0'])`:              `[{'k0': 3}]`,
		`[{'k0_x': 1, 'k1_y': 2}] | community.general.keep_keys('k0', 'starts_with')`:          `[{'k0_x': 1}]`,
		`[{'k0_x': 1, 'k1_y': 2}] | community.general.remove_keys('.*_x$', 'regex')`:           `[{'k1_y': 2}]`,
		`[{'a': 1, 'b': 2}] | community.general.replace_keys([{'before': 'a', 'after': 'z'}])`: `[{'z': 1, 'b': 2}]`,
		`ini | community.general.from_ini`:                                                     `{'a': {'x': '1', 'y': '%(x)s'}, 'b': {}}`,
		`{'a': {'x': 1}} | community.general.to_ini | trim`:                                    "[a]\nx = 1",
		`5 | community.general.lists_union([1])`:                                               `All arguments must be lists. 5 is <class 'int'>`,
		`[5] | community.general.keep_keys('a')`:                                               `The data items must be dictionaries. 5 is <class 'int'>`,
		`[{'a': 1}] | community.general.keep_keys('a', 'bogus')`: `The matching_parameter=bogus must be one of ` +
			`['equal', 'starts_with', 'ends_with', 'regex']`,
	} {
		v, err := tpl.Template(context.Background(), value.SourceText("{{ "+expr+" }}"))
		got := ""
		if err != nil {
			got = err.Error()
		} else if got, err = value.ToStr(v); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s:\n got  %s\n want %s", expr, got, want)
		}
	}
}

package mergehash

import (
	"testing"

	"hark/modules/py/value"
)

func dict(t *testing.T, text string) *value.Dict {
	t.Helper()
	v, err := value.ParseJSON(text, value.KindStr)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Dict)
}

// The expectations are what merge_hash of ansible-core 2.14.18 gives.
func TestDictsAreMergedAsAnsibleDoes(t *testing.T) {
	const x = `{"a": {"k": [1, 2], "z": 1}, "l": [1, 2, 3], "s": "x", "n": null}`
	const y = `{"a": {"k": [2, 3], "y": {}}, "l": [3, 4], "s": "y", "m": [1]}`
	const rest = `, 's': 'y', 'n': None, 'm': [1]}`
	for how, want := range map[How]string{
		{false, "replace"}:    `{'a': {'k': [2, 3], 'y': {}}, 'l': [3, 4]`,
		{false, "keep"}:       `{'a': {'k': [2, 3], 'y': {}}, 'l': [1, 2, 3]`,
		{false, "append"}:     `{'a': {'k': [2, 3], 'y': {}}, 'l': [1, 2, 3, 3, 4]`,
		{false, "prepend"}:    `{'a': {'k': [2, 3], 'y': {}}, 'l': [3, 4, 1, 2, 3]`,
		{false, "append_rp"}:  `{'a': {'k': [2, 3], 'y': {}}, 'l': [1, 2, 3, 4]`,
		{false, "prepend_rp"}: `{'a': {'k': [2, 3], 'y': {}}, 'l': [3, 4, 1, 2]`,
		{true, "replace"}:     `{'a': {'k': [2, 3], 'z': 1, 'y': {}}, 'l': [3, 4]`,
		{true, "keep"}:        `{'a': {'k': [1, 2], 'z': 1, 'y': {}}, 'l': [1, 2, 3]`,
		{true, "append"}:      `{'a': {'k': [1, 2, 2, 3], 'z': 1, 'y': {}}, 'l': [1, 2, 3, 3, 4]`,
		{true, "prepend"}:     `{'a': {'k': [2, 3, 1, 2], 'z': 1, 'y': {}}, 'l': [3, 4, 1, 2, 3]`,
		{true, "append_rp"}:   `{'a': {'k': [1, 2, 3], 'z': 1, 'y': {}}, 'l': [1, 2, 3, 4]`,
		{true, "prepend_rp"}:  `{'a': {'k': [2, 3, 1], 'z': 1, 'y': {}}, 'l': [3, 4, 1, 2]`,
	} {
		left, right := dict(t, x), dict(t, y)
		got, err := how.Merge(left, right)
		if err != nil || value.PrintedRepr(got) != want+rest {
			t.Errorf("%+v: %s, %v", how, value.PrintedRepr(got), err)
		}
		if !value.Same(left, dict(t, x)) || !value.Same(right, dict(t, y)) {
			t.Errorf("%+v changed what it was given: %s, %s", how, value.PrintedRepr(left), value.PrintedRepr(right))
		}
	}
}

// What is not of one kind is replaced, whatever is wanted for lists and dicts.
func TestKindsThatDifferReplaceEachOther(t *testing.T) {
	const x, y = `{"a": {"k": 1}, "b": [1], "c": {"k": 1}}`, `{"a": [2], "b": {"m": 2}, "c": "text"}`
	for _, how := range []How{{true, "append"}, {false, "keep"}, {true, "prepend_rp"}} {
		got, err := how.Merge(dict(t, x), dict(t, y))
		if want := "{'a': [2], 'b': {'m': 2}, 'c': 'text'}"; err != nil || value.PrintedRepr(got) != want {
			t.Errorf("%+v: %s, %v", how, value.PrintedRepr(got), err)
		}
	}
}

func TestOtherWaysToJoinListsAreRefused(t *testing.T) {
	_, err := How{Lists: "shuffle"}.Merge(value.NewDict(), value.NewDict())
	const want = "merge_hash: 'list_merge' argument can only be equal to 'replace', 'keep', 'append', 'prepend', " +
		"'append_rp' or 'prepend_rp'"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

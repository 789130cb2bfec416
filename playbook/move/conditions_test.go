package move

import "testing"

func TestConditionsAreGivenWithoutDelimiters(t *testing.T) {
	for text, want := range map[string]string{
		"{{ n }} > 2":                "n > 2",
		"'{{ a }}' == 'x'":           "a == 'x'",
		`"{{a}}" in {{ b.c }}`:       "a in b.c",
		"'x{{ a }}' == b":            "",
		"a == 'one' and {{ b }} > 1": "a == 'one' and b > 1",
		"{{ a > 2":                   "",
		"{{ a }} {{ b }}":            "",
		"{% if a %}b{% endif %} > 1": "",
	} {
		if got := undelimited(text); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

package tool

import "testing"

// The answers are those of ansible-core.
func TestPasswordsOfAddressesAreHidden(t *testing.T) {
	for text, want := range map[string]string{
		"http://user:pw@host/x":       "http://user:********@host/x",
		"user:pw@host":                "user:********@host",
		"a:b@c":                       "a:b@c",
		"git@github.com:x/y.git":      "git@github.com:x/y.git",
		"ssh://git@h:22/x":            "ssh:********@h:22/x",
		"http://u:p@h1,http://v:q@h2": "http://u:********@h1,http://v:********@h2",
		"abc:d@e@f":                   "abc:********@f",
		"http://u:p@ss@h":             "http://u:********@h",
		"mail a@b.c: x@y":             "mail a@b.c:********@y",
		"http://u@h:80/a@b":           "http://u@h:********@b",
		"foo://bar:baz@q://r:s@t":     "foo://bar:********@q://r:********@t",
		"http://u:p:q@h":              "http://u:********@h",
		"abc:@d":                      "abc:********@d",
		"http://h/ a:b@c":             "http://h/ a:********@c",
		"://:@":                       "://:********@",
		"k:v http://u:p@h":            "k:v http://u:********@h",
		"x:y z@w http://h:1":          "x:y z@w http://h:1",
		"@":                           "@",
		"":                            "",
	} {
		if got := masked(text); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
	if got := shown([]string{"git", "clone", "https://u:p@h/x.git"}); got != "git clone 'https://u:********@h/x.git'" {
		t.Errorf("the command is shown as %s", got)
	}
}

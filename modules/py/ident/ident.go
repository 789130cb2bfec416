// Package ident knows which texts name variables: in Python, and in templates.
package ident

import "slices"

// Python reports whether a text is an identifier of Python, of ASCII only, and no keyword: the rule of ansible-core
// to 2.18.
func Python(name string) bool { return shaped(name) && !slices.Contains(keywords(), name) }

// Jinja reports whether a text is an identifier of Python, of ASCII only, that a template can look up: the rule of
// ansible-core since 2.19, whose variables may be called if or class.
func Jinja(name string) bool { return shaped(name) && !slices.Contains(constants(), name) }

func shaped(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func keywords() []string {
	return []string{
		"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
		"else", "except", "finally", "for", "from", "global", "if",
		"import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
	}
}

// constants returns what Jinja takes for something else wherever a name may stand.
func constants() []string {
	return []string{"true", "false", "none", "True", "False", "None", "not"}
}

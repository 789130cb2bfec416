package runner

import "slices"

// badRegister is the fault of a register that is no name. It fails the task, and then the run.
func badRegister(name string) *fault {
	return &fault{text: "Invalid variable name in 'register' specified: '" + name + "'"}
}

// validName tells whether a variable may have the name: it is an identifier of Python and no keyword. A step that
// registers nothing is fine.
func validName(name string) bool {
	for i, c := range name {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return !slices.Contains(pythonKeywords, name)
}

var pythonKeywords = []string{
	"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
	"else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass",
	"raise", "return", "try", "while", "with", "yield",
}

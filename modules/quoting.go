package modules

import (
	"errors"
	"strings"

	"hark/modules/py/shlex"
)

// SplitCommand splits a command line that a module runs without a shell.
func SplitCommand(text string) ([]string, error) {
	words, err := shlex.Split(text)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("cannot run a process: no command was given")
	}
	return words, nil
}

// ExpandWords replaces $VAR, ${VAR} and a leading ~ in each word, with the task's environment.
func ExpandWords(words []string, env *Env) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = expandPath(w, env.Environ)
	}
	return out
}

// QuoteWords returns a command line for a shell.
func QuoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shlex.Quote(w)
	}
	return strings.Join(out, " ")
}

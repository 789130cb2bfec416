package modules

import (
	"errors"
	"strings"
)

// Shlex parts a command line into words as Python's shlex.split does.
func Shlex(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			// Within double quotes a backslash stands for itself before most characters.
			if quote == '"' && c != '"' && c != '\\' {
				word.WriteRune('\\')
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case strings.ContainsRune(" \t\r\n", c):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	switch {
	case escaped:
		return nil, message("No escaped character")
	case quote != 0:
		return nil, message("No closing quotation")
	case inWord:
		words = append(words, word.String())
	}
	return words, nil
}

// SplitCommand parts a command line that a module runs without a shell, and expands ~ and variables in its words.
func SplitCommand(text string, env *Env) ([]string, error) {
	words, err := Shlex(text)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("cannot run a process: no command was given")
	}
	return ExpandWords(words, env), nil
}

// ExpandWords replaces $VAR, ${VAR} and a leading ~ in each word, with the task's environment.
func ExpandWords(words []string, env *Env) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = expandPath(w, env.Environ)
	}
	return out
}

// ShellQuote quotes a word for a shell as Python's shlex.quote does.
func ShellQuote(word string) string {
	if word == "" {
		return "''"
	}
	plain := strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") == ""
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
}

// QuoteWords is a command line as a shell would read it.
func QuoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = ShellQuote(w)
	}
	return strings.Join(out, " ")
}

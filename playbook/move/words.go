package move

import (
	"strings"

	"hark/modules/py/value"
)

// longest is how many characters of a text a finding shows.
const longest = 60

// quoted is a text as findings show it: in one line, and shortened.
func quoted(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest-3]) + "..."
	}
	return "`" + text + "`"
}

// quotedValue is quoted for the value of a variable.
func quotedValue(v value.Value) string { return quoted(value.Printed(v)) }

// printed is a constant as it stands in an expression.
func printed(v value.Value) string {
	if text, ok := value.Text(v); ok {
		return value.ReprText(text)
	}
	return value.Printed(v)
}

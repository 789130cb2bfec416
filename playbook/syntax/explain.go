package syntax

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// lines returns the line that an error points at and the one before it. It skips blank lines, upwards.
func lines(text string, line int) (target, prev string, ok bool) {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return "", "", false
	}
	i := min(line-1, len(all)-1)
	for steps := 0; strings.TrimSpace(all[i]) == ""; steps++ {
		if steps > len(all) {
			return "", "", false
		}
		if i--; i < 0 { // Python's index -1 is the last line
			i = len(all) - 1
		}
	}
	if i > 0 {
		prev = all[i-1]
	}
	return all[i], prev, true
}

var shorthand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\w+(\s+)?=(\s+)?[\w/-]+`) })

const (
	hintShorthand = "There appears to be both 'k=v' shorthand syntax and YAML in this task. Only one syntax may be used.\n"

	hintTab = `There appears to be a tab character at the start of the line.

YAML does not use tabs for formatting. Tabs should be replaced with spaces.

For example:
    - name: update tooling
      vars:
        version: 1.2.3
#    ^--- there is a tab there.

Should be written as:
    - name: update tooling
      vars:
        version: 1.2.3
# ^--- all spaces here.
`
	hintUnquotedVariable = `We could be wrong, but this one looks like it might be an issue with
missing quotes. Always quote template expression brackets when they
start a value. For instance:

    with_items:
      - {{ foo }}

Should be written as:

    with_items:
      - "{{ foo }}"
`
	hintDict = `This one looks easy to fix. YAML thought it was looking for the start of a
hash/dictionary and was confused to see a second "{". Most likely this was
meant to be an ansible template evaluation instead, so we have to give the
parser a small hint that we wanted a string instead. The solution here is to
just quote the entire value.

For instance, if the original line was:

    app_path: {{ base_path }}/foo

It should be written as:

    app_path: "{{ base_path }}/foo"
`
	hintColon = `This one looks easy to fix. There seems to be an extra unquoted colon in the line
and this is confusing the parser. It was only expecting to find one free
colon. The solution is just add some quotes around the colon, or quote the
entire line after the first colon.

For instance, if the original line was:

    copy: src=file.txt dest=/path/filename:with_colon.txt

It can be written as:

    copy: src=file.txt dest='/path/filename:with_colon.txt'

Or:

    copy: 'src=file.txt dest=/path/filename:with_colon.txt'
`
	hintPartlyQuoted = `This one looks easy to fix. It seems that there is a value started
with a quote, and the YAML parser is expecting to see the line ended
with the same kind of quote. For instance:

    when: "ok" in result.stdout

Could be written as:

   when: '"ok" in result.stdout'

Or equivalently:

   when: "'ok' in result.stdout"
`
	hintUnbalanced = `We could be wrong, but this one looks like it might be an issue with
unbalanced quotes. If starting a value with a quote, make sure the
line ends with the same set of quotes. For instance this arbitrary
example:

    foo: "bad" "wolf"

Could be written as:

    foo: '"bad" "wolf"'
`
)

// Explain returns what Ansible says of a place in a file: where it is, the line with the one before it, and a guess at
// common mistakes. text is the file's content; nil leaves out the lines (vaulted files are not shown).
func Explain(p Place, text []byte) string {
	if p.Line == 0 {
		return ""
	}
	where := position(p.File, p.Line, p.Column)
	if text == nil {
		return where
	}
	target, prev, ok := lines(string(text), p.Line)
	if !ok {
		return where + "\n(specified line no longer in file, maybe it changed?)"
	}
	const intro = "\nThe offending line appears to be:\n\n"
	if shorthand().MatchString(prev) { // the line before is then the one to show
		at := runeIndex(trimRight(prev), "=")
		return position(p.File, p.Line-1, at+1) + intro + trimRight(prev) + "\n" + arrow(at) + "\n\n" +
			hintShorthand + hints(p, target)
	}
	return where + intro + trimRight(prev) + "\n" + trimRight(target) + "\n" + arrow(p.Column-1) + "\n" + hints(p, target)
}

func position(file string, line, column int) string {
	return fmt.Sprintf("The error appears to be in '%s': line %d, column %d, but may\nbe elsewhere in the file "+
		"depending on the exact syntax problem.\n", file, line, column)
}

// hints guesses at the mistake from the text of the line. The rules are Ansible's, including their errors
// (errors/__init__.py).
func hints(p Place, target string) string {
	out := ""
	if strings.Contains(target, "\t") {
		out = hintTab
	}
	has := func(s string) bool { return strings.Contains(target, s) }
	runes := []rune(target)
	switch {
	case has("{{") && has("}}") && (!has(`"{{`) || !has("'{{")):
		return out + hintUnquotedVariable
	case strings.Contains(strings.ReplaceAll(target, " ", ""), ":{{") && has("}}"):
		return out + hintDict
	case len(runes) > 1 && len(runes) > p.Column && runes[p.Column] == ':' && strings.Count(target, ":") > 1:
		return out + hintColon
	}
	return out + quoteHints(target)
}

func quoteHints(target string) string {
	parts := strings.Split(target, ":")
	if len(parts) < 2 {
		return ""
	}
	middle := strings.TrimSpace(parts[1])
	first, last := byte(0), byte(0)
	if middle != "" {
		first, last = middle[0], middle[len(middle)-1]
	}
	quote := func(b byte) bool { return b == '"' || b == '\'' }
	out := ""
	if quote(first) && last != first {
		out += hintPartlyQuoted
	}
	if quote(first) && quote(last) && strings.Count(target, "'") > 2 || strings.Count(target, `"`) > 2 {
		out += hintUnbalanced
	}
	return out
}

func arrow(at int) string { return strings.Repeat(" ", max(at, 0)) + "^ here" }

func trimRight(s string) string { return strings.TrimRight(s, " \t\r\n\v\f") }

func runeIndex(s, sub string) int {
	i := strings.Index(s, sub)
	if i < 0 {
		return -1
	}
	return len([]rune(s[:i]))
}

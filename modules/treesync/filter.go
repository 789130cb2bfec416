package treesync

import (
	"fmt"
	"regexp"
	"strings"
)

// filter decides which entries count.
type filter struct {
	rules  []rule
	merged map[string][]rule // of .rsync-filter files
	above  []rule            // of those above what is listed
}

// rule is one filter rule.
type rule struct {
	include bool
	dirOnly bool
	pattern *regexp.Regexp // for the path with a slash before it
}

// CheckRule refuses a rule that this package does not know.
func CheckRule(text string) error {
	_, err := parseRule(text, "")
	return err
}

// parseRule reads "- PATTERN" and its like; base is the directory of the file that it stands in.
func parseRule(text, base string) (rule, error) {
	for _, word := range []struct {
		start   string
		include bool
	}{{"- ", false}, {"exclude ", false}, {"+ ", true}, {"include ", true}} {
		if pattern, ok := strings.CutPrefix(text, word.start); ok && pattern != "" {
			return newRule(pattern, base, word.include)
		}
	}
	return rule{}, fmt.Errorf("cannot follow the filter rule %q: only include and exclude rules without modifiers are "+
		"known", text)
}

func newRule(pattern, base string, include bool) (rule, error) {
	r := rule{include: include}
	if strings.HasSuffix(pattern, "/") {
		r.dirOnly, pattern = true, strings.TrimRight(pattern, "/")
	}
	expr := "/" // anywhere
	if base != "" && base != "." {
		expr = "^/" + regexp.QuoteMeta(base) + "/(?:.*/)?"
	}
	if anchored, ok := strings.CutPrefix(pattern, "/"); ok {
		pattern, expr = anchored, "^/"
		if base != "" && base != "." {
			expr += regexp.QuoteMeta(base) + "/"
		}
	}
	compiled, err := regexp.Compile(expr + translate(pattern) + "$")
	if err != nil {
		return r, fmt.Errorf("cannot read the pattern %q", pattern)
	}
	r.pattern = compiled
	return r, nil
}

// translate makes a regular expression of a pattern: * stops at slashes, ** does not, and /*** at the end is the
// directory and all in it.
func translate(pattern string) string {
	tail := ""
	if dir, ok := strings.CutSuffix(pattern, "/***"); ok {
		pattern, tail = dir, "(?:/.*)?"
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' && strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(".*")
			for i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
			}
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[' && strings.IndexByte(pattern[i+1:], ']') > 0:
			end := i + 1 + strings.IndexByte(pattern[i+1:], ']')
			b.WriteString("[" + strings.Replace(pattern[i+1:end], "!", "^", 1) + "]")
			i = end
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	return b.String() + tail
}

func newFilter(rules []string, tree *Tree) (*filter, error) {
	f := &filter{merged: map[string][]rule{}}
	var err error
	if f.rules, err = parseRules(rules, ""); err != nil {
		return nil, err
	}
	for dir, lines := range tree.Merged {
		if err := f.merge(dir, lines); err != nil {
			return nil, err
		}
	}
	return f, f.aboveRules(tree.Above)
}

func parseRules(lines []string, base string) (out []rule, err error) {
	for _, line := range lines {
		r, err := parseRule(line, base)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (f *filter) aboveRules(lines []string) (err error) {
	f.above, err = parseRules(lines, "")
	return err
}

// merge takes in the rules of a directory's .rsync-filter.
func (f *filter) merge(dir string, lines []string) error {
	rules, err := parseRules(lines, dir)
	if err != nil {
		return fmt.Errorf("%s/%s: %w", dir, perDirName, err)
	}
	f.merged[dir] = rules
	return nil
}

// perDirName is the file with the rules of a directory.
const perDirName = ".rsync-filter"

// ruleLines returns the rules in the content of such a file.
func ruleLines(content string) []string {
	var out []string
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != '#' && line[0] != ';' {
			out = append(out, line)
		}
	}
	return out
}

// excludes reports whether an entry does not count. Rules of deeper directories come before those of higher ones, and
// those before the options' rules, since -F is the first of them.
func (f *filter) excludes(rel string, dir bool) bool {
	if rel == "." {
		return false
	}
	for at := rel; at != "." && len(f.merged) > 0; {
		at = parentOf(at)
		if excluded, decided := decide(f.merged[at], rel, dir); decided {
			return excluded
		}
	}
	if excluded, decided := decide(f.above, rel, dir); decided {
		return excluded
	}
	excluded, _ := decide(f.rules, rel, dir)
	return excluded
}

func decide(rules []rule, rel string, dir bool) (excluded, decided bool) {
	for _, r := range rules {
		if (dir || !r.dirOnly) && r.pattern.MatchString("/"+rel) {
			return !r.include, true
		}
	}
	return false, false
}

// parentOf returns the directory of a path, "." for those at the root.
func parentOf(rel string) string {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i]
	}
	return "."
}

package pyyaml

import (
	"bytes"
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The library reads YAML 1.2 where libyaml reads 1.1, and reads further ahead before it looks at what it has. What
// only libyaml refuses, and what it refuses earlier, is found here.

// refused is what libyaml does not take of documents that the library has read.
func refused(data []byte, docs []*yaml.Node) error {
	if m := badMarker(data); m != nil {
		return m
	}
	if bytes.IndexByte(data, '\t') >= 0 {
		if err := checkTabs(data, docs); err != nil {
			return err
		}
	}
	return checkKeys(data, docs)
}

func before(a, b Mark) bool { return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column }

// badMarker finds the end of a document before there is one, and text behind such an end that begins no document.
func badMarker(data []byte) *Error {
	if !bytes.Contains(data, []byte("...")) {
		return nil
	}
	started, ended := false, false
	for i, line := range strings.Split(string(data), "\n") {
		text := strings.TrimLeft(line, " ")
		switch {
		case strings.TrimSpace(text) == "" || text[0] == '#' || text[0] == '%' && (ended || !started):
			continue
		case marks(line, "..."):
			if !started {
				return &Error{Problem: "did not find expected node content", Mark: Mark{i + 1, 1}}
			}
			ended = true
			continue
		case ended && !marks(line, "---"):
			return &Error{Problem: "did not find expected <document start>", Mark: Mark{i + 1, 1 + len(line) - len(text)}}
		}
		started, ended = true, false
	}
	return nil
}

// marks tells whether a line begins with a marker of documents.
func marks(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || strings.IndexByte(" \t\r", rest[0]) >= 0)
}

// badAlias words an alias that stands for nothing, or that has no name that libyaml knows.
func badAlias(data []byte, at Mark) error {
	name, column := strings.TrimPrefix(string(from(data, at)), "*"), at.Column+1
	for name != "" && (name[0] == '-' || name[0] == '_' || isAlnum(name[0])) {
		name, column = name[1:], column+1
	}
	if column == at.Column+1 || name != "" && strings.IndexByte(" \t\r\n?:,]}%@`", name[0]) < 0 {
		return &Error{Problem: "did not find expected alphabetic or numeric character", Mark: Mark{at.Line, column}}
	}
	return &Error{Problem: "found undefined alias", Mark: at}
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// from is the text that begins at a place.
func from(data []byte, at Mark) []byte {
	for line := 1; line < at.Line; line++ {
		_, after, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return nil
		}
		data = after
	}
	column := 1
	for i := range string(data) {
		if column == at.Column {
			return data[i:]
		}
		column++
	}
	return nil
}

// earlier finds what is wrong with the text before an error already: libyaml stops at it, not having read on. What is wrong only because
// the text ends there does not count.
func earlier(data []byte, at Mark) *Error {
	rest := from(data, at)
	if rest == nil || len(rest) == len(data) {
		return nil
	}
	l, err := yaml.NewLoader(bytes.NewReader(data[:len(data)-len(rest)]))
	if err != nil {
		return nil
	}
	var n yaml.Node
	var le *yaml.LoadError
	if !errors.As(l.Load(&n), &le) {
		return nil
	}
	mark := Mark{le.Mark.Line, le.Mark.Column}
	missed := le.Message == "could not find expected ':'"
	if !missed && !before(mark, at) || strings.Contains(le.Message, "unexpected end of stream") {
		return nil
	}
	if strings.HasPrefix(le.Message, "unknown anchor ") {
		var e *Error
		errors.As(badAlias(data, mark), &e)
		return e
	}
	if missed {
		mark = at
	}
	return &Error{Problem: le.Message, Mark: mark}
}

// startsWithColon tells whether a colon stands at a place.
func startsWithColon(lines [][]byte, at Mark) bool {
	if at.Line < 1 || at.Line > len(lines) {
		return false
	}
	rest := from(lines[at.Line-1], Mark{1, at.Column})
	return len(rest) > 0 && rest[0] == ':'
}

// checkKeys finds entries without a key, and anchors that a document has twice.
func checkKeys(data []byte, docs []*yaml.Node) error {
	var bad *Error
	lines := bytes.Split(data, []byte("\n"))
	anchors := map[string]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if bad != nil {
			return
		}
		if n.Anchor != "" && anchors[n.Anchor] {
			bad = &Error{Problem: "second occurrence", Mark: markOf(n)}
			return
		}
		anchors[n.Anchor] = true
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind == yaml.ScalarNode && c.Value == "" && c.Style == 0 {
				if startsWithColon(lines, markOf(c)) {
					bad = &Error{Problem: "did not find expected key", Mark: markOf(c)}
					if n.Style&yaml.FlowStyle != 0 {
						bad.Problem = "did not find expected node content"
					}
					return
				}
			}
			walk(c)
		}
	}
	for _, d := range docs {
		clear(anchors)
		walk(d)
	}
	if bad != nil {
		return bad
	}
	return nil
}

// checkTabs finds nodes of block style with a tab in their indentation: YAML 1.2 lets some of them
// pass, libyaml none.
func checkTabs(data []byte, docs []*yaml.Node) error {
	lines := strings.Split(string(data), "\n")
	var first *Error
	var walk func(n *yaml.Node, flow bool)
	walk = func(n *yaml.Node, flow bool) {
		if n.Kind == yaml.AliasNode || first != nil {
			return
		}
		if !flow && n.Kind != yaml.DocumentNode {
			if col := tabBefore(lines, n.Line, n.Column); col > 0 {
				first = &Error{Problem: "found character that cannot start any token", Mark: Mark{n.Line, col}}
				return
			}
		}
		flow = flow || n.Style&yaml.FlowStyle != 0
		for _, c := range n.Content {
			walk(c, flow)
		}
	}
	for _, d := range docs {
		walk(d, false)
	}
	if first != nil {
		return first
	}
	return nil
}

// tabBefore is the column of the first tab in the blank space before a place, if only
// indentation or dashes stand before that space; else 0.
func tabBefore(lines []string, line, column int) int {
	if line < 1 || line > len(lines) {
		return 0
	}
	runes := []rune(lines[line-1])
	if column-1 > len(runes) {
		return 0
	}
	tab := 0
	for i := 0; i < column-1; i++ {
		switch runes[i] {
		case '\t':
			if tab == 0 {
				tab = i + 1
			}
		case ' ', '-', '?':
		default:
			return 0
		}
	}
	return tab
}

package pyyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"hark/playbook/jinja/value"
)

// Load reads a text of one document. The node of an empty text is None.
func Load(data []byte, o Options) (*Node, error) {
	docs, err := parse(data)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return &Node{Value: value.None{}, Mark: Mark{1, 1}}, nil
	}
	if len(docs) > 1 {
		return nil, &Error{Problem: "but found another document", Mark: markOf(docs[1])}
	}
	return construct(docs[0], o)
}

// LoadAll reads every document of a text.
func LoadAll(data []byte, o Options) ([]*Node, error) {
	docs, err := parse(data)
	if err != nil {
		return nil, err
	}
	nodes := make([]*Node, 0, len(docs))
	for _, d := range docs {
		n, err := construct(d, o)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

func parse(data []byte) (docs []*yaml.Node, err error) {
	if err := checkCharacters(data); err != nil {
		return nil, err
	}
	// The parser is a library fed with users' files: what it does not foresee must end as an error.
	defer func() {
		if p := recover(); p != nil {
			docs, err = nil, &Error{Problem: fmt.Sprintf("cannot parse: %v", p)}
		}
	}()
	l, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, &Error{Problem: err.Error()}
	}
	for {
		var n yaml.Node
		err := l.Load(&n)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, parseError(err, data)
		}
		docs = append(docs, &n)
	}
	if err := refused(data, docs); err != nil {
		return nil, err
	}
	return docs, nil
}

func markOf(n *yaml.Node) Mark { return Mark{n.Line, n.Column} }

func parseError(err error, data []byte) error {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &Error{Problem: err.Error()}
	}
	at := Mark{le.Mark.Line, le.Mark.Column}
	problem := le.Message
	switch {
	case strings.HasPrefix(problem, "unknown anchor "):
		return badAlias(data, at)
	case problem == "found a tab character where an indentation space is expected" && le.ContextMsg != "while scanning a block scalar":
		problem = "found character that cannot start any token"
	case problem == "did not find expected hexadecimal number":
		problem = "did not find expected hexdecimal number" // so spelled
	}
	if first := earlier(data, at); first != nil {
		return first
	}
	if m := badMarker(data); m != nil && before(m.Mark, at) {
		return m
	}
	return &Error{Problem: problem, Mark: at}
}

// checkCharacters refuses what PyYAML's reader refuses, with its words.
func checkCharacters(data []byte) error {
	if !utf8.Valid(data) {
		if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
			return nil // UTF-16 with a mark: the parser reads it
		}
		at := 0
		for at < len(data) {
			r, n := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return &Error{Problem: fmt.Sprintf("'utf8' codec can't decode byte #x%02x: invalid UTF-8", data[at]), Tail: fmt.Sprintf("\n  in \"<unicode string>\", position %d", at)}
	}
	for at, r := range string(data) {
		if !printable(r) && !(at == 0 && r == '\ufeff') {
			return &Error{Tail: fmt.Sprintf("unacceptable character #x%04x: control characters are not allowed\n  in \"<unicode string>\", position %d", r, at)}
		}
	}
	return nil
}

func printable(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85, r == 0xfeff:
		return true
	case r < 0x20, r == 0x7f, r > 0x7f && r < 0xa0, r >= 0xd800 && r < 0xe000, r == 0xfffe, r == 0xffff:
		return false
	}
	return true
}

package libyaml

import "slices"

// composer makes nodes of tokens. It asks for tokens in the order in which libyaml's parser does: errors depend on it.
type composer struct {
	s       *scanner
	tags    map[string]string // what handles stand for, in the current document
	anchors map[string]*Node  // of the current document
	// begun says that a document was read: the next needs a marker.
	begun bool
	// bare is a document without a marker before it: it cannot be empty.
	bare bool
	// at is where the current document begins.
	at    Mark
	depth int
}

func newComposer(text string) *composer { return &composer{s: newScanner(text)} }

func fault(context string, from Mark, problem string, at Mark) error {
	return &Error{Class: "ParserError", Context: context, ContextMark: from, Problem: problem, Mark: at}
}

// pass takes the current token and gives the one behind it.
func (c *composer) pass() (*token, error) {
	c.s.take()
	return c.s.next()
}

// document reads a document; nil at the end.
func (c *composer) document() (*Node, error) {
	more, err := c.start()
	if err != nil || !more {
		return nil, err
	}
	c.anchors = map[string]*Node{}
	t, err := c.s.next()
	if err != nil {
		return nil, err
	}
	n := empty(t.start)
	if c.bare || !slices.Contains([]tokenKind{versionDirective, tagDirective, documentStart, documentEnd, streamEnd},
		t.kind) {
		if n, err = c.node(true, false); err != nil {
			return nil, err
		}
	}
	if t, err = c.s.next(); err == nil && t.kind == documentEnd {
		c.s.take()
	}
	return n, err
}

// start reads the beginning of a document; false if there is none.
func (c *composer) start() (bool, error) {
	t, err := c.s.next()
	if err == nil && t.kind == streamStart {
		t, err = c.pass()
	}
	for err == nil && c.begun && t.kind == documentEnd {
		t, err = c.pass()
	}
	if err != nil || t.kind == streamEnd {
		return false, err
	}
	c.at = t.start
	c.bare = !c.begun && t.kind != versionDirective && t.kind != tagDirective && t.kind != documentStart
	c.begun = true
	if err := c.directives(); err != nil || c.bare {
		return true, err
	}
	if t, err = c.s.next(); err != nil {
		return false, err
	}
	if t.kind != documentStart {
		return false, fault("", Mark{}, "did not find expected <document start>", t.start)
	}
	c.s.take()
	return true, nil
}

// directives reads those of a document.
func (c *composer) directives() error {
	c.tags = map[string]string{}
	version := false
	t, err := c.s.next()
	for err == nil && (t.kind == versionDirective || t.kind == tagDirective) {
		_, again := c.tags[t.text]
		switch {
		case t.kind == tagDirective && again:
			return fault("", Mark{}, "found duplicate %TAG directive", t.start)
		case t.kind == tagDirective:
			c.tags[t.text] = t.suffix
		case version:
			return fault("", Mark{}, "found duplicate %YAML directive", t.start)
		case t.major != 1 || t.minor != 1 && t.minor != 2:
			return fault("", Mark{}, "found incompatible YAML document", t.start)
		default:
			version = true
		}
		t, err = c.pass()
	}
	for handle, prefix := range map[string]string{"!": "!", "!!": "tag:yaml.org,2002:"} {
		if _, known := c.tags[handle]; !known {
			c.tags[handle] = prefix
		}
	}
	return err
}

func empty(at Mark) *Node { return &Node{Plain: true, Mark: at} }

// node reads a node: in a block or within brackets, and perhaps a sequence that is not further in than its key.
func (c *composer) node(block, indentless bool) (*Node, error) {
	t, err := c.s.next()
	if err != nil {
		return nil, err
	}
	if t.kind == aliasToken {
		target, known := c.anchors[t.text]
		if !known {
			return nil, &Error{Class: "ComposerError", Problem: "found undefined alias", Mark: t.start}
		}
		n := &Node{Kind: Alias, Target: target, Mark: t.start}
		c.s.take()
		return n, nil
	}
	n := &Node{Mark: t.start}
	tagged, err := c.properties(n)
	if err != nil {
		return nil, err
	}
	if t, err = c.s.next(); err != nil {
		return nil, err
	}
	read, err := c.begin(n, t, block, indentless, tagged)
	if err != nil {
		return nil, err
	}
	if n.Anchor != "" {
		if first, twice := c.anchors[n.Anchor]; twice {
			return nil, &Error{Class: "ComposerError", Context: "found duplicate anchor; first occurrence",
				ContextMark: first.Mark,
				Problem:     "second occurrence", Mark: n.Mark}
		}
		c.anchors[n.Anchor] = n
	}
	if read == nil {
		return n, nil
	}
	if c.depth++; c.depth > deepest {
		return nil, fault("", Mark{}, "exceeded max depth", n.Mark)
	}
	err = read(n)
	c.depth--
	return n, err
}

// begin finds out what a node is by its first token. What it holds is read by the function, which is nil for a scalar.
func (c *composer) begin(n *Node, t *token, block, indentless, tagged bool) (func(*Node) error, error) {
	n.Kind = Sequence
	switch {
	case indentless && t.kind == blockEntry:
		return c.indentless, nil
	case t.kind == flowSequenceStart:
		return c.flowSequence, nil
	case block && t.kind == blockSequenceStart:
		return c.blockSequence, nil
	}
	n.Kind = Mapping
	switch {
	case t.kind == flowMappingStart:
		return c.flowMapping, nil
	case block && t.kind == blockMappingStart:
		return c.blockMapping, nil
	}
	n.Kind = Scalar
	switch {
	case t.kind == scalarToken:
		n.Text, n.Plain = t.text, t.plain || tagged && n.Tag == ""
		c.s.take()
	case tagged || n.Anchor != "":
		n.Plain = true
	case block:
		return nil, fault("while parsing a block node", n.Mark, "did not find expected node content", t.start)
	default:
		return nil, fault("while parsing a flow node", n.Mark, "did not find expected node content", t.start)
	}
	return nil, nil
}

// properties reads the anchor and the tag of a node, in any order. The tag "!" leaves the node's empty.
func (c *composer) properties(n *Node) (tagged bool, err error) {
	t, err := c.s.next()
	for err == nil {
		switch {
		case t.kind == anchorToken && n.Anchor == "":
			n.Anchor = t.text
		case t.kind == tagToken && !tagged:
			tagged = true
			if err := c.tag(n, t); err != nil {
				return false, err
			}
		default:
			return tagged, nil
		}
		t, err = c.pass()
	}
	return false, err
}

func (c *composer) tag(n *Node, t *token) error {
	if t.text == "" {
		if t.suffix != "!" {
			n.Tag = t.suffix
		}
		return nil
	}
	prefix, known := c.tags[t.text]
	if !known {
		return fault("while parsing a node", n.Mark, "found undefined tag handle", t.start)
	}
	n.Tag = prefix + t.suffix
	return nil
}

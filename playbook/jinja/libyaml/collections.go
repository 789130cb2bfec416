package libyaml

import "slices"

// item reads a node, or an empty one if the token says that there is none.
func (c *composer) item(n *Node, t *token, at Mark, block, indentless bool, none ...tokenKind) error {
	child := empty(at)
	if !slices.Contains(none, t.kind) {
		var err error
		if child, err = c.node(block, indentless); err != nil {
			return err
		}
	}
	n.Content = append(n.Content, child)
	return nil
}

func (c *composer) blockSequence(n *Node) error {
	t, err := c.s.next()
	if err != nil {
		return err
	}
	open := t.start
	if t, err = c.pass(); err != nil {
		return err
	}
	for t.kind == blockEntry {
		at := t.end
		if t, err = c.pass(); err != nil {
			return err
		}
		if err = c.item(n, t, at, true, false, blockEntry, blockEnd); err != nil {
			return err
		}
		if t, err = c.s.next(); err != nil {
			return err
		}
	}
	if t.kind != blockEnd {
		return fault("while parsing a block collection", open, "did not find expected '-' indicator", t.start)
	}
	c.s.take()
	return nil
}

func (c *composer) indentless(n *Node) error {
	for {
		t, err := c.s.next()
		if err != nil || t.kind != blockEntry {
			return err
		}
		at := t.end
		if t, err = c.pass(); err != nil {
			return err
		}
		if err = c.item(n, t, at, true, false, blockEntry, keyToken, valueToken, blockEnd); err != nil {
			return err
		}
	}
}

func (c *composer) blockMapping(n *Node) error {
	t, err := c.s.next()
	if err != nil {
		return err
	}
	open := t.start
	if t, err = c.pass(); err != nil {
		return err
	}
	for t.kind == keyToken {
		at := t.end
		if t, err = c.pass(); err != nil {
			return err
		}
		if err = c.item(n, t, at, true, true, keyToken, valueToken, blockEnd); err != nil {
			return err
		}
		if err = c.blockValue(n); err != nil {
			return err
		}
		if t, err = c.s.next(); err != nil {
			return err
		}
	}
	if t.kind != blockEnd {
		return fault("while parsing a block mapping", open, "did not find expected key", t.start)
	}
	c.s.take()
	return nil
}

func (c *composer) blockValue(n *Node) error {
	t, err := c.s.next()
	if err != nil {
		return err
	}
	if t.kind != valueToken {
		n.Content = append(n.Content, empty(t.start))
		return nil
	}
	at := t.end
	if t, err = c.pass(); err != nil {
		return err
	}
	return c.item(n, t, at, true, true, keyToken, valueToken, blockEnd)
}

// flow reads the entries of a collection in brackets, which the function reads one by one.
func (c *composer) flow(end tokenKind, context, missing string, entry func(t *token) error) error {
	t, err := c.s.next()
	if err != nil {
		return err
	}
	open := t.start
	if t, err = c.pass(); err != nil {
		return err
	}
	for first := true; t.kind != end; first = false {
		if !first {
			if t.kind != flowEntry {
				return fault(context, open, missing, t.start)
			}
			if t, err = c.pass(); err != nil {
				return err
			}
			if t.kind == end {
				break
			}
		}
		if err = entry(t); err != nil {
			return err
		}
		if t, err = c.s.next(); err != nil {
			return err
		}
	}
	c.s.take()
	return nil
}

func (c *composer) flowSequence(n *Node) error {
	return c.flow(flowSequenceEnd, "while parsing a flow sequence", "did not find expected ',' or ']'",
		func(t *token) error {
			if t.kind == keyToken {
				pair := &Node{Kind: Mapping, Mark: t.start}
				n.Content = append(n.Content, pair)
				return c.flowPair(pair)
			}
			return c.item(n, t, t.start, false, false)
		})
}

// flowPair reads a key and its value in a sequence, which are a mapping.
func (c *composer) flowPair(n *Node) error {
	t, err := c.pass()
	if err != nil {
		return err
	}
	at := t.end
	if t.kind == valueToken || t.kind == flowEntry || t.kind == flowSequenceEnd {
		n.Content = append(n.Content, empty(at))
		c.s.take() // as libyaml does
	} else if err = c.item(n, t, at, false, false); err != nil {
		return err
	}
	if t, err = c.s.next(); err != nil {
		return err
	}
	if t.kind != valueToken {
		n.Content = append(n.Content, empty(t.start))
		return nil
	}
	if t, err = c.pass(); err != nil {
		return err
	}
	return c.item(n, t, t.start, false, false, flowEntry, flowSequenceEnd)
}

func (c *composer) flowMapping(n *Node) error {
	return c.flow(flowMappingEnd, "while parsing a flow mapping", "did not find expected ',' or '}'",
		func(t *token) error {
			if t.kind != keyToken {
				if err := c.item(n, t, t.start, false, false); err != nil {
					return err
				}
				t, err := c.s.next()
				if err == nil {
					n.Content = append(n.Content, empty(t.start))
				}
				return err
			}
			t, err := c.pass()
			if err != nil {
				return err
			}
			if err = c.item(n, t, t.start, false, false, valueToken, flowEntry, flowMappingEnd); err != nil {
				return err
			}
			if t, err = c.s.next(); err != nil {
				return err
			}
			if t.kind != valueToken {
				n.Content = append(n.Content, empty(t.start))
				return nil
			}
			if t, err = c.pass(); err != nil {
				return err
			}
			return c.item(n, t, t.start, false, false, flowEntry, flowMappingEnd)
		})
}

package syntax

import (
	"hark/modules/py/value"
)

// entries reads a list of blocks and tasks at the top of a play or file, where an empty entry is nothing. malformed is
// Ansible's message for a value that is no list, shown at a place.
func (r *reader) entries(n *Node, malformed string, at Place) []Entry {
	if _, ok := n.Value.(*value.List); !ok {
		r.failAt(at, "%s", malformed)
		return nil
	}
	out := make([]Entry, 0, len(n.Items))
	for _, item := range n.Items {
		switch item.Value.(type) {
		case *value.Dict:
			if e, ok := r.entry(item, isBlock(item)); ok {
				out = append(out, e)
			}
		case value.None:
		default:
			// Ansible wraps such an entry in a block of its own, which then has no place to show.
			r.say("A malformed block was encountered while loading a block. The ds (%s) should be a dict but was a <class "+
				"'list'>", value.PrintedRepr(n.Value))
		}
	}
	return out
}

// inner reads the list of a block's part. It rejects blocks within the blocks of handlers.
func (r *reader) inner(n *Node, malformed string, at Place) []Entry {
	if _, ok := n.Value.(*value.List); !ok {
		r.failAt(at, "%s", malformed)
		return nil
	}
	out := make([]Entry, 0, len(n.Items))
	for _, item := range n.Items {
		if _, ok := item.Value.(*value.Dict); !ok {
			r.failAt(at, "%s", malformed)
			continue
		}
		nested := item.Get("block") != nil
		if r.handlers && nested {
			r.fail(item, "Using a block as a handler is not supported.")
			continue
		}
		if e, ok := r.entry(item, nested); ok {
			out = append(out, e)
		}
	}
	return out
}

// isBlock reports whether an entry outside blocks is one. Within blocks only the word block makes a block: Ansible
// takes rescue and always there for the names of actions.
func isBlock(n *Node) bool {
	return n.Get("block") != nil || n.Get("rescue") != nil || n.Get("always") != nil
}

func (r *reader) entry(n *Node, isBlock bool) (Entry, bool) {
	if isBlock {
		b := &Block{Place: r.place(n)}
		r.block(n, b, b.Place)
		return Entry{Block: b}, true
	}
	t := r.task(n)
	return Entry{Task: t}, t != nil
}

func (r *reader) block(n *Node, b *Block, at Place) {
	o := object{n, at, "Block"}
	b.Collections = r.ownCollections(o)
	defer r.inherit(b.Collections)()
	b.Attrs = r.attrs(o, blockKeywords, words("block rescue always vars tags collections"))
	b.Vars, b.Tags = r.vars(o), r.tags(o)
	for _, part := range []struct {
		key, malformed string
		to             *[]Entry
	}{
		{"block", "A malformed block was encountered while loading a block", &b.Body},
		{"rescue", "A malformed block was encountered while loading rescue.", &b.Rescue},
		{"always", "A malformed block was encountered while loading always", &b.Always},
	} {
		list := n.Get(part.key)
		if list == nil {
			continue
		}
		*part.to = r.inner(list, part.malformed, at)
	}
	for _, part := range []struct {
		key     string
		entries []Entry
	}{{"always", b.Always}, {"rescue", b.Rescue}} {
		if len(part.entries) > 0 && len(b.Body) == 0 && n.Get("block") == nil {
			r.failAt(at, "'%s' keyword cannot be used without 'block'", part.key)
		}
	}
}

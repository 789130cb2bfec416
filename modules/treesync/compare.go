package treesync

import (
	"slices"
	"strings"
)

// Change is what has to be done to one entry of the side that is written.
type Change struct {
	Entry Entry `json:"entry"` // its wanted state, or the entry to delete
	// Item are rsync's letters for what differs.
	Item string `json:"-"`
	// Delete takes the entry away; New is made, in place of an entry of another kind too; Content is written, or a
	// link's target.
	Delete  bool `json:"delete,omitempty"`
	New     bool `json:"new,omitempty"`
	Content bool `json:"content,omitempty"`
	// Perms, Times, Owner and Group are what is set.
	Perms bool `json:"perms,omitempty"`
	Times bool `json:"times,omitempty"`
	Owner bool `json:"owner,omitempty"`
	Group bool `json:"group,omitempty"`
}

// line returns the change as rsync prints it with --out-format=%i %n%L.
func (c *Change) line() string {
	name := c.Entry.Rel
	if c.Entry.Shown != "" {
		name = c.Entry.Shown
	}
	if c.Entry.Kind == Dir {
		name += "/"
	}
	if c.Entry.Kind == Link && !c.Delete {
		name += " -> " + c.Entry.Link
	}
	return c.Item + " " + name
}

// Compare finds what makes of have what the tree shows, and what rsync prints about it: a line for each change and for
// what cannot be had. rights are those of the side that is written.
func Compare(tree *Tree, have Lookup, rights Rights, o Options) (changes []Change, lines []string, err error) {
	c := &comparison{o: o, have: have, rights: rights, wanted: LookupOf(tree.Entries)}
	if c.filter, err = newFilter(o.Rules, tree); err != nil {
		return nil, nil, err
	}
	for i := range tree.Entries {
		c.entry(&tree.Entries[i])
	}
	if o.Delete {
		c.extraneous(tree)
	}
	return c.changes, c.lines, nil
}

type comparison struct {
	o       Options
	filter  *filter
	wanted  Lookup
	have    Lookup
	rights  Rights
	changes []Change
	lines   []string
	skipped []string // directories that are not to be made, with what is in them
}

// passes reports whether an entry takes part, and why not.
func (c *comparison) passes(e *Entry) bool {
	switch {
	case e.Kind == Special, e.Kind == Link && !c.o.Links:
		c.lines = append(c.lines, `skipping non-regular file "`+e.Rel+`"`)
		return false
	case e.Kind == Dir && !c.o.Recursive && !c.o.Dirs:
		c.lines = append(c.lines, "skipping directory "+e.Rel)
		return false
	}
	return !slices.ContainsFunc(c.skipped, func(dir string) bool { return strings.HasPrefix(e.Rel, dir+"/") })
}

func (c *comparison) entry(e *Entry) {
	if !c.passes(e) {
		return
	}
	had := c.have[e.Rel]
	switch {
	case had == nil && c.o.Existing:
		if e.Kind == Dir {
			c.skipped = append(c.skipped, e.Rel)
		}
		return
	case had != nil && had.Kind != Dir && c.o.IgnoreExisting,
		had != nil && had.Kind == File && c.o.Update && seconds(had) > seconds(e):
		return
	case had == nil || had.Kind != e.Kind:
		c.fresh(e, had)
		return
	}
	c.differing(e, had)
}

// fresh makes an entry, after what is in its way is gone.
func (c *comparison) fresh(e, had *Entry) {
	if had != nil && had.Kind == Dir {
		if !c.o.Delete && len(c.children(had.Rel)) > 0 {
			c.lines = append(c.lines, "cannot delete non-empty directory: "+had.Rel)
			return
		}
		c.deleteBelow(had.Rel)
	}
	start := "c"
	if e.Kind == File {
		start = c.o.Sign
	}
	c.change(Change{
		Entry: *e, Item: start + string(e.Kind) + "+++++++++", New: true, Content: true,
		Perms: c.o.Perms, Times: c.keepsTimes(e), Owner: c.o.Owner && c.rights.Super,
		Group: c.o.Group && c.rights.mayGive(e, c.have),
	})
}

func (c *comparison) change(ch Change) {
	c.changes = append(c.changes, ch)
	c.lines = append(c.lines, ch.line())
}

func (c *comparison) keepsTimes(e *Entry) bool {
	return c.o.Times && (e.Kind != Dir || !c.o.OmitDirTimes)
}

// seconds returns what rsync compares of times.
func seconds(e *Entry) int64 { return e.Modified / 1e9 }

// differing changes what differs of an entry that is there.
func (c *comparison) differing(e, had *Entry) {
	ch := Change{Entry: *e}
	size := e.Kind == File && e.Size != had.Size
	sum := e.Kind == File && c.o.Checksum && !size && e.Digest != had.Digest || e.Kind == Link && e.Link != had.Link
	time := seconds(e) != seconds(had)
	switch {
	case e.Kind == Link:
		ch.Content = sum
	case e.Kind == File:
		ch.Content = size || sum || !c.o.Checksum && (c.o.IgnoreTimes || time && !c.o.SizeOnly)
	}
	ch.Perms = c.o.Perms && e.Kind != Link && e.Mode != had.Mode
	ch.Times = c.keepsTimes(e) && (time || ch.Content)
	ch.Owner = c.o.Owner && c.rights.Super && !sameOwner(e, had)
	ch.Group = c.o.Group && !sameGroup(e, had) && c.rights.mayGive(e, c.have)
	start := "."
	if ch.Content {
		if start = c.o.Sign; e.Kind == Link {
			start = "c"
		}
	}
	letter := func(is bool, l string) string {
		if is {
			return l
		}
		return "."
	}
	t := letter(time && c.keepsTimes(e), "t")
	if ch.Content && !c.o.Times {
		t = "T"
	}
	ch.Item = start + string(e.Kind) + letter(sum || size && c.o.Checksum, "c") + letter(size, "s") + t + letter(ch.Perms,
		"p") +
		letter(ch.Owner, "o") + letter(ch.Group, "g") + "..."
	if ch.Content || ch.Perms || ch.Times || ch.Owner || ch.Group {
		if ch.Content {
			c.renew(&ch, had)
		}
		c.change(ch)
	}
}

// renew gives what is made again the attributes that have to be set again, and the mode of what it replaces if modes
// are not kept.
func (c *comparison) renew(ch *Change, had *Entry) {
	ch.Owner = c.o.Owner && c.rights.Super
	ch.Group = c.o.Group && c.rights.mayGive(&ch.Entry, c.have)
	ch.Perms = ch.Entry.Kind == File
	if !c.o.Perms {
		ch.Entry.Mode = had.Mode
	}
}

// children returns the names in a directory of the side that is written, sorted.
func (c *comparison) children(dir string) []*Entry {
	var out []*Entry
	for rel, e := range c.have {
		if rel != "." && parentOf(rel) == dir {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *Entry) int { return strings.Compare(a.Rel, b.Rel) })
	return out
}

// extraneous deletes what is in the tree's directories and not in the tree.
func (c *comparison) extraneous(tree *Tree) {
	for i := range tree.Entries {
		e := &tree.Entries[i]
		if had := c.have[e.Rel]; e.Kind != Dir || had == nil || had.Kind != Dir {
			continue
		}
		c.deleteIn(e.Rel)
	}
}

// deleteIn deletes what a directory holds and should not, the last first and directories before the rest; left
// reports whether anything stays.
func (c *comparison) deleteIn(dir string) (left bool) {
	list := c.children(dir)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b *Entry) int { return boolOrder(a.Kind != Dir) - boolOrder(b.Kind != Dir) })
	for _, e := range list {
		if c.wanted[e.Rel] != nil || !c.o.DeleteExcluded && c.filter.excludes(e.Rel, e.Kind == Dir) {
			left = true
			continue
		}
		if e.Kind == Dir && c.deleteIn(e.Rel) {
			c.lines = append(c.lines, "cannot delete non-empty directory: "+e.Rel)
			left = true
			continue
		}
		c.change(Change{Entry: *e, Item: "*deleting  ", Delete: true})
	}
	return left
}

// deleteBelow empties a directory for what takes its place.
func (c *comparison) deleteBelow(dir string) {
	list := c.children(dir)
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b *Entry) int { return boolOrder(a.Kind != Dir) - boolOrder(b.Kind != Dir) })
	for _, e := range list {
		if e.Kind == Dir {
			c.deleteBelow(e.Rel)
		}
		c.change(Change{Entry: *e, Item: "*deleting  ", Delete: true})
	}
}

func boolOrder(is bool) int {
	if is {
		return 1
	}
	return 0
}

package compile

import (
	"slices"
	"sync"

	"hark/playbook/foreign"
	"hark/playbook/roles"
	"hark/playbook/search"
)

// collections finds the collections that plays may use, beside the playbooks that were read and in the configured
// paths, and remembers which were used.
type collections struct {
	finder *roles.Finder
	// version is that of the language, and warn hears of collections that do not support it; with anyVersion all do.
	version    string
	anyVersion bool
	warn       func(format string, a ...any)

	mu     sync.Mutex
	books  []search.Dir    // of the playbooks that were read, which may hold collections; guarded by mu
	judged map[string]bool // collections whose version was checked; guarded by mu
	used   []string        // their directories; guarded by mu
}

// newCollections also makes the finder of roles, which asks it for the playbooks' directories.
func newCollections(cfg *Config, warn func(format string, a ...any)) *collections {
	c := &collections{version: cfg.Version, anyVersion: cfg.AnyCollection, warn: warn, judged: map[string]bool{}}
	c.finder = &roles.Finder{
		Paths: cfg.RolePaths, CollectionPaths: cfg.CollectionPaths, Books: c.playbooks, Met: c.judge,
	}
	return c
}

// playbooks returns the directories of the playbooks that were read.
func (c *collections) playbooks() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	dirs := make([]string, len(c.books))
	for i, dir := range c.books {
		dirs[i] = string(dir)
	}
	return dirs
}

// read adds a directory of playbooks, which may hold collections.
func (c *collections) read(dir search.Dir) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.books, dir) {
		c.books = append(c.books, dir)
	}
}

// find returns the directory of a collection, beside one of the playbooks that were read or in the configured
// paths.
func (c *collections) find(name string) (string, bool) {
	c.mu.Lock()
	books := slices.Clone(c.books)
	c.mu.Unlock()
	for _, dir := range append(books, "") {
		if path, ok := c.finder.Collection(name, dir); ok {
			return path, true
		}
	}
	return "", false
}

// judge warns of a collection that does not support this version of the language.
func (c *collections) judge(name, dir string) {
	c.mu.Lock()
	known := c.judged[name]
	if c.judged[name] = true; !known {
		c.used = append(c.used, dir)
	}
	c.mu.Unlock()
	if known || c.anyVersion {
		return
	}
	ok, err := foreign.Supports(dir, c.version)
	switch {
	case err != nil:
		c.warn("Error parsing collection metadata requires_ansible value from collection %s: %v", name, err)
	case !ok:
		c.warn("Collection %s does not support Ansible version %s", name, c.version)
	}
}

// inUse returns the directories of the collections that were used.
func (c *collections) inUse() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.used)
}

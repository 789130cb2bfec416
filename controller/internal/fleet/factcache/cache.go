// Package factcache keeps what was last gathered of hosts, with its age: in files of this operator, and of hosts with
// agents at the broker, where what an operator has gathered is sealed for the readers that he has named, so that each
// of them has the facts of all. Plays do not read them: for that there is the fact cache of the settings, of which
// the files of Ansible's own kind are here too.
package factcache

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/modules/py/value"
	"hark/playbook/inventory"
)

// Cache is what this operator has of hosts, by the names of their agents. It may be used by several processes at a
// time.
type Cache struct{ files JSONFiles }

// In returns the book in the directory of an operator's files.
func In(home string) *Cache {
	return &Cache{JSONFiles{Dir: filepath.Join(home, "facts"), Loose: true, Now: time.Now}}
}

// Load returns the facts of a host and when all of them were gathered, which is the time of their file: what is merged
// into them later makes them no younger. Of facts that never were all, it is when the first came.
func (b *Cache) Load(host string) (facts *value.Dict, at time.Time, ok bool) {
	facts, ok = b.files.Load(host)
	if !ok {
		return nil, time.Time{}, false
	}
	return facts, b.at(host), true
}

// at returns when facts were gathered, the zero time for none.
func (b *Cache) at(host string) time.Time {
	path, err := b.files.path(host)
	if err != nil {
		return time.Time{}
	}
	st, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// raw returns the JSON of the facts of a host.
func (b *Cache) raw(host string) ([]byte, error) {
	path, err := b.files.path(host)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// Merge puts facts that were gathered at a time over those on record, which may be more: a run may have gathered some
// of them only, or none. News reports whether the record did not have them so. Facts that are older than those on
// record are none.
func (b *Cache) Merge(host string, facts *value.Dict, at time.Time) (news bool, err error) {
	if slight(facts) {
		return false, nil
	}
	had, since, ok := b.Load(host)
	switch {
	case ok && !at.After(since), facts == nil && ok:
		return false, nil
	case !ok || inventory.WholeFacts(facts):
		return true, b.store(host, facts, at)
	}
	facts.Each(func(k, v value.Value) bool {
		if old, ok := had.GetKey(k); !ok || !value.Same(old, v) {
			had.SetKey(k, v)
			news = true
		}
		return true
	})
	if !news {
		return false, nil
	}
	return true, b.store(host, had, since)
}

// slight tells of facts that nobody has gathered: the Python that a module found, which each finds anew.
func slight(facts *value.Dict) bool {
	found := facts.Len() > 0
	facts.Each(func(k, _ value.Value) bool {
		name, _ := value.Text(k)
		found = found && strings.HasPrefix(name, "discovered_")
		return found
	})
	return found
}

func (b *Cache) store(host string, facts *value.Dict, at time.Time) error {
	if err := b.files.Store(host, facts); err != nil {
		return err
	}
	path, _ := b.files.path(host) // it was stored there
	return os.Chtimes(path, at, at)
}

package galaxy

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"hark/agent/atomicfile"
	"hark/modules/py/value"
)

// cache keeps answers of servers for a day, in the file and the form that ansible-galaxy has. A nil cache keeps
// nothing.
type cache struct {
	path string
	all  *value.Dict // server to answers
	now  func() time.Time
}

const cacheTime = "2006-01-02T15:04:05Z"

// openCache reads the answers kept in a directory. What others may write to is not trusted.
func openCache(dir string, s Screen) (*cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &cache{path: filepath.Join(dir, "api.json"), now: time.Now}
	if st, err := os.Stat(c.path); err == nil && st.Mode().Perm()&0o002 != 0 {
		s.Warn(fmt.Sprintf("Galaxy cache has world writable access (%s), ignoring it as a cache source.", c.path))
		return nil, nil
	}
	data, err := os.ReadFile(c.path)
	if err == nil {
		if v, err := parseJSON(data); err == nil {
			c.all, _ = v.(*value.Dict)
		}
	}
	if version, ok := value.Under(c.all, "version").(value.Int); c.all == nil || !ok || version != 1 {
		c.all = value.NewDict()
		c.all.Set("version", value.Int(1))
	}
	return c, nil
}

// clearCache forgets all answers.
func clearCache(dir string) error {
	if err := os.Remove(filepath.Join(dir, "api.json")); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// server returns the answers of the host in a URL.
func (c *cache) server(at string) *value.Dict {
	u, err := url.Parse(at)
	if err != nil {
		return value.NewDict()
	}
	return childOf(c.all, u.Hostname()+":"+u.Port())
}

func childOf(d *value.Dict, key string) *value.Dict {
	v, _ := d.Get(key)
	sub, ok := v.(*value.Dict)
	if !ok {
		sub = value.NewDict()
		d.Set(key, sub)
	}
	return sub
}

// get returns what is kept under a key and not yet too old.
func (c *cache) get(at, key string) (value.Value, bool) {
	if c == nil {
		return nil, false
	}
	kept, _ := value.Under(c.server(at), key).(*value.Dict)
	expires, err := time.Parse(cacheTime, text(value.Under(kept, "expires")))
	results, ok := value.Value(nil), false
	if kept != nil {
		results, ok = kept.Get("results")
	}
	return results, ok && err == nil && c.now().UTC().Before(expires)
}

// put keeps an answer.
func (c *cache) put(at, key string, answer value.Value, paginated bool) {
	if c == nil {
		return
	}
	kept := value.NewDict()
	kept.Set("expires", value.Str(c.now().UTC().Add(24*time.Hour).Format(cacheTime)))
	kept.Set("paginated", value.Bool(paginated))
	kept.Set("results", answer)
	c.server(at).Set(key, kept)
}

// changed says when a collection was changed last on its server. What is kept of its versions from before goes.
func (c *cache) changed(at, key, collection, when string) {
	modified := childOf(c.server(at), "modified")
	if old, ok := modified.Get(collection); !ok || text(old) != when {
		modified.Set(collection, value.Str(when))
		c.server(at).Delete(value.Str(key))
	}
}

// save writes the file.
func (c *cache) save() error {
	if c == nil {
		return nil
	}
	return atomicfile.Write(c.path, []byte(value.JSONText(c.all, value.JSONOptions{ASCII: true})))
}

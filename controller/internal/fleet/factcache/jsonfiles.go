package factcache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/agent/atomicfile"
	"hark/modules/py/value"
)

// JSONFiles is the fact cache jsonfile: a file for each host in a directory, as Ansible writes them.
type JSONFiles struct {
	Dir    string
	Prefix string
	// Timeout is how long facts are good for; 0 is for ever.
	Timeout time.Duration
	// Loose files need not outlive a power cut: they are gathered again.
	Loose bool
	Now   func() time.Time
}

// path returns the file of a host. Names may come from add_host, and so from other hosts: none leads out of the
// directory.
func (c *JSONFiles) path(host string) (string, error) {
	name := c.Prefix + host
	if strings.ContainsAny(name, "/\x00") || !filepath.IsLocal(name) {
		return "", fmt.Errorf("no file can have the name %q", name)
	}
	return filepath.Join(c.Dir, name), nil
}

// Load implements play.FactCache. A file that cannot be read as JSON counts as none.
func (c *JSONFiles) Load(host string) (*value.Dict, bool) {
	path, err := c.path(host)
	if err != nil {
		return nil, false
	}
	st, err := os.Stat(path)
	if err != nil || c.Timeout > 0 && c.Now().Sub(st.ModTime()) > c.Timeout {
		return nil, false
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	v, err := value.Decode(raw, value.KindUnsafe)
	d, ok := v.(*value.Dict)
	return d, err == nil && ok
}

// Store implements play.FactCache. The files are for their owner only, as Ansible makes them: facts may hold secrets.
func (c *JSONFiles) Store(host string, facts *value.Dict) error {
	path, err := c.path(host)
	if err != nil {
		return err
	}
	if facts == nil {
		facts = value.NewDict()
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	raw := value.JSONText(facts, value.JSONOptions{Lines: true, Indent: "    ", Sorted: true, ASCII: true})
	if c.Loose {
		return atomicfile.WriteLoose(path, []byte(raw))
	}
	return atomicfile.Write(path, []byte(raw))
}

// Forget implements play.FactCache.
func (c *JSONFiles) Forget(host string) error {
	path, err := c.path(host)
	if err != nil {
		return nil // there are none
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

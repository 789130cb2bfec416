package play

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hark/agent/atomicfile"
	"hark/controller/internal/pyjson"
	"hark/playbook/jinja/value"
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

func (c *JSONFiles) path(host string) string { return filepath.Join(c.Dir, c.Prefix+host) }

// Load implements FactCache. A file that cannot be read as JSON counts as none.
func (c *JSONFiles) Load(host string) (*value.Dict, bool) {
	st, err := os.Stat(c.path(host))
	if err != nil || c.Timeout > 0 && c.Now().Sub(st.ModTime()) > c.Timeout {
		return nil, false
	}
	raw, err := os.ReadFile(c.path(host))
	if err != nil {
		return nil, false
	}
	v, err := value.Decode(raw, value.KindUnsafe)
	d, ok := v.(*value.Dict)
	return d, err == nil && ok
}

// Store implements FactCache. The files are for their owner alone, as Ansible makes them: facts may hold secrets.
func (c *JSONFiles) Store(host string, facts *value.Dict) error {
	if facts == nil {
		facts = value.NewDict()
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	raw := pyjson.Dumps(facts, pyjson.Options{Indent: 4, SortKeys: true, ASCII: true})
	if c.Loose {
		return atomicfile.WriteLoose(c.path(host), []byte(raw))
	}
	return atomicfile.Write(c.path(host), []byte(raw))
}

// Forget implements FactCache.
func (c *JSONFiles) Forget(host string) error {
	if err := os.Remove(c.path(host)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

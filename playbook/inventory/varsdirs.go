package inventory

import (
	"os"
	"path/filepath"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/search"
)

// varsDirs finds the directories group_vars and host_vars (the kinds) beside sources and the playbook. It lists each
// once.
type varsDirs struct {
	notices  *notices
	sources  []string
	playbook string // "" for none
	assumed  bool   // nobody named the playbook's directory
	listed   map[string]*varsDir
	ordered  map[string][]*varsDir // all of a kind, so that they are looked for once and not for each host
}

func newVarsDirs(o *Options, n *notices) *varsDirs {
	v := &varsDirs{notices: n, playbook: o.PlaybookDir, assumed: o.AssumedDir, listed: map[string]*varsDir{},
		ordered: map[string][]*varsDir{}}
	for _, s := range o.Sources {
		v.sources = append(v.sources, cleanSource(s))
	}
	return v
}

// all returns the directories of a kind in the order of precedence: beside each source, then beside the playbook.
func (v *varsDirs) all(kind string) []*varsDir {
	if had, ok := v.ordered[kind]; ok {
		return had
	}
	out := v.beside(v.sources, kind)
	if v.playbook != "" {
		out = append(out, v.dir(v.playbook, kind))
	}
	v.ordered[kind] = out
	return out
}

// given returns all without those of a playbook's directory that was not given.
func (v *varsDirs) given(kind string) []*varsDir {
	if v.assumed {
		return v.beside(v.sources, kind)
	}
	return v.all(kind)
}

// beside returns the directories of a kind beside sources.
func (v *varsDirs) beside(sources []string, kind string) []*varsDir {
	var out []*varsDir
	for _, s := range sources {
		if root, ok := varsRoot(s); ok {
			out = append(out, v.dir(root, kind))
		}
	}
	return out
}

// varsRoot returns the directory that may hold group_vars of a source; a list of hosts has none.
func varsRoot(source string) (string, bool) {
	if source == "" {
		return "", false
	}
	info, err := os.Stat(source)
	switch {
	case err != nil && strings.Contains(source, ","):
		return "", false
	case err == nil && info.IsDir():
		return source, true
	}
	return filepath.Dir(source), true
}

// appeared reports whether directories were created since the last look. They are read from then on.
func (v *varsDirs) appeared() bool {
	found := false
	for path, d := range v.listed {
		if d.missing && isDir(path) {
			delete(v.listed, path)
			found = true
		}
	}
	if found {
		v.ordered = map[string][]*varsDir{}
	}
	return found
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// varsDir is one directory of a kind. Its entries are listed once, files are read on first use.
type varsDir struct {
	root, kind string
	path       string // of the two together
	missing    bool
	entries    map[string]bool        // is it a directory?
	vars       map[string]*value.Dict // of files that were read, by the name of host or group
}

func (v *varsDirs) dir(root, kind string) *varsDir {
	path := filepath.Join(root, kind)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	d := v.listed[path]
	if d == nil {
		d = &varsDir{root: root, kind: kind, path: path, entries: map[string]bool{}, vars: map[string]*value.Dict{}}
		v.listed[path] = d
		d.list(v.notices)
	}
	return d
}

func (d *varsDir) list(n *notices) {
	info, err := os.Stat(d.path)
	if err != nil {
		d.missing = true
		return
	}
	if !info.IsDir() {
		n.warn("Found %s that is not a directory, skipping: %s", d.kind, d.path)
		return
	}
	entries, err := os.ReadDir(d.path)
	if err != nil {
		n.warn("cannot read the directory %s: %s", d.path, err)
	}
	for _, e := range entries {
		d.entries[e.Name()] = isDir(filepath.Join(d.path, e.Name()))
	}
}

// files returns the files of a name: the first of name, name.yml and so on (the extensions) that exists. For a
// directory these are all files below it.
func (d *varsDir) files(name string, extensions []string) []string {
	for _, ext := range extensions {
		path := filepath.Join(d.path, name+ext)
		isDir, ok := d.entries[name+ext]
		if !ok && strings.Contains(name, "/") {
			info, err := os.Stat(path)
			ok = err == nil
			isDir = ok && info.IsDir()
		}
		switch {
		case ok && isDir:
			return search.VarsFiles(path, extensions)
		case ok:
			return []string{path}
		}
	}
	return nil
}

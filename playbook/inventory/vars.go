package inventory

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/search"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// Vars are all variables that inventory, group_vars and host_vars give a host, merged by Ansible's precedence, raw. The
// magic variables (inventory_hostname, group_names, inventory_file) are not among them. The dict is the caller's own.
//
// The order, lowest first: variables of all, of the other groups by depth, priority and name; group_vars/all beside the
// inventory, then beside the playbook; group_vars of the other groups beside the inventory, then beside the playbook;
// variables of the host; host_vars beside the inventory, then beside the playbook.
func (inv *Inventory) Vars(h *Host) (*value.Dict, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.vars(h, AtTasks)
}

func (inv *Inventory) vars(h *Host, stage Stage) (*value.Dict, error) {
	shared, err := inv.groupLayer(h, stage)
	if err != nil {
		return nil, err
	}
	out := shared.Copy()
	inv.combine(out, h.vars)
	for _, dir := range inv.varsDirs("host_vars") {
		if err := inv.lay(out, dir, stage, h.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// groupLayer is what all hosts of the same groups share. It must not be changed.
func (inv *Inventory) groupLayer(h *Host, stage Stage) (*value.Dict, error) {
	groups := h.allGroups()
	key := string(stage) + groupKey(groups)
	if d := inv.merged[key]; d != nil {
		return d, nil
	}
	all := inv.groups["all"]
	groups = sortedGroups(slices.DeleteFunc(groups, func(g *Group) bool { return g == all }))
	out := all.vars.Copy()
	for _, g := range groups {
		inv.combine(out, g.vars)
	}
	for _, layer := range [][]*Group{{all}, groups} {
		for _, dir := range inv.varsDirs("group_vars") {
			if err := inv.lay(out, dir, stage, groupNames(layer)...); err != nil {
				return nil, err
			}
		}
	}
	inv.merged[key] = out
	return out, nil
}

func groupKey(groups []*Group) string {
	ids := make([]int, len(groups))
	for i, g := range groups {
		ids[i] = g.id
	}
	slices.Sort(ids)
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(strconv.Itoa(id))
		b.WriteByte(',')
	}
	return b.String()
}

// sortedGroups puts groups into the order in which their variables are laid over each other.
func sortedGroups(groups []*Group) []*Group {
	slices.SortFunc(groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.priority, b.priority), strings.Compare(a.Name, b.Name))
	})
	return groups
}

// combine lays over onto d, which it changes.
func (inv *Inventory) combine(d, over *value.Dict) {
	if over == nil {
		return
	}
	over.Each(func(k, v value.Value) bool {
		setKey(d, k, v, inv.o.HashMerge)
		return true
	})
}

// setKey stores a value; two mappings are merged if hashes are.
func setKey(d *value.Dict, k, v value.Value, merge bool) {
	if merge {
		old, _ := d.GetKey(k)
		x, isX := old.(*value.Dict)
		y, isY := v.(*value.Dict)
		if isX && isY {
			v = vars.Combine(x, y, true)
		}
	}
	d.SetKey(k, v)
}

// varsDirs are the directories of a kind in the order of precedence: beside each source, then beside the playbook.
func (inv *Inventory) varsDirs(kind string) []*varsDir {
	if had, ok := inv.beside[kind]; ok {
		return had
	}
	out := inv.sourceDirs(kind)
	if inv.o.PlaybookDir != "" {
		out = append(out, inv.varsDir(inv.o.PlaybookDir, kind))
	}
	inv.beside[kind] = out
	return out
}

// givenDirs are varsDirs without a playbook's directory that nobody named.
func (inv *Inventory) givenDirs(kind string) []*varsDir {
	if inv.o.AssumedDir {
		return inv.sourceDirs(kind)
	}
	return inv.varsDirs(kind)
}

func (inv *Inventory) sourceDirs(kind string) []*varsDir {
	var out []*varsDir
	for _, s := range inv.o.Sources {
		if dir, ok := varsRoot(cleanSource(s)); ok {
			out = append(out, inv.varsDir(dir, kind))
		}
	}
	return out
}

// varsRoot is the directory that may hold group_vars of a source; a list of hosts has none.
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

// varsDir is one group_vars or host_vars directory: what it holds is listed once, files are read when first asked for.
type varsDir struct {
	root, kind string
	path       string // of the two together
	missing    bool
	entries    map[string]bool // is it a directory?
	vars       map[string]*value.Dict
}

func (inv *Inventory) varsDir(root, kind string) *varsDir {
	path := filepath.Join(root, kind)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if d := inv.varFiles[path]; d != nil {
		return d
	}
	d := &varsDir{root: root, kind: kind, path: path, entries: map[string]bool{}, vars: map[string]*value.Dict{}}
	inv.varFiles[path] = d
	info, err := os.Stat(path)
	if err != nil {
		d.missing = true
		return d
	}
	if !info.IsDir() {
		inv.warn("Found %s that is not a directory, skipping: %s", kind, path)
		return d
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		inv.warn("cannot read the directory %s: %s", path, err)
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(path, e.Name()))
		d.entries[e.Name()] = err == nil && info.IsDir()
	}
	return d
}

// extensions are how names may end: as the user set it, or as Ansible has it, or not at all.
func extensions(set []string) []string {
	if set == nil {
		set = []string{".yml", ".yaml", ".json"}
	}
	return append([]string{""}, set...)
}

// fileVars are the variables of a name in a directory; nil if it has none. A name may hold slashes,
// but not lead elsewhere: add_host may have it from another host's results.
func (inv *Inventory) fileVars(d *varsDir, name string) (*value.Dict, error) {
	if len(d.entries) == 0 || !filepath.IsLocal(name) {
		return nil, nil
	}
	if v, ok := d.vars[name]; ok {
		return v, nil
	}
	var out *value.Dict
	for _, file := range d.files(name, extensions(inv.o.VarsExtensions)) {
		v, err := inv.o.Loader.Value(file)
		if err != nil {
			return nil, asParserError(err)
		}
		if out == nil {
			out = value.NewDict()
		}
		vars, ok := v.(*value.Dict)
		switch {
		case ok:
			inv.combine(out, vars)
		case !value.Falsy(v):
			return nil, notADict(out, v)
		}
	}
	d.vars[name] = out
	return out, nil
}

// asParserError makes every reason why a vars file cannot be read, a vault without its password too, an error of the project's files.
func asParserError(err error) error {
	var known *syntax.Error
	if errors.As(err, &known) {
		return err
	}
	return &syntax.Error{Msg: err.Error()}
}

func notADict(before *value.Dict, v value.Value) error {
	class := v.Type()
	if _, ok := v.(*value.List); ok {
		class = "AnsibleSequence"
	}
	was, _ := value.Encode(before)
	is, _ := value.Encode(v) // both come from YAML, which can be encoded
	return &syntax.Error{Msg: fmt.Sprintf("failed to combine variables, expected dicts but got a 'dict' and a '%s': \n%s\n%s", class, was, is)}
}

// files are the files of a name: the first of name, name.yml and so on that exists. A directory
// gives all that is below it.
func (d *varsDir) files(name string, exts []string) []string {
	for _, ext := range exts {
		path := filepath.Join(d.path, name+ext)
		isDir, ok := d.entries[name+ext]
		if !ok && strings.Contains(name, "/") {
			info, err := os.Stat(path)
			ok = err == nil
			isDir = ok && info.IsDir()
		}
		switch {
		case ok && isDir:
			return search.VarsFiles(path, exts)
		case ok:
			return []string{path}
		}
	}
	return nil
}

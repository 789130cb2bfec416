package modules

import (
	"slices"
	"sort"
	"strings"
)

// Registry finds modules by full and short name. It is read-only after NewRegistry.
type Registry struct {
	byName  map[string]*Module
	aliases map[string]string // other names, to full ones
	names   []string
}

// NewRegistry returns a registry; two modules with the same name panic, at start.
func NewRegistry(list ...*Module) *Registry {
	r := &Registry{byName: make(map[string]*Module, len(list)), aliases: map[string]string{}}
	for _, m := range list {
		if r.byName[m.Name] != nil {
			panic("module declared twice: " + m.Name)
		}
		r.byName[m.Name] = m
		r.names = append(r.names, m.Name)
		for _, name := range m.OtherNames {
			r.alias(name, m.Name)
		}
		r.alias(m.Name, m.Name)
	}
	sort.Strings(r.names)
	return r
}

// Close ends what modules keep for their next calls. No module may be called any more.
func (r *Registry) Close() {
	for _, m := range r.byName {
		if m.Close != nil {
			m.Close()
		}
	}
}

// alias lets a module be called by its last name alone, as in Ansible before collections; ansible.builtin and
// ansible.legacy still redirect those names.
func (r *Registry) alias(name, full string) {
	if name != full {
		r.aliases[name] = full
	}
	short := name[strings.LastIndexByte(name, '.')+1:]
	for _, other := range []string{short, "ansible.builtin." + short, "ansible.legacy." + short} {
		if r.byName[other] == nil && (r.aliases[other] == "" || strings.HasPrefix(full, "ansible.builtin.")) {
			r.aliases[other] = full
		}
	}
}

// ShortName returns the name of something of ansible.builtin without its collection; any other name unchanged.
func ShortName(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
}

// Get returns the module with a full name or another name that FullName knows.
func (r *Registry) Get(name string) (*Module, bool) {
	m, ok := r.byName[r.FullName(name)]
	return m, ok
}

// FullName returns the full name for a short or redirected one, and an unknown name unchanged.
func (r *Registry) FullName(name string) string {
	if r.byName[name] != nil {
		return name
	}
	if full := r.aliases[name]; full != "" {
		return full
	}
	return name
}

// Names returns the full names, sorted.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

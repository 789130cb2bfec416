package modules

import "sort"

// Registry finds modules by full and short name. It is read-only after NewRegistry.
type Registry struct {
	byName map[string]*Module
	names  []string
}

// NewRegistry makes a registry; two modules of the same name panic, at start.
func NewRegistry(list ...*Module) *Registry {
	r := &Registry{byName: make(map[string]*Module, len(list))}
	for _, m := range list {
		if r.byName[m.Name] != nil {
			panic("module declared twice: " + m.Name)
		}
		r.byName[m.Name] = m
		r.names = append(r.names, m.Name)
	}
	sort.Strings(r.names)
	return r
}

// Get finds a module by its full name or by a name that Redirect knows.
func (r *Registry) Get(name string) (*Module, bool) {
	m, ok := r.byName[r.FullName(name)]
	return m, ok
}

// Names are the full names, sorted.
func (r *Registry) Names() []string { return r.names }

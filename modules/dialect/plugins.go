package dialect

import (
	"slices"
	"strings"
	"sync"
)

// Plugin is a filter or a test that hark has: a row of filterRows or testRows. Who evaluates a step that uses it goes
// by its traits, the errors of wrong calls by what it takes, and its documentation is generated.
type Plugin struct {
	// Name is its name in its Collection; "" is ansible-core's own, or Jinja's.
	Name, Collection string
	// Once are the collections in which it was before. Its names there still find it.
	Once   []string
	Traits Traits
	// Since is the change that brought it; nil for what every level has.
	Since *Change
	// Takes is its function in Python, which errors name, and the parameters in the form of value.ParseSignature. They
	// are those of ansible-core 2.14 and Jinja 3.1. "" leaves the check to the function.
	Takes string
	// Doc is a line for people.
	Doc string
}

// The collections of plug-ins that moved.
var (
	inCore      = []string{core}
	inNetcommon = []string{core, "ansible.netcommon"}
)

// The collection of ansible-core, and the one that an older Ansible would look into.
const (
	core   = "ansible.builtin"
	legacy = "ansible.legacy"
)

// Filters returns the rows of filters. Nobody may change them.
func Filters() []Plugin { return filterRows }

// Tests returns the rows of tests. Nobody may change them.
func Tests() []Plugin { return testRows }

// FullName returns the name with the collection.
func (p *Plugin) FullName() string {
	if p.Collection == "" {
		return core + "." + p.Name
	}
	return p.Collection + "." + p.Name
}

// Names returns all names under which a playbook finds it: ansible-core's own and what once was have short names, too.
// Jinja's are in no ansible.legacy, as in ansible-core.
func (p *Plugin) Names() []string {
	names := []string{p.FullName()}
	for _, collection := range p.Once {
		names = append(names, collection+"."+p.Name)
	}
	if p.Collection == "" || slices.Contains(p.Once, core) {
		names = append(names, p.Name)
		if !p.Traits.Has(OfJinja) {
			names = append(names, legacy+"."+p.Name)
		}
	}
	return names
}

// FilterNamed returns the row of a filter by one of its names, false for one that hark does not have.
func FilterNamed(name string) (Plugin, bool) { return pluginNamed(filtersByName(), name) }

// TestNamed returns the row of a test by one of its names, false for one that hark does not have.
func TestNamed(name string) (Plugin, bool) { return pluginNamed(testsByName(), name) }

func pluginNamed(all map[string]*Plugin, name string) (Plugin, bool) {
	p := all[name]
	if p == nil {
		return Plugin{}, false
	}
	return *p, true
}

var (
	filtersByName = sync.OnceValue(func() map[string]*Plugin { return byName(filterRows) })
	testsByName   = sync.OnceValue(func() map[string]*Plugin { return byName(testRows) })
)

func byName(rows []Plugin) map[string]*Plugin {
	all := map[string]*Plugin{}
	for i := range rows {
		for _, name := range rows[i].Names() {
			all[name] = &rows[i]
		}
	}
	return all
}

// Function returns the name of its function in Python and the parameters; nil parameters if nothing is to be checked.
func (p *Plugin) Function() (name string, params []string) {
	words := strings.Fields(p.Takes)
	if len(words) == 0 {
		return "", nil
	}
	return words[0], words[1:]
}

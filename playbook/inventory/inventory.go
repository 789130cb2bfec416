// Package inventory has the hosts and groups of a run. It reads inventory sources of every kind, keeps Ansible's rules
// of how hosts and groups relate, finds hosts by pattern, and merges the variables from inventory files, group_vars and
// host_vars. It renders only what its own plug-ins (constructed, generator) must render.
package inventory

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/syntax"
	"hark/playbook/vars"
)

// Options say what to load and how.
type Options struct {
	// Sources are files, directories, scripts or lists of hosts with commas, in order.
	Sources []string
	// Loader reads files and opens vaults; nil is one without vault secrets.
	Loader *syntax.Loader
	// PlaybookDir is the directory whose group_vars and host_vars override those of the inventory; "" has none.
	PlaybookDir string
	// AssumedDir says that PlaybookDir was not given and is the working directory. A group's own variables, and an export,
	// then leave it out.
	AssumedDir bool
	// VarsExtensions are the extensions of files of variables, beside none, YAMLExtensions those of YAML inventories; nil
	// are .yml, .yaml and .json.
	VarsExtensions, YAMLExtensions []string
	// UseExtra lets constructed groups and variables see Extra if their file does not say otherwise.
	UseExtra bool
	// Plugins are the enabled kinds of sources in the order in which they are tried; nil is Ansible's default: host_list,
	// script, auto, yaml, ini, toml.
	Plugins []string
	// IgnoreExtensions and IgnorePatterns are skipped in directories; nil extensions are Ansible's default.
	IgnoreExtensions, IgnorePatterns []string
	// HashMerge is hash_behaviour=merge.
	HashMerge bool
	// GroupChars is force_valid_group_names: never (or ""), always, ignore, silently.
	GroupChars string
	// FailUnparsed makes it an error if no source could be read, FailAnyUnparsed if one could not. QuietUnparsed
	// suppresses the warning that only implicit localhost is there.
	FailUnparsed, FailAnyUnparsed, QuietUnparsed bool
	// Mismatch is what a pattern without hosts causes: warning (or ""), error, ignore.
	Mismatch string
	// Python is ansible_python_interpreter of the implicit localhost.
	Python string
	// Facts returns the facts of a host that are kept from before, for constructed groups and variables; nil for none.
	Facts func(host string) *value.Dict
	// Extra are the extra variables, for plug-ins that use them.
	Extra *value.Dict
	// Agents returns the known agents, for the plug-in hark; nil disables the plug-in.
	Agents func(ctx context.Context) ([]Agent, error)
	// Foreign are further plug-ins; nil has none.
	Foreign Foreign
	// VarsPlugins provide variables of hosts and groups; nil has none. FilesStage is when group_vars and host_vars are
	// read; "" is AtTasks.
	VarsPlugins VarsPlugins
	FilesStage  Stage
	// Templates is how the plug-ins render.
	Templates templar.Options
	// Warn receives warnings; Verbose receives text at a verbosity level. Nil drops them.
	Warn    func(text string)
	Verbose func(level int, text string)
}

// Inventory is what the sources define, and what the run added. It is safe for concurrent use.
//
// Its parts: the tree of hosts and groups, which the readers of sources fill (reading, and a file for each form), the
// variables of a host from it and from files, and the hosts that match patterns.
type Inventory struct {
	o       Options
	notices *notices

	mu sync.Mutex

	// All below is guarded by mu.
	tree     *tree
	vars     *variables
	patterns *matcher
	changes  []change // by tasks of the run, repeated after Refresh
}

// Load reads all sources. A source that cannot be read is a warning, unless the options make it an error.
func Load(ctx context.Context, o Options) (*Inventory, error) {
	if o.Loader == nil {
		o.Loader = &syntax.Loader{Warn: o.Warn}
	}
	if o.Templates.Engine == nil {
		o.Templates.Engine = templar.NewEngine()
	}
	inv := &Inventory{o: o, notices: &notices{warning: o.Warn, detail: o.Verbose},
		patterns: &matcher{mismatch: o.Mismatch}}
	inv.patterns.notices = inv.notices
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv, inv.load(ctx)
}

func (inv *Inventory) load(ctx context.Context) error {
	inv.tree = newTree(&inv.o, inv.notices)
	inv.vars = newVariables(&inv.o, inv.tree, inv.notices)
	inv.patterns.over(inv.tree)
	r := &reading{o: &inv.o, notices: inv.notices, tree: inv.tree, vars: inv.vars}
	parsed, err := r.all(ctx, inv.o.Sources)
	switch {
	case err != nil:
		return err
	case parsed:
		inv.tree.reconcile()
		return inv.vars.keepOwn()
	case inv.o.FailUnparsed:
		return failf("No inventory was parsed, please check your configuration and options.")
	case !inv.o.QuietUnparsed:
		inv.notices.warn("No inventory was parsed, only implicit localhost is available")
	}
	return nil
}

// Refresh reads all sources again and repeats what the run added to the inventory.
func (inv *Inventory) Refresh(ctx context.Context) error {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if err := inv.load(ctx); err != nil {
		return err
	}
	for _, c := range inv.changes {
		if _, err := inv.apply(c); err != nil {
			return err
		}
	}
	return nil
}

// AddHost implements the module add_host: it adds the host if it is new, sets its variables and adds it to the groups,
// which it creates. The name may have a port. It reports whether that changed anything, and survives Refresh.
func (inv *Inventory) AddHost(name string, groups []string, vars *value.Dict) (changed bool, err error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	c := newHost(name, groups, vars)
	inv.changes = append(inv.changes, c)
	return inv.apply(c)
}

// AddToGroup implements the module group_by: it adds the host to the group, and the group to the parents, and creates
// missing groups. It reports whether that changed anything, and survives Refresh.
func (inv *Inventory) AddToGroup(host, group string, parents []string) (changed bool, err error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	c := grouped(host, group, parents)
	inv.changes = append(inv.changes, func(t *tree) (bool, error) {
		if t.host(host) == nil {
			return false, nil // gone since the refresh
		}
		return c(t)
	})
	return inv.apply(c)
}

func (inv *Inventory) apply(c change) (changed bool, err error) {
	changed, err = c(inv.tree)
	if changed && err == nil {
		inv.tree.reconcile()
		inv.vars.forget()
		inv.patterns.forget()
	}
	return changed, err
}

// Appeared reports whether directories of group_vars or host_vars were created since the last look, for example by a
// play. Their variables count from then on. It does not read files of earlier directories again.
func (inv *Inventory) Appeared() bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if !inv.vars.dirs.appeared() {
		return false
	}
	inv.vars.forget()
	return true
}

// Vars returns all variables of a host from inventory, group_vars and host_vars, merged by Ansible's precedence, raw.
// The magic variables (inventory_hostname, group_names, inventory_file) are not among them. The caller may change the
// dict.
//
// The order, lowest first: variables of all, of the other groups by depth, priority and name; group_vars/all beside the
// inventory, then beside the playbook; group_vars of the other groups beside the inventory, then beside the playbook;
// variables of the host; host_vars beside the inventory, then beside the playbook.
func (inv *Inventory) Vars(h *Host) (*value.Dict, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.vars.of(h, AtTasks)
}

// Host returns the host with a name, nil if there is none. For the names of the local machine it always returns one:
// the implicit localhost if no source names it.
func (inv *Inventory) Host(name string) *Host {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.tree.host(name)
}

// Hosts returns the hosts of the sources and those that the run added, in order, without the implicit localhost.
func (inv *Inventory) Hosts() []*Host {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.Clone(inv.tree.hostList)
}

// Group returns the group with a name; nil if there is none.
func (inv *Inventory) Group(name string) *Group {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.tree.groups[name]
}

// Groups returns all groups in the order in which they were added; all and ungrouped are the first.
func (inv *Inventory) Groups() []*Group {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.Clone(inv.tree.groupList)
}

// HostsOf returns the hosts of a group and of all groups below it.
func (inv *Inventory) HostsOf(g *Group) []*Host {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.Clone(g.allHosts())
}

// GroupsDict returns the magic variable groups: for each group the names of its hosts. It must not be changed.
func (inv *Inventory) GroupsDict() *value.Dict {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.tree.groupMembers()
}

// Magic returns the magic variables of a host that an inventory knows. A host that it does not have is known by its
// name only, and from no file.
func Magic(inv *Inventory, name string) *value.Dict {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	h := inv.tree.host(name)
	if h != nil && !h.Implicit {
		return magic(h)
	}
	d := vars.HostMagic(vars.Name(name, h == nil), nil, "", "")
	if h != nil {
		d = magic(h)
	}
	d.Delete(value.Str("inventory_file"))
	d.Delete(value.Str("inventory_dir"))
	return d
}

// Named returns a func that returns the names of hosts as variables. The name of a host that no source defines is data.
func Named(inv *Inventory) func(host string) value.Value {
	return func(name string) value.Value {
		h := inv.Host(name)
		return vars.Name(name, h == nil || h.AddedByTask)
	}
}

// GroupNames returns the magic variable group_names: the names of all groups of the host except all, sorted.
func (inv *Inventory) GroupNames(h *Host) []string {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return h.groupNames()
}

// Error is a message in Ansible's words.
type Error string

func (e Error) Error() string { return string(e) }

func failf(format string, a ...any) error { return Error(fmt.Sprintf(format, a...)) }

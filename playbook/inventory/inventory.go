// Package inventory knows the hosts and groups of a run: it reads inventory sources of every kind, keeps Ansible's rules
// of how hosts and groups relate, finds hosts by pattern, and merges the variables that inventory files, group_vars and
// host_vars give a host. It renders only what its own plug-ins (constructed, generator) must render.
package inventory

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
	"hark/playbook/syntax"
)

// Options say what to load and how.
type Options struct {
	// Sources are files, directories, scripts or lists of hosts with commas, in order.
	Sources []string
	// Loader reads files and opens vaults; nil is a plain one.
	Loader *syntax.Loader
	// PlaybookDir is the directory whose group_vars and host_vars stand above those of the inventory; "" has none.
	PlaybookDir string
	// AssumedDir: PlaybookDir was not given, it is the working directory. What a group has by itself, and an export,
	// then leave it out.
	AssumedDir bool
	// VarsExtensions are how the names of files of variables may end, beside not at all, YAMLExtensions those of YAML
	// inventories; nil are .yml, .yaml and .json.
	VarsExtensions, YAMLExtensions []string
	// UseExtra lets constructed groups and variables see Extra where their file does not say.
	UseExtra bool
	// Plugins are the enabled kinds of sources in the order in which they are tried; nil is Ansible's
	// default: host_list, script, auto, yaml, ini, toml.
	Plugins []string
	// IgnoreExtensions and IgnorePatterns are passed over in directories; nil extensions are Ansible's default.
	IgnoreExtensions, IgnorePatterns []string
	// HashMerge is hash_behaviour=merge.
	HashMerge bool
	// GroupChars is force_valid_group_names: never (or ""), always, ignore, silently.
	GroupChars string
	// FailUnparsed makes it an error if no source could be read, FailAnyUnparsed if one could not. QuietUnparsed
	// leaves out the warning that only implicit localhost is there.
	FailUnparsed, FailAnyUnparsed, QuietUnparsed bool
	// Mismatch says what a pattern without hosts gives: warning (or ""), error, ignore.
	Mismatch string
	// Python is ansible_python_interpreter of the implicit localhost.
	Python string
	// Extra are the extra variables, for plug-ins that use them.
	Extra *value.Dict
	// Facts are a host's cached facts, for the constructed plug-in; nil has none.
	Facts func(host string) *value.Dict
	// Agents gives the agents that are known, for the plug-in hark; nil has no such plug-in.
	Agents func(ctx context.Context) ([]Agent, error)
	// Foreign are further plug-ins; nil has none.
	Foreign Foreign
	// VarsPlugins give hosts and groups variables; nil has none. FilesStage is when group_vars and host_vars are read; "" is AtTasks.
	VarsPlugins VarsPlugins
	FilesStage  Stage
	// Templates is how the plug-ins render.
	Templates templar.Options
	// Warn hears warnings; Verbose hears text at a verbosity level. Nil drops them.
	Warn    func(text string)
	Verbose func(level int, text string)
}

// Inventory is what the sources told, and what the run added. It is safe for concurrent use.
type Inventory struct {
	o Options

	mu sync.Mutex

	// All below is guarded by mu.
	hosts      map[string]*Host
	hostList   []*Host // in the order in which they came
	groups     map[string]*Group
	groupList  []*Group
	localhost  *Host   // implicit or from a source; nil until it is there
	current    *source // being read
	processed  []string
	limit      []string // patterns; nil is no limit
	matched    map[string][]*Host
	warned     map[string]bool
	varFiles   map[string]*varsDir
	beside     map[string][]*varsDir // the varsDirs of a kind, so that they are looked for once and not for each host
	merged     map[string]*value.Dict
	groupsDict *value.Dict
	dynamic    []func() error // what the run added, to be done again after Refresh
}

// Load reads all sources. A source that cannot be read is a warning, unless the options make it an error.
func Load(ctx context.Context, o Options) (*Inventory, error) {
	if o.Loader == nil {
		o.Loader = &syntax.Loader{Warn: o.Warn}
	}
	inv := &Inventory{o: o}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv, inv.load(ctx)
}

// Refresh reads all sources again and repeats what the run added to the inventory.
func (inv *Inventory) Refresh(ctx context.Context) error {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if err := inv.load(ctx); err != nil {
		return err
	}
	for _, again := range inv.dynamic {
		if err := again(); err != nil {
			return err
		}
	}
	return nil
}

// Appeared tells whether directories of group_vars or host_vars have come into being since they were looked for, as when a play
// makes them. Their variables count from then on; files of directories that were there before are not read again.
func (inv *Inventory) Appeared() bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	found := false
	for path, d := range inv.varFiles {
		if d.missing && isDir(path) {
			delete(inv.varFiles, path)
			found = true
		}
	}
	if found {
		inv.beside = map[string][]*varsDir{}
		inv.forget()
	}
	return found
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (inv *Inventory) load(ctx context.Context) error {
	inv.hosts, inv.hostList = map[string]*Host{}, nil
	inv.groups, inv.groupList = map[string]*Group{}, nil
	inv.localhost, inv.processed = nil, nil
	inv.varFiles, inv.beside = map[string]*varsDir{}, map[string][]*varsDir{}
	inv.forget()
	all, _ := inv.addGroup("all")
	ungrouped, _ := inv.addGroup("ungrouped")
	all.vars = value.NewDict()
	if err := inv.addChild(all, ungrouped); err != nil {
		return err
	}
	parsed := false
	for _, s := range inv.o.Sources {
		if s == "" {
			continue
		}
		ok, err := inv.parseSource(ctx, cleanSource(s))
		if err != nil {
			return err
		}
		parsed = parsed || ok
	}
	switch {
	case parsed:
		inv.reconcile()
		return inv.layOwn()
	case inv.o.FailUnparsed:
		return failf("No inventory was parsed, please check your configuration and options.")
	case !inv.o.QuietUnparsed:
		inv.warn("No inventory was parsed, only implicit localhost is available")
	}
	return nil
}

// forget drops what was derived from hosts and groups.
func (inv *Inventory) forget() {
	inv.matched = map[string][]*Host{}
	inv.merged = map[string]*value.Dict{}
	inv.groupsDict = nil
}

// reconcile brings hosts and groups into Ansible's order: all groups hang below all, and hosts without a group of their own are in ungrouped.
func (inv *Inventory) reconcile() {
	inv.current = nil
	all, ungrouped := inv.groups["all"], inv.groups["ungrouped"]
	for _, g := range inv.groupList {
		if g != all && len(g.parents) == 0 {
			_ = inv.addChild(all, g) // all has no parents, so there is no loop to make
		}
	}
	misplaced := map[*Host]bool{}
	for _, h := range inv.hostList {
		grouped := slices.ContainsFunc(h.groups, func(g *Group) bool { return g != all && g != ungrouped })
		switch inUngrouped := slices.Contains(h.groups, ungrouped); {
		case inUngrouped && grouped:
			misplaced[h] = true
		case !inUngrouped && !grouped:
			ungrouped.addHost(h)
		}
		if inv.groups[h.Name] != nil {
			inv.warn("Found both group and host with same name: %s", h.Name)
		}
	}
	ungrouped.removeHosts(misplaced)
	inv.forget()
}

// Host finds a host by name. The names of the local machine always give one: the implicit localhost if no source names it.
func (inv *Inventory) Host(name string) *Host {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.host(name)
}

func (inv *Inventory) host(name string) *Host {
	if h := inv.hosts[name]; h != nil || !isLocal(name) {
		return h
	}
	if inv.localhost == nil {
		h := &Host{Name: name, Address: "127.0.0.1", Implicit: true}
		h.set("ansible_python_interpreter", value.YAMLStr(inv.o.Python), false)
		h.set("ansible_connection", value.YAMLStr("local"), false)
		inv.localhost = h
	}
	return inv.localhost
}

func isLocal(name string) bool { return name == "localhost" || name == "127.0.0.1" || name == "::1" }

// Hosts are the hosts of the sources and those that the run added, in order; without the implicit localhost.
func (inv *Inventory) Hosts() []*Host {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.Clone(inv.hostList)
}

// Group finds a group by name; nil if there is none.
func (inv *Inventory) Group(name string) *Group {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.groups[name]
}

// Groups are all groups in the order in which they came; all and ungrouped are the first.
func (inv *Inventory) Groups() []*Group {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return slices.Clone(inv.groupList)
}

// GroupsDict is the magic variable groups: for each group the names of its hosts. It must not be changed.
func (inv *Inventory) GroupsDict() *value.Dict {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.groupsDict == nil {
		d := value.NewDict()
		for _, g := range inv.groupList {
			l := value.NewList()
			for _, h := range g.allHosts() {
				l.Items = append(l.Items, value.YAMLStr(h.Name))
			}
			d.Set(g.Name, l)
		}
		inv.groupsDict = d
	}
	return inv.groupsDict
}

func (inv *Inventory) warn(format string, a ...any) {
	if inv.o.Warn != nil {
		inv.o.Warn(fmt.Sprintf(format, a...))
	}
}

func (inv *Inventory) verbose(level int, format string, a ...any) {
	if inv.o.Verbose != nil {
		inv.o.Verbose(level, fmt.Sprintf(format, a...))
	}
}

// Error is a message in Ansible's words.
type Error string

func (e Error) Error() string { return string(e) }

func failf(format string, a ...any) error { return Error(fmt.Sprintf(format, a...)) }

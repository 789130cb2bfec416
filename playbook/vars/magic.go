package vars

import (
	"net/netip"
	"slices"
	"strings"

	"hark/modules/py/value"
	"hark/playbook/plan"
)

// stepMagic returns the magic variables of one step.
func stepMagic(st Step, sh *Shared) *value.Dict {
	if st.Role == nil && st.Environment == nil && len(st.Search) == 0 { // a host seen through hostvars
		return nil
	}
	d := value.NewDict()
	if r := st.Role; r != nil {
		d.Set("role_name", value.Str(r.Name))
		d.Set("role_path", value.Str(r.Path))
		d.Set("role_uuid", value.Str(r.Identity))
		d.Set("ansible_role_name", value.Str(r.FullName()))
		d.Set("ansible_collection_name", orNone(r.Collection))
	}
	if st.Environment != nil {
		list := value.NewList()
		for _, e := range st.Environment {
			list.Items = append(list.Items, e.V)
		}
		d.Set("environment", list)
	}
	if len(st.Search) > 0 {
		d.Set("ansible_search_path", value.KindStr.Texts(searchPath(st.Search, sh.Magic)))
	}
	return d
}

func searchPath(search []string, magic *value.Dict) []string {
	v, _ := magic.Get("playbook_dir")
	dir, ok := value.Text(v)
	if !ok || slices.Contains(search, dir) {
		return search
	}
	return append(slices.Clone(search), dir)
}

// Name returns the name of a host or a group as a variable. A name from a source of the inventory is a str of Python.
// One that the run has set (add_host, group_by) may come from a host, and is data like any result.
func Name(name string, told bool) value.Value {
	if told {
		return value.UnsafeStr(name)
	}
	return value.Str(name)
}

// Names returns the names of hosts as a variable. named returns each name as a variable; nil is for names of an
// inventory.
func Names(hosts []string, named func(host string) value.Value) *value.List {
	out := &value.List{Items: make([]value.Value, len(hosts))}
	for i, host := range hosts {
		if named == nil {
			out.Items[i] = Name(host, false)
			continue
		}
		out.Items[i] = named(host)
	}
	return out
}

// HostMagic returns Host.Magic, with names by Name. Groups are the host's groups without all. file and dir are of the
// inventory source that named the host, "" if there was none.
func HostMagic(name value.Value, groups []value.Value, file, dir string) *value.Dict {
	d := value.NewDict()
	d.Set("inventory_hostname", name)
	text, _ := value.Text(name)
	short := text
	if _, err := netip.ParseAddr(text); err != nil {
		short, _, _ = strings.Cut(text, ".")
	}
	d.Set("inventory_hostname_short", value.TextLike(name, short))
	sorted := slices.Clone(groups)
	slices.SortFunc(sorted, func(a, b value.Value) int { return strings.Compare(value.Printed(a), value.Printed(b)) })
	d.Set("group_names", value.NewList(sorted...))
	d.Set("inventory_file", orNone(file))
	d.Set("inventory_dir", orNone(dir))
	return d
}

// PlayInfo is the source of a play's magic variables.
type PlayInfo struct {
	PlaybookDir string
	ConfigFile  string // ansible.cfg in use, "" for none
	Python      string // ansible_playbook_python
	Name        string // of the play, rendered
	// Hosts are the hosts of the play's pattern, Batch those of the batch; both without hosts that failed earlier.
	AllHosts, Hosts, Batch []string
	// Named returns the name of a host as a variable; nil if all names are those of an inventory.
	Named func(host string) value.Value
	// PlayRoles are the roles that the play names, DependentRoles those that meta/main.yml adds.
	PlayRoles, DependentRoles []string
	Options                   Options
}

// Options are the options of the command line that playbooks can see.
type Options struct {
	Check, Diff bool
	Forks       int
	Inventory   []string
	Tags        []string // as given; none means all
	SkipTags    []string
	Limit       string // "" is none
	Verbosity   int
	Level       plan.Level
}

// PlayMagic returns Shared.Magic, without the variables that change while the play runs or are large: hostvars, groups.
// ansible_play_hosts and the like are as at the start of the batch: let Lazy answer when hosts have gone.
func PlayMagic(p PlayInfo) *value.Dict {
	d := value.NewDict()
	d.Set("playbook_dir", value.Str(p.PlaybookDir))
	d.Set("ansible_playbook_python", value.Str(p.Python))
	d.Set("ansible_config_file", orNone(p.ConfigFile))
	d.Set("ansible_role_names", value.KindStr.Texts(union(p.DependentRoles, p.PlayRoles)))
	d.Set("ansible_play_role_names", value.KindStr.Texts(p.PlayRoles))
	d.Set("ansible_dependent_role_names", value.KindStr.Texts(union(p.DependentRoles, nil)))
	d.Set("role_names", value.KindStr.Texts(p.PlayRoles))
	d.Set("ansible_play_name", value.Str(p.Name))
	d.Set("ansible_play_hosts_all", Names(p.AllHosts, p.Named))
	d.Set("ansible_play_hosts", Names(p.Hosts, p.Named))
	d.Set("ansible_play_batch", Names(p.Batch, p.Named))
	d.Set("play_hosts", Names(p.Batch, p.Named))
	return Combine(d, optionMagic(p.Options), false)
}

// optionMagic returns the magic variables that hostvars has too: the version and the options.
func optionMagic(o Options) *value.Dict {
	d := value.NewDict()
	d.Set("ansible_version", ansibleVersion(o.Level))
	d.Set("ansible_check_mode", value.Bool(o.Check))
	d.Set("ansible_diff_mode", value.Bool(o.Diff))
	d.Set("ansible_forks", value.Int(o.Forks))
	d.Set("ansible_inventory_sources", value.KindStr.Texts(o.Inventory))
	d.Set("ansible_skip_tags", value.KindStr.Texts(o.SkipTags))
	tags := o.Tags
	if len(tags) == 0 {
		tags = []string{"all"}
	}
	d.Set("ansible_run_tags", value.KindStr.Texts(tags))
	if o.Limit != "" {
		d.Set("ansible_limit", value.Str(o.Limit))
	}
	d.Set("ansible_verbosity", value.Int(o.Verbosity))
	return d
}

// ansibleVersion returns the ansible_version of a level.
func ansibleVersion(l plan.Level) *value.Dict {
	major, minor, patch := l.Core()
	d := value.NewDict()
	d.Set("string", value.Str(l.CoreVersion()))
	d.Set("full", value.Str(l.CoreVersion()))
	d.Set("major", value.Int(major))
	d.Set("minor", value.Int(minor))
	d.Set("revision", value.Int(patch))
	return d
}

// HostvarsShared returns the layers that hostvars sees: a host seen from outside has no play, so no roles and no vars
// of a play.
func HostvarsShared(sh *Shared) *Shared {
	magic := value.NewDict()
	sh.Magic.Each(func(k, v value.Value) bool {
		name, _ := value.Text(k)
		if !slices.Contains(playMagicNames, name) {
			magic.SetKey(k, v)
		}
		return true
	})
	return &Shared{Extra: sh.Extra, Magic: magic, HashMerge: sh.HashMerge, InjectFacts: sh.InjectFacts}
}

// playMagicNames are those of PlayMagic that only a play has.
var playMagicNames = []string{
	"ansible_role_names", "ansible_play_role_names", "ansible_dependent_role_names", "role_names",
	"ansible_play_name", "ansible_play_hosts_all", "ansible_play_hosts", "ansible_play_batch", "play_hosts",
}

// withRoles returns the magic variables of a play with the names of a role that was included. Names that are not there
// are withheld from this host, and stay so.
func withRoles(magic *value.Dict, f *plan.Fragment) *value.Dict {
	if len(f.RoleNames) == 0 {
		return magic
	}
	out := magic.Copy()
	add := func(name string, more []string, once bool) {
		list, ok := magic.Get(name)
		was, isList := list.(*value.List)
		if !ok || !isList {
			return
		}
		var texts []string
		for _, v := range was.Items {
			texts = append(texts, value.Printed(v))
		}
		if texts = append(texts, more...); once {
			texts = union(texts, nil)
		}
		out.Set(name, value.KindStr.Texts(texts))
	}
	add("ansible_play_role_names", f.RoleNames, false)
	add("role_names", f.RoleNames, false)
	add("ansible_dependent_role_names", f.DependentRoles, true)
	add("ansible_role_names", append(slices.Clone(f.DependentRoles), f.RoleNames...), true)
	return out
}

func union(a, b []string) []string {
	var out []string
	for _, s := range append(slices.Clone(a), b...) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func orNone(s string) value.Value {
	if s == "" {
		return value.None{}
	}
	return value.Str(s)
}

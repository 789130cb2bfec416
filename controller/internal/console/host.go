package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"hark/agent/wire"
	"hark/controller/internal/fleet/roster"
	"hark/controller/internal/runs/record"
	"hark/modules/py/value"
)

// hostPage is the page of one host: what its agent reports, what is known of it, its duties, and the runs that touched
// it.
type hostPage struct {
	Name    string    `json:"name"`
	State   sign      `json:"state"`
	Trouble string    `json:"trouble,omitempty"`
	Held    string    `json:"held,omitempty"`
	Facts   []fact    `json:"facts"`
	Known   []fact    `json:"known,omitempty"`
	KnownAt time.Time `json:"known_at,omitzero"`
	Groups  []link    `json:"groups,omitempty"`
	Runs    []link    `json:"in_runs,omitempty"`
	Jobs    []jobAt   `json:"jobs,omitempty"`
	Duties  []standAt `json:"duties,omitempty"`
	Refused string    `json:"refused,omitempty"`
	Lately  string    `json:"refused_lately,omitempty"`
	Rows    []runRow  `json:"runs"`
	Empty   empty     `json:"-"`
}

func (s fleetPages) host(w http.ResponseWriter, r *http.Request) error {
	b := hostPage{Name: r.PathValue("host"), Empty: empty{Big: "No run on record touched this host"}}
	p := page{Title: b.Name, Nav: "Hosts", Refresh: 30}
	agents, err := s.agents(r.Context())
	if err != nil && !errors.Is(err, errNoFleet) {
		p.Warnings = append(p.Warnings, "The fleet cannot be shown: "+err.Error())
	}
	at := slices.IndexFunc(agents, func(a roster.Agent) bool { return a.Name == b.Name })
	if at >= 0 {
		b.agent(&agents[at])
	}
	list, err := s.list(r.Context(), b.Name, "", "", time.Time{})
	if err != nil {
		return err
	}
	const most = 50
	for i := range list.Entries[:min(most, len(list.Entries))] {
		b.Rows = append(b.Rows, s.rowOf(&list.Entries[i], b.Name))
	}
	if at < 0 && len(b.Rows) == 0 {
		return &noPageError{fmt.Sprintf("There is no host %q: no agent has that name, and no run on record touched it.",
			b.Name)}
	}
	if at < 0 {
		b.State = noAgent
	}
	for _, name := range groupsIn(list.Entries, b.Name) {
		b.Groups = append(b.Groups, link{name, groupPath(name)})
	}
	if s.Facts != nil {
		if facts, at, ok := s.Facts(r.Context(), b.Name); ok {
			b.Known, b.KnownAt = knownFacts(facts), at
		}
	}
	warnings := s.standsAs(r.Context(), &b)
	p.Warnings, p.Body = append(p.Warnings, warnings...), b
	return s.show(w, r, "host", p)
}

// rowOf returns a run as the page of one host shows it: by the state of the host.
func (s fleetPages) rowOf(e *record.Entry, host string) runRow {
	x := s.row(e)
	x.Note = ""
	for _, hostState := range worstFirst() {
		if e.Foot != nil && slices.Contains(e.Foot.Names(hostState), host) {
			x.State = pastOf(e, hostState, host).State
		}
	}
	return x
}

// worstFirst returns the states of hosts, the worst first.
func worstFirst() []record.HostState {
	return []record.HostState{record.StateFailed, record.StateUnreachable, record.StateChanged, record.StateOK}
}

// agent fills in what the agent says of itself.
func (b *hostPage) agent(a *roster.Agent) {
	b.State, b.Trouble, b.Facts = presence(*a), a.Trouble, agentFacts(*a)
	if a.Hold != nil {
		b.Held = fmt.Sprintf("Keepers leave this host alone until %s: %s", when(a.Hold.Until), brief(a.Hold.Why))
	}
	for _, run := range a.Runs {
		b.Runs = append(b.Runs, *runLink(run))
	}
	b.Jobs, _ = jobsOf(a)
	b.Refused, b.Lately = reasons(a.Refused), reasons(a.RefusedLastHour)
}

// reasons returns counts of refused messages in words, the most frequent first.
func reasons(counts map[wire.Reason]uint64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b wire.Reason) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	said := make([]string, len(names))
	for i, name := range names {
		said[i] = fmt.Sprintf("%s %s", withThousands(int(counts[name])), name)
	}
	return strings.Join(said, ", ")
}

// standsAs fills in the host's states under duties, and returns what cannot be read of them.
func (s fleetPages) standsAs(ctx context.Context, b *hostPage) (warnings []string) {
	words, err := s.words(ctx)
	if errors.Is(err, errNoFleet) {
		return nil
	}
	if err != nil {
		return []string{"The duties cannot be shown: " + err.Error()}
	}
	for _, d := range inForce(words.All) {
		for i := range d.states {
			if d.states[i].Host == b.Name {
				b.Duties = append(b.Duties, standOf(&d, &d.states[i]))
			}
		}
	}
	return nil
}

func agentFacts(a roster.Agent) []fact {
	var all []fact
	put := func(name, text string, code bool) {
		if text != "" {
			all = append(all, fact{Name: name, Text: text, Code: code})
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			all = append(all, fact{Name: name, Time: &t})
		}
	}
	at("last heard of", a.Seen)
	at("connected since", a.Since)
	at("agent started", a.Started)
	put("agent", a.Version, false)
	put("platform", strings.Trim(a.OS+"/"+a.Arch, "/"), false)
	put("id", a.ID, true)
	put("key", a.Key, true)
	return all
}

// factText returns a fact as text, by its name and those of what contains it; "" if there is none.
func factText(facts *value.Dict, name string) string {
	var v value.Value = facts
	for part := range strings.SplitSeq(name, ".") {
		d, ok := v.(*value.Dict)
		if !ok {
			return ""
		}
		if v, ok = d.Get(part); !ok {
			return ""
		}
	}
	if text, ok := value.Text(v); ok {
		return text
	}
	switch v := v.(type) {
	case value.Int, value.Float:
		return fmt.Sprint(v)
	}
	return ""
}

// knownFacts returns the facts that people look for. The others may be private.
func knownFacts(facts *value.Dict) []fact {
	text := func(names ...string) string {
		var words []string
		for _, name := range names {
			if word := factText(facts, name); word != "" {
				words = append(words, word)
			}
		}
		return brief(strings.Join(words, " "))
	}
	var all []fact
	for _, x := range []struct {
		name string
		text string
	}{
		{"system", text("ansible_distribution", "ansible_distribution_version", "ansible_distribution_release")},
		{"kernel", text("ansible_kernel")},
		{"machine", text("ansible_architecture", "ansible_product_name")},
		{"virtual", text("ansible_virtualization_type", "ansible_virtualization_role")},
		{"processors", text("ansible_processor_vcpus")}, {"memory", megabytes(text("ansible_memtotal_mb"))},
		{"full name", text("ansible_fqdn")},
		{"address", text("ansible_default_ipv4.address", "ansible_default_ipv6.address")},
		{"packages by", text("ansible_pkg_mgr")},
		{"services by", text("ansible_service_mgr")}, {"Python", text("ansible_python_version")},
	} {
		if x.text != "" {
			all = append(all, fact{Name: x.name, Text: x.text})
		}
	}
	return all
}

func megabytes(text string) string {
	if text == "" {
		return ""
	}
	return text + " MB"
}

// groupsIn returns the groups of a host as the latest run that names any had them.
func groupsIn(entries []record.Entry, host string) []string {
	for i := range entries {
		var found []string
		for name, folded := range entries[i].Head.Groups {
			if slices.Contains(record.Unfold(folded), host) {
				found = append(found, name)
			}
		}
		if len(found) > 0 {
			slices.Sort(found)
			return found
		}
	}
	return nil
}

func groupPath(name string) string {
	return (&url.URL{Path: "/hosts", RawQuery: url.Values{"group": {name}}.Encode()}).String()
}

// groupings returns the hosts of each group, for each host as the latest run had them.
func groupings(entries []record.Entry) map[string]map[string]bool {
	groups, done := map[string]map[string]bool{}, map[string]bool{}
	var before map[string][]string
	for i := range entries[:min(pastRuns, len(entries))] {
		head := entries[i].Head.Groups
		if head == nil || reflect.DeepEqual(head, before) {
			continue
		}
		before = head
		var these []string
		for name, folded := range head {
			for _, host := range record.Unfold(folded) {
				if done[host] {
					continue
				}
				if groups[name] == nil {
					groups[name] = map[string]bool{}
				}
				groups[name][host] = true
				these = append(these, host)
			}
		}
		for _, host := range these {
			done[host] = true
		}
	}
	return groups
}

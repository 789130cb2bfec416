//go:build fleet

package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// agreed is for how long what is said may differ: a moment later all must agree.
const agreed = 25 * time.Second

// agree demands that all who say how things stand say the same, and that it is so on the hosts.
func (m *team) agree(t *testing.T) {
	t.Helper()
	from := time.Now()
	var wrong []string
	for deadline := from.Add(agreed); ; time.Sleep(300 * time.Millisecond) {
		s, err := m.look(t)
		if err != nil {
			wrong = []string{err.Error()}
		} else {
			wrong = m.differ(t, s)
		}
		if len(wrong) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, text := range wrong {
		t.Errorf("they do not agree: %s", text)
	}
	t.Logf("compared in %.1f s", time.Since(from).Seconds())
}

// differ is what does not agree.
func (m *team) differ(t *testing.T, s seen) []string {
	t.Helper()
	var wrong []string
	same := func(what string, want, got any) {
		if diff := cmp.Diff(want, got); diff != "" {
			wrong = append(wrong, what+"\n"+diff)
		}
	}
	anna := m.anna.name
	for name := range s.runs {
		same("runs list of anna (-) and of "+name+" (+)", m.runWords(s.runs[anna]), m.runWords(s.runs[name]))
		same("duties list of anna (-) and of "+name+" (+)", dutyWords(s.duties[anna]), dutyWords(s.duties[name]))
	}
	m.pagesDiffer(s, same)
	m.metricsDiffer(s, same)
	m.needsDiffer(s, same)
	for _, e := range s.runs[anna] {
		if e.State == "running" {
			wrong = append(wrong, "a run still goes on: "+strings.Join(e.Head.Line, " "))
		}
	}
	want := map[string]bool{}
	for _, d := range s.duties[anna] {
		for _, h := range s.hosts[d.Name] {
			if !h.Begun.IsZero() {
				wrong = append(wrong, d.Name+" is at "+h.Host)
			}
			if h.State == "failed" || h.State == "drifted" || h.State == "absent" {
				want[d.Name+"/"+h.State+" "+h.Host] = true
			}
		}
		if d.Paused != nil {
			want[d.Name+"/paused"] = true
		}
	}
	same("how hosts stand (-) and what was told and is not over (+)", want, m.hook.open())
	return append(wrong, m.hostsDiffer(s)...)
}

// runWords are runs in a word each, by id. Runs of keys that are gone are left out: who has come since cannot read
// them, since nobody could seal them for a new key.
func (m *team) runWords(all []runOnRecord) map[string]string {
	out := map[string]string{}
	for _, e := range all {
		if m.lost[e.Head.Who] {
			continue
		}
		text := fmt.Sprintf("%s of %s: %s", strings.Join(e.Head.Line, " "), e.Head.From, e.word())
		for _, k := range slices.Sorted(maps.Keys(e.Counts)) {
			text += fmt.Sprintf(" %d %s", e.Counts[k], k)
		}
		if e.Foot != nil {
			text += fmt.Sprintf(", exit %d %s", e.Foot.Exit, e.Foot.Incomplete)
		}
		out[e.Head.Run] = text
	}
	return out
}

func dutyWords(all []dutyOnRecord) map[string]string {
	out := map[string]string{}
	for _, d := range all {
		text := fmt.Sprintf("%s at %s, %d hosts, paused %v, stale %q, late %v:", d.Mode, d.Commit, d.Count, d.Paused != nil,
			d.Stale, d.Late)
		for _, k := range slices.Sorted(maps.Keys(d.States)) {
			text += fmt.Sprintf(" %d %s", d.States[k], k)
		}
		out[d.Name] = text
	}
	return out
}

// pagesDiffer compares the console's pages with the commands.
func (m *team) pagesDiffer(s seen, same func(what string, want, got any)) {
	list, shown := map[string]string{}, map[string]string{}
	count := func(into map[string]int) string {
		text := ""
		for _, k := range slices.Sorted(maps.Keys(into)) {
			text += fmt.Sprintf(" %d %s", into[k], k)
		}
		return text
	}
	for _, e := range s.runs[m.anna.name] {
		list[e.Head.Run] = e.word() + count(e.Counts)
	}
	for _, x := range s.pages.runs {
		n := map[string]int{}
		for _, c := range x.Hosts {
			n[c.State] = c.N
		}
		shown[x.Run] = x.State.Word + count(n)
	}
	same("runs list (-) and the console (+)", list, shown)
	duties, pages := map[string]string{}, map[string]string{}
	for _, d := range s.duties[m.anna.name] {
		duties[d.Name] = d.Commit + count(d.States)
		states := map[string]string{}
		for _, h := range s.hosts[d.Name] {
			states[h.Host] = h.State
		}
		same("duties show "+d.Name+" (-) and its page (+)", states, s.pages.duty[d.Name])
	}
	for _, d := range s.pages.duties {
		n := map[string]int{}
		for _, c := range d.Hosts {
			n[c.State] = c.N
		}
		pages[d.Duty] = d.Commit + count(n)
	}
	same("duties list (-) and the console (+)", duties, pages)
	agents, hosts := map[string]string{}, map[string]string{}
	for _, a := range s.agents {
		agents[a.Name] = map[bool]string{true: "present", false: "absent"}[a.Present]
		hosts[a.Name] = s.pages.hosts[a.Name]
	}
	same("agents list (-) and the console (+)", agents, hosts)
}

// metricsDiffer compares the metrics.
func (m *team) metricsDiffer(s seen, same func(what string, want, got any)) {
	want, got := map[string]float64{}, map[string]float64{}
	for _, e := range s.runs[m.anna.name] {
		want[fmt.Sprintf("hark_runs{state=%q}", e.word())]++
	}
	for _, a := range s.agents {
		want[fmt.Sprintf("hark_agents{state=%q}", map[bool]string{true: "present", false: "absent"}[a.Present])]++
	}
	for _, d := range s.duties[m.anna.name] {
		labels := fmt.Sprintf("duty=%q,keeper=%q", d.Name, d.Keeper)
		for k, n := range d.States {
			want[fmt.Sprintf("hark_duty_hosts{%s,state=%q}", labels, k)] = float64(n)
		}
		want[fmt.Sprintf("hark_duty_paused{%s}", labels)] = map[bool]float64{true: 1}[d.Paused != nil]
		want[fmt.Sprintf("hark_duty_silent{%s}", labels)] = map[bool]float64{true: 1}[d.Late]
	}
	for kind, n := range s.pages.needs {
		want[fmt.Sprintf("hark_needs{kind=%q}", kind)] = float64(n)
	}
	want["hark_fine"] = map[bool]float64{true: 1}[s.pages.fine]
	for name, v := range s.metrics {
		kind, _, _ := strings.Cut(name, "{")
		counts := slices.Contains([]string{"hark_runs", "hark_agents", "hark_duty_hosts"}, kind)
		if _, known := want[name]; known || v != 0 && counts {
			got[name] = v
		}
	}
	same("the commands (-) and the metrics (+)", want, got)
}

// needsDiffer compares the front page with what the commands say, and the exit code of `hark keeper status`.
func (m *team) needsDiffer(s seen, same func(what string, want, got any)) {
	want := map[string]int{}
	for kind := range s.pages.needs {
		want[kind] = 0
	}
	status := 0
	for _, d := range s.duties[m.anna.name] {
		want["failed"] += d.States["failed"]
		want["drifted"] += d.States["drifted"]
		for kind, is := range map[string]bool{"paused": d.Paused != nil, "stale": d.Stale != "", "silent": d.Late} {
			if is {
				want[kind]++
				status = 3
			}
		}
	}
	for _, a := range s.agents {
		if !a.Present {
			want["absent"]++
		}
		if a.Trouble != "" {
			want["trouble"]++
		}
	}
	done := map[string]bool{}
	for _, e := range s.runs[m.anna.name] { // the newest first
		key := e.Head.From + strings.Join(e.Head.Line, "\x00")
		if e.Head.Duty != "" || done[key] {
			continue
		}
		done[key] = true
		switch {
		case e.State == "lost":
			want["lost_runs"]++
		case e.State == "ended" && e.Foot != nil && e.Foot.Status != "ok":
			want["failed_runs"]++
		}
	}
	if s.pages.needs["unread"] > 0 { // a project that is stale is noted once more
		want["unread"] = s.pages.needs["unread"]
	}
	same("the commands (-) and the front page (+)", want, s.pages.needs)
	same("hark duties list (-) and the exit code of hark keeper status (+)", status, s.status)
	n := 0
	for _, v := range s.pages.needs {
		n += v
	}
	same("the figures of the front page (-) and whether it says that all is fine (+)", n == 0, s.pages.fine)
}

// hostsDiffer compares what hosts are like with what duties say of them.
func (m *team) hostsDiffer(s seen) (wrong []string) {
	for _, a := range s.agents {
		x, ok := m.hosts[a.Name]
		if !ok {
			continue
		}
		_, err := x.try(nil, "systemctl -q is-active hark-agent")
		if up := err == nil; up != a.Present {
			wrong = append(wrong, fmt.Sprintf("the agent of %s runs: %v, and is present: %v", a.Name, up, a.Present))
		}
	}
	for _, d := range s.duties[m.anna.name] {
		for _, h := range s.hosts[d.Name] {
			x, ok := m.hosts[h.Host]
			if !ok || h.State == "absent" || h.State == "failed" || h.State == "never" {
				continue
			}
			out, err := x.try(nil, "stat -c %Z /srv/site/conf /etc/motd; cat /srv/site/conf")
			if err != nil {
				continue // it is away, which nobody has noticed yet
			}
			lines := strings.SplitN(out, "\n", 3)
			version, known := m.commits[h.Commit]
			is := known && len(lines) == 3 && lines[2] == m.wanted(h.Host, version)
			later := len(lines) == 3 && max(lines[0], lines[1]) >= fmt.Sprint(h.At.Unix()-1)
			switch {
			case !known:
				wrong = append(wrong, fmt.Sprintf("%s says that %s has the commit %s, which was never made", d.Name, h.Host,
					h.Commit))
			case later && d.Mode == "check": // what it says is of before
			case is != (h.State == "kept" || h.State == "mended"):
				wrong = append(wrong, fmt.Sprintf("%s says that %s is %s with version %d; there is\n%s", d.Name, h.Host, h.State,
					version, out))
			}
		}
	}
	return wrong
}

//go:build hostile

package hostile

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hark/agent/wire"
)

// answered is a playbook in which hosts answer in most of the ways that there are, and others read what web1 has said.
var answered = project{
	"tree/a": "a\n", "sub.yml": "- debug: msg=included\n",
	"site.yml": `- hosts: all
  gather_facts: false
  tasks:
  - setup: {gather_subset: min}
  - command: echo one
    register: r
    ignore_errors: true
    notify: after
  - command: echo {{ item }}
    loop: [a, b]
    register: loop
    ignore_errors: true
  - command: echo until
    register: u
    until: u.rc is defined
    retries: 2
    delay: 0
    ignore_errors: true
  - set_fact: {port: "{{ r.rc | default(0) }}", cacheable: true}
  - slurp: {src: /etc/hostname}
    register: slurped
    ignore_errors: true
  - copy: {src: tree/, dest: "{{ playbook_dir }}-{{ inventory_hostname }}/"}
    check_mode: true
    ignore_errors: true
  - command: echo job
    async: 5
    poll: 1
    when: inventory_hostname != 'web1'
  - command: echo delegated
    delegate_to: web1
    when: inventory_hostname == 'web1'
    ignore_errors: true
  - group_by: {key: "role_{{ r.stdout | default('x') | string }}"}
  - include_tasks: sub.yml
  - debug: msg="{{ hostvars.web1.r is defined }} {{ (hostvars.web1 | to_json) is string }} {{ groups | length > 2 }}"
    when: inventory_hostname != 'web1'
  handlers:
  - name: after
    debug: msg=handled
- hosts: all
  gather_facts: false
  tasks:
  - command: echo end of {{ inventory_hostname }}
`,
}

// lyingAnswers are lies of a host that keeps to the protocol, each by what it is about. %s is a program that may not be
// run.
func lyingAnswers(witness string) map[string]lie {
	run := "{{ lookup('pipe', 'touch " + witness + "') }}"
	raw := func(text string) lie { return lie{Raw: json.RawMessage(text)} }
	fields := func(m map[string]any) lie { return lie{Result: m} }
	facts := func(v any) lie { return fields(map[string]any{"ansible_facts": v}) }
	line := "x\nok: [db1]\nfatal: [db1]: FAILED! => {}\r\x1b[2J\u009b2J\u202e\nPLAY RECAP ***\ndb1   : ok=0    failed=9"
	return map[string]lie{
		"keys that come twice":     raw(`{"changed":false,"changed":true,"stdout":"one","stdout":"` + run + `","ansible_facts":{},"ansible_facts":{"hark_agent":"db1"}}`),
		"enormous integers":        raw(`{"rc":` + strings.Repeat("9", 5000) + `,"changed":true,"attempts":-` + strings.Repeat("9", 400) + `}`),
		"numbers that are none":    raw(`{"rc":1e9999,"delta":-1e9999,"changed":1e-9999}`),
		"words for no number":      fields(map[string]any{"rc": "NaN", "changed": "Infinity", "failed": "-0", "skipped": "nan"}),
		"deep nesting":             raw(`{"changed":true,"deep":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`),
		"deep mappings":            raw(`{"ansible_facts":` + strings.Repeat(`{"a":`, 3000) + `1` + strings.Repeat("}", 3000) + `}`),
		"bytes that are no UTF-8":  raw("{\"changed\":true,\"stdout\":\"\xff\xfe\xc0\xaf\",\"\xff\":\"\xed\xa0\x80\"}"),
		"half surrogates and NUL":  raw(`{"changed":true,"stdout":"\ud800 \u0000","msg":"\udfff\ud800","\u0000":"\ud83d"}`),
		"no mapping":               raw(`[{"changed":true}]`),
		"a text for a result":      raw(`"changed"`),
		"nothing":                  raw(`null`),
		"flags of other types":     fields(map[string]any{"changed": []any{1}, "failed": map[string]any{"a": 1}, "skipped": 0.5, "unreachable": true, "rc": []any{}}),
		"lines of others in msg":   fields(map[string]any{"msg": line, "failed": true}),
		"lines of others in words": fields(map[string]any{"stdout": line, "stderr": line, "stdout_lines": []any{line}, "item": line}),
		"lines in an exception":    fields(map[string]any{"exception": line, "failed": true, "module_stdout": line, "module_stderr": line}),
		"lines in warnings": fields(map[string]any{"warnings": []any{line, 1, map[string]any{"a": line}}, "deprecations": []any{
			map[string]any{"msg": line, "version": line, "date": []any{line}, "collection_name": line}, line, 7}}),
		"warnings that are no list": fields(map[string]any{"warnings": map[string]any{"a": 1}, "deprecations": line}),
		"lines in a difference": fields(map[string]any{"diff": []any{map[string]any{"before": line, "after": line + "2", "before_header": line,
			"after_header": line, "prepared": line}, line, []any{1}}}),
		"facts in facts":         facts(map[string]any{"ansible_facts": map[string]any{"hark_agent": "db1"}, "ansible_local": map[string]any{"a": run}, "facts": run}),
		"facts of all hosts":     facts(map[string]any{"hostvars": map[string]any{"db1": map[string]any{"ansible_host": "web1"}}, "groups": map[string]any{"all": []any{"web1"}}, "vars": map[string]any{}}),
		"facts that are a list":  facts([]any{map[string]any{"hark_agent": "db1"}}),
		"facts that are a text":  facts("hark_agent=db1"),
		"names that are no name": facts(map[string]any{"": "x", " ": "x", "a b": "x", run: run, "__class__": "x", "a\nb": "x", strings.Repeat("n", 1<<20): 1}),
		"names that Python has":  facts(map[string]any{"self": "x", "range": "x", "lookup": "x", "query": "x", "omit": "x", "true": false, "none": 1, "loop": 1, "item": "db1"}),
		"marks of results": fields(map[string]any{"_ansible_no_log": false, "_ansible_item_label": line, "_ansible_delegated_vars": map[string]any{
			"ansible_delegated_host": "db1", "ansible_host": "db1"}, "_ansible_ignore_errors": true, "_ansible_parsed": false, "_ansible_notify": []any{"after", "none"}}),
		"a host that is added": fields(map[string]any{"add_host": map[string]any{"host_name": "evil", "groups": []any{"all", "role_one"}, "host_vars": map[string]any{"ansible_connection": "local"}},
			"add_group": "db1", "parent_groups": []any{"all"}}),
		"results of a loop that was none": fields(map[string]any{"results": []any{map[string]any{"item": line, "failed": true, "_ansible_item_result": true}, 1, nil}, "_ansible_loop": true}),
		"files and places": fields(map[string]any{"dest": "../../x", "src": "/etc/shadow", "path": "/etc", "remote_checksum": "0", "checksum": "x", "md5sum": nil,
			"content": "%%%", "encoding": run, "source": "/etc/shadow", "file": "/etc/shadow"}),
		"a job elsewhere": fields(map[string]any{"ansible_job_id": "../../../../etc/passwd", "results_file": "/etc/shadow", "finished": "no", "started": []any{}}),
		"includes and variables": fields(map[string]any{"include": "/etc/passwd", "include_args": map[string]any{"x": run}, "ansible_included_var_files": []any{"/etc/shadow"},
			"include_variables": map[string]any{"file": "/etc/shadow"}}),
		"a stop of all":              fields(map[string]any{"end_host": true, "meta": "end_play", "fail_all": true, "any_errors_fatal": true, "broken": true}),
		"types that were tagged":     fields(map[string]any{"stdout": map[string]any{"__ansible_type": "TrustedAsTemplate", "value": run, "__ansible_unsafe": run, "__ansible_vault": run}}),
		"variables of other hosts":   {Host: "db1", Layers: map[string]map[string]any{"facts": {"port": 1}, "set": {"r": run, "port": 1}, "include": {"x": 1}}},
		"variables of no host":       {Host: "nobody", Layers: map[string]map[string]any{"set": {"r": 1}, "": {"r": 1}, "magic": {"inventory_hostname": "db1"}, "extra": {"x": 1}}},
		"a register of another kind": {Layers: map[string]map[string]any{"set": {"r": run, "loop": 1, "d": []any{}, "slurped": nil, "u": map[string]any{"results": 1}}}},
	}
}

// events that lie of how a play goes.
var lyingEvents = map[string]func(*session, wire.Event) []wire.Event{
	"everything twice": func(_ *session, e wire.Event) []wire.Event { return []wire.Event{e, e} },
	"items of no loop": of(wire.Done, func(e *wire.Event) []wire.Event {
		one := *e
		one.Kind, one.Next = wire.Item, ""
		return []wire.Event{one, one, one, *e}
	}),
	"handlers that are not there": changedOutcome(func(o *wire.Outcome) { o.Notify = []string{"none", "after", "\nok: [db1]", "{{ x }}"} }),
	"labels of others": changedOutcome(func(o *wire.Outcome) {
		o.Item, o.Label = json.RawMessage(`"\nok: [db1]\u001b[2J"`), "\nok: [db1]\x1b[2J"
	}),
	"attempts without end": changedOutcome(func(o *wire.Outcome) { o.Attempts, o.Retries = 1<<62, -1 }),
	"files that were included": changedOutcome(func(o *wire.Outcome) {
		o.Included = []wire.Included{{Path: "/etc/passwd\nok: [db1]", Label: "\x1b[2J", Item: json.RawMessage(`{}`), Index: -1}}
	}),
	"delegated to others":  changedOutcome(func(o *wire.Outcome) { o.Delegated = "db1\nok: [db1]" }),
	"outcomes of no kind":  changedOutcome(func(o *wire.Outcome) { o.Status = "splendid" }),
	"no result at all":     changedOutcome(func(o *wire.Outcome) { o.Result = nil }),
	"a failure of all":     changedOutcome(func(o *wire.Outcome) { o.Status, o.FailAll, o.Meta = wire.StatusFailed, true, "end_play" }),
	"no outcome":           of(wire.Done, func(e *wire.Event) []wire.Event { e.Outcome = nil; return []wire.Event{*e} }),
	"names of tasks":       eachEvent(func(e *wire.Event) { e.Name = "\nok: [db1]\x1b[2J" }),
	"times of no calendar": eachEvent(func(e *wire.Event) { e.Time = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }),
	"steps that are not":   of(wire.Done, func(e *wire.Event) []wire.Event { e.Next = "99.9.9"; return []wire.Event{*e} }),
	"words of others": of(wire.Done, func(e *wire.Event) []wire.Event {
		w := wire.Event{Run: e.Run, Play: e.Play, Host: e.Host, Kind: wire.Warning, Step: e.Step, Time: e.Time, Text: "\nok: [db1]\n\x1b[2J\r[db1]"}
		out := w
		out.Kind = wire.Output
		return []wire.Event{w, out, *e}
	}),
}

func of(k wire.EventKind, f func(*wire.Event) []wire.Event) func(*session, wire.Event) []wire.Event {
	return func(_ *session, e wire.Event) []wire.Event {
		if e.Kind != k {
			return []wire.Event{e}
		}
		return f(&e)
	}
}

func withOutcome(e wire.Event, f func(*wire.Outcome)) wire.Event {
	o := *e.Outcome
	f(&o)
	e.Outcome = &o
	return e
}

func changedOutcome(f func(*wire.Outcome)) func(*session, wire.Event) []wire.Event {
	return of(wire.Done, func(e *wire.Event) []wire.Event { return []wire.Event{withOutcome(*e, f)} })
}

func eachEvent(f func(*wire.Event)) func(*session, wire.Event) []wire.Event {
	return func(_ *session, e wire.Event) []wire.Event { f(&e); return []wire.Event{e} }
}

// A host that lies in its answers, in whatever they hold, changes nothing for others: what they do, what is shown of
// them, what they are counted for, which files there are. Nothing of the controller breaks.
func TestLyingAnswersHarmNobodyElse(t *testing.T) {
	s := newSite(t)
	witness := s.witness()
	s.evil.reset()
	first := s.lay(maps.Clone(answered))
	flags := []string{"--diff"}
	control := s.playIn(first, flags...)
	if control.code != 0 {
		t.Fatal(control)
	}
	was := s.left(first)
	evil := map[string]func(){}
	for name, l := range lyingAnswers(witness) {
		evil[name] = func() { s.evil.lies(l) }
	}
	for name, f := range lyingEvents {
		evil["events, "+name] = func() {
			s.evil.mu.Lock()
			defer s.evil.mu.Unlock()
			s.evil.onEvent = f
		}
	}
	for name, lie := range evil {
		t.Run(name, func(t *testing.T) {
			dir := s.lay(maps.Clone(answered))
			s.evil.reset()
			lie()
			began := time.Now()
			o := s.playIn(dir, flags...)
			took := time.Since(began)
			for _, wrong := range harm(s, control, o, was, dir) {
				t.Error(wrong)
			}
			if t.Failed() {
				t.Logf("%v: %.6000s", took, o)
			}
		})
	}
	s.evil.reset()
	for _, command := range [][]string{{"runs", "list"}, {"runs", "show", "last"}} {
		if r := s.owner.hark(command...); r.code != 0 || strings.Contains(r.errs, "goroutine ") {
			t.Errorf("%v: %s", command, r)
		}
	}
}

// fared are the lines that tell of a host, sorted.
func fared(o outcome, host string) string {
	var lines []string
	of := regexp.MustCompile(`^(\w+: \[` + host + `[] ]|` + host + ` +:)`)
	for line := range strings.Lines(o.out) {
		if of.MatchString(line) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// harm is what a run with a host that lies has done to others.
func harm(s *site, control, o outcome, files map[string]string, dir string) []string {
	var wrong []string
	for _, host := range honest {
		was, is := fared(control, host), fared(o, host)
		lost := slices.DeleteFunc(strings.SplitAfter(was, "\n"), func(line string) bool { return strings.Contains(is, line) })
		if len(lost) > 0 { // a liar's own words may look like lines of others where no terminal shows them
			wrong = append(wrong, fmt.Sprintf("%s fared otherwise:\n%s\nwithout the lie:\n%s", host, is, was))
		}
	}
	if is := s.left(dir); !maps.Equal(files, is) {
		wrong = append(wrong, fmt.Sprintf("the project holds other files: %v", is))
	}
	text := o.out + o.errs
	for _, broken := range []string{"panic:", "goroutine "} {
		if strings.Contains(text, broken) {
			wrong = append(wrong, broken)
		}
	}
	if o.code != 0 && o.code != 2 && o.code != 4 {
		wrong = append(wrong, fmt.Sprintf("exit code %d", o.code))
	}
	return wrong
}

package duty

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hark/controller/internal/runs/rollout"
	"hark/modules/py/value"
	"hark/playbook/syntax"
)

// File is what a file of duties says.
type File struct {
	Duties []Duty
	// Notify is who is notified of duties that do not say it, and of the project itself. It is nil if the file does not
	// say it.
	Notify *Notify
}

// Read reads a file of duties: a list, or a mapping with that and notify. All that is wrong with it is one error,
// each with its place.
func Read(l *syntax.Loader, file string) (File, error) {
	n, err := l.Node(file)
	if err != nil {
		return File{}, err
	}
	r := &reader{file: file}
	var out File
	if n.Keys != nil && (n.Get("duties") != nil || n.Get("version") != nil) {
		r.known(n, "a file of duties", []string{"version", "duties", "notify"})
		if v := n.Get("version"); v != nil {
			r.version(v)
		}
		if v := n.Get("notify"); v != nil {
			out.Notify = r.notify(v)
		}
		n = r.list(n)
	}
	if n.Items == nil && !isNone(n) {
		r.fail(n, "duties are a list, each with name, play, hosts, every, at or once, and mode")
	}
	var all []Duty
	for _, item := range n.Items {
		d := r.duty(item)
		if i := slices.IndexFunc(all, func(other Duty) bool { return d.Name != "" && other.Name == d.Name }); i >= 0 {
			r.fail(item, "there are two duties %q: the other is at line %d", d.Name, all[i].Place.Line)
		}
		all = append(all, d)
	}
	if err := syntax.Join(r.errs...); err != nil {
		return File{}, err
	}
	out.Duties = all
	return out, nil
}

// known refuses keys that something does not have.
func (r *reader) known(n *syntax.Node, what string, keys []string) {
	for _, k := range n.Keys {
		if name, _ := value.Text(k.Value); !slices.Contains(keys, name) {
			r.fail(k, "%s has no %q: it may have %s", what, name, strings.Join(keys, ", "))
		}
	}
}

// Version is that of the file's format. It is raised when a keeper of before would do something else with a file of
// now.
const Version = 1

// version refuses a file of a newer format.
func (r *reader) version(at *syntax.Node) {
	switch v, ok := value.AsInt(at.Value); {
	case !ok || v < 1:
		r.fail(at, "version is a number, %d", Version)
	case v > Version:
		r.fail(at, "the file has version %d, this hark knows %d; upgrade hark", v, Version)
	}
}

// list returns the list of duties of a file that is a mapping.
func (r *reader) list(n *syntax.Node) *syntax.Node {
	if all := n.Get("duties"); all != nil {
		return all
	}
	r.fail(n, "a file with a version has its list under duties")
	return &syntax.Node{Items: []*syntax.Node{}}
}

// reader gathers what is wrong.
type reader struct {
	file string
	errs []error
}

func (r *reader) at(n *syntax.Node) syntax.Place {
	return syntax.Place{File: r.file, Line: n.Mark.Line, Column: n.Mark.Column}
}

func (r *reader) fail(n *syntax.Node, format string, a ...any) {
	p := r.at(n)
	r.errs = append(r.errs, &syntax.Error{Msg: p.String() + ": " + fmt.Sprintf(format, a...), Place: p})
}

// keys returns what a duty may have.
func keys() []string {
	return []string{"name", "play", "hosts", "every", "at", "once", "splay", "mode", "window", "catch_up", "at_once",
		"together", "stop_at", "after_changes", "ignore",
		"extra_vars", "tags", "skip_tags", "notify"}
}

func (r *reader) duty(n *syntax.Node) Duty {
	d := Duty{Place: r.at(n), AtOnce: DefaultAtOnce, CatchUp: defaultCatchUp}
	if n.Keys == nil {
		r.fail(n, "a duty is a mapping with name, play, hosts, every, at or once, and mode")
		return d
	}
	r.known(n, "a duty", keys())
	d.Name = r.needed(n, "name")
	if v := n.Get("name"); d.Name != "" && !validName(d.Name) {
		r.fail(v, "%q cannot be the name of a duty: letters, digits, - and _ within, at most %d", d.Name, longestName)
	}
	d.Play, d.Hosts = r.needed(n, "play"), r.needed(n, "hosts")
	if v := n.Get("play"); d.Play != "" && (strings.HasPrefix(d.Play, "/") ||
		slices.Contains(strings.Split(d.Play, "/"), "..")) {
		r.fail(v, "the play %q must lie in the project", d.Play)
	}
	switch d.Mode = Mode(r.needed(n, "mode")); d.Mode {
	case "", Check, Enforce:
	default:
		r.fail(n.Get("mode"), "mode is check or enforce, not %q", d.Mode)
	}
	r.limits(n, &d)
	d.Schedule = r.schedule(n, d.CatchUp)
	r.flags(n, &d)
	if v := n.Get("notify"); v != nil {
		d.Notify = r.notify(v)
	}
	return d
}

// schedule reads every, at or once, splay and window.
func (r *reader) schedule(n *syntax.Node, catchUp time.Duration) Schedule {
	var s Schedule
	every, at, once := n.Get("every"), n.Get("at"), n.Get("once")
	given := slices.DeleteFunc([]*syntax.Node{every, at, once}, func(v *syntax.Node) bool { return v == nil })
	switch {
	case len(given) == 0:
		r.fail(n, "the duty has neither every nor at nor once: when shall it be done?")
	case len(given) > 1:
		r.fail(given[1], "a duty has every, at or once, and not two of them")
	case once != nil:
		text, _ := r.text(once, "once")
		t, err := parseMoment(text)
		if text != "" && err != nil {
			r.fail(once, "once is a day and a time such as \"2026-12-01 03:00 Europe/Berlin\": %v", err)
		}
		s.Once, s.Splay = t, defaultAtSplay
	case every != nil:
		s.Every = r.span(every, "every")
		if s.Every > 0 && s.Every < time.Minute {
			r.fail(every, "every is a minute at least")
		}
		s.Splay = s.Every
	default:
		text, _ := r.text(at, "at")
		clock, err := parseClock(text)
		if text != "" && err != nil {
			r.fail(at, "at is a time of the day such as \"03:00\" or \"03:00 Europe/Berlin\": %v", err)
		}
		s.At, s.Splay = clock, defaultAtSplay
	}
	if v := n.Get("splay"); v != nil {
		s.Splay = r.span(v, "splay")
		if limit := s.period(); limit > 0 && s.Splay > limit {
			r.fail(v, "splay cannot be longer than the time from one turn to the next")
		}
	}
	s.Over = s.Splay + max(catchUp, time.Hour)
	if v := n.Get("window"); v != nil {
		text, _ := r.text(v, "window")
		w, err := parseWindow(text)
		if text != "" && err != nil {
			r.fail(v, "window is days, times and zone such as \"Mon-Fri 01:00-05:00 Europe/Berlin\": %v", err)
		}
		s.Window = w
	}
	return s
}

// limits reads what has a default.
func (r *reader) limits(n *syntax.Node, d *Duty) {
	if v := n.Get("catch_up"); v != nil {
		if text, _ := value.Text(v.Value); text == "never" {
			d.CatchUp = 0
		} else {
			d.CatchUp = r.span(v, "catch_up (a time, or never)")
		}
	}
	if v := n.Get("at_once"); v != nil {
		count, ok := v.Value.(value.Int)
		if d.AtOnce = int(count); !ok || d.AtOnce < 1 || d.AtOnce > 10_000 {
			r.fail(v, "at_once is a number of hosts from 1 to 10000")
		}
	}
	if v := n.Get("together"); v != nil {
		b, ok := v.Value.(value.Bool)
		if !ok {
			r.fail(v, "together is true or false")
		}
		d.Together, d.TogetherSaid = bool(b), true
	}
	if d.Mode == Enforce {
		d.StopAt = rollout.Share{Percent: defaultStopAt}
	}
	if v := n.Get("stop_at"); v != nil {
		if text, ok := r.text(v, "stop_at"); ok {
			share, err := rollout.ParseShare(text)
			if err != nil {
				r.fail(v, "stop_at: %v", err)
			}
			d.StopAt = share
		}
	}
	if v := n.Get("after_changes"); v != nil {
		if text, ok := r.text(v, "after_changes"); ok {
			all, err := rollout.Parse(text)
			if err != nil {
				r.fail(v, "after_changes: %v", err)
			}
			d.AfterChanges = all
		}
	}
	if v := n.Get("ignore"); v != nil {
		if v.Items == nil {
			r.fail(v, "ignore is a list of the names of tasks")
		}
		for _, item := range v.Items {
			if text, ok := r.text(item, "the name of a task in ignore"); ok {
				d.Ignore = append(d.Ignore, text)
			}
		}
	}
}

// flags reads what a turn's run is given.
func (r *reader) flags(n *syntax.Node, d *Duty) {
	d.Tags, d.SkipTags = r.texts(n, "tags"), r.texts(n, "skip_tags")
	v := n.Get("extra_vars")
	if v == nil || v.Keys == nil {
		d.Extra = r.texts(n, "extra_vars")
		return
	}
	if hasVault(v.Value) {
		r.fail(v, "extra_vars cannot hold values of vaults: name a file that does, as \"@secret.yml\"")
		return
	}
	d.Extra = []string{string(value.PlainJSON(v.Value))}
}

// hasVault reports whether a value is a string of a vault or holds one.
func hasVault(v value.Value) bool {
	switch v := v.(type) {
	case *value.Vault:
		return true
	case *value.List:
		return slices.ContainsFunc(v.Items, hasVault)
	case *value.Dict:
		found := false
		v.Each(func(_, of value.Value) bool {
			found = found || hasVault(of)
			return !found
		})
		return found
	}
	return false
}

// texts returns a text or a list of texts.
func (r *reader) texts(n *syntax.Node, key string) []string {
	v := n.Get(key)
	switch {
	case v == nil:
		return nil
	case v.Items == nil:
		if text, ok := r.text(v, key); ok {
			return []string{text}
		}
		return nil
	}
	var all []string
	for _, item := range v.Items {
		if text, ok := r.text(item, "an entry of "+key); ok {
			all = append(all, text)
		}
	}
	return all
}

// needed returns a text that must be there.
func (r *reader) needed(n *syntax.Node, key string) string {
	v := n.Get(key)
	if v == nil {
		r.fail(n, "the duty has no %s", key)
		return ""
	}
	text, _ := r.text(v, key)
	return text
}

// text returns a text or a number as text. It is false, and said, if it is neither or empty.
func (r *reader) text(n *syntax.Node, what string) (string, bool) {
	if text, ok := value.Text(n.Value); ok && strings.TrimSpace(text) != "" {
		if strings.Contains(text, "{{") || strings.Contains(text, "{%") {
			r.fail(n, "%s is a text and no template", what)
			return "", false
		}
		return strings.TrimSpace(text), true
	}
	switch v := n.Value.(type) {
	case value.Int:
		return fmt.Sprint(int64(v)), true
	case value.Float:
		return fmt.Sprint(float64(v)), true
	}
	r.fail(n, "%s must be a text", what)
	return "", false
}

func (r *reader) span(n *syntax.Node, what string) time.Duration {
	text, ok := r.text(n, what)
	if !ok {
		return 0
	}
	d, ok := Span(text)
	if !ok {
		r.fail(n, "%s is a time such as 90s, 30m, 1h30m or 7d, not %q", what, text)
	}
	return d
}

// longestName is of a duty: its name is a part of the broker's subjects.
const longestName = 64

func validName(name string) bool {
	return len(name) <= longestName && name[0] != '_' && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}

func isNone(n *syntax.Node) bool {
	_, none := n.Value.(value.None)
	return none
}

package result

import (
	"bytes"
	"strings"

	"hark/modules/py/value"
)

// Marks are what sessions, the controller and views need to know of a result beside what a module says. In a mapping
// they are keys that begin with "_ansible_", with Ansible's names, since callbacks in Python read them. Only this file
// reads and writes those.
type Marks struct {
	// NoLog says that nothing of the result may be shown.
	NoLog Flag
	// Verbose shows the whole result, whatever the verbosity. Quiet shows none of its members, whatever the verbosity.
	Verbose, Quiet Flag
	// OfItem says that it is the result of an item of a loop. Label is what is shown of the item, nil for nothing. Ignored
	// says that a failure is ignored, until the loop is summed up.
	OfItem  Flag
	Label   value.Value
	Ignored Flag
	// Parsed says that a module on a host returned it, which playbooks can see. It is not part of the mapping.
	Parsed bool
	// Retried says that the task is tried again.
	Retried Flag
	// Notify are the names of the handlers to notify if it has changed something; nil for none.
	Notify []string
	// Cacheable says that its facts are kept beyond the run.
	Cacheable Flag
	// Delegated are the variables of the host that did the task for another.
	Delegated *value.Dict
	// Events are the errors that led to a failure and FailedBy what failed, Module or Action; Notices are warnings and
	// deprecations. They exist at level 2.19 and later, a mapping each; nil or "" if there are none.
	Events   *value.List
	FailedBy string
	// Cause is why a module failed, where that differs from msg, at level 2.19 and later.
	Cause   string
	Notices *value.List
	// Secrets are texts to hide from now on (ansible-core 2.22): values of no_log arguments, and what register_secret
	// received.
	Secrets []string
}

// Flag is a mark that is set, not set, or absent: callbacks in Python distinguish the last two.
type Flag uint8

// The values of a Flag.
const (
	Unsaid Flag = iota
	No
	Yes
)

// FlagOf returns Yes or No.
func FlagOf(holds bool) Flag {
	if holds {
		return Yes
	}
	return No
}

// On reports whether it is set.
func (f Flag) On() bool { return f == Yes }

// The keys.
const (
	prefix    = "_ansible_"
	noLog     = prefix + "no_log"
	verbose   = prefix + "verbose_always"
	quiet     = prefix + "verbose_override"
	ofItem    = prefix + "item_result"
	label     = prefix + "item_label"
	ignored   = prefix + "ignore_errors"
	retried   = prefix + "retry"
	notify    = prefix + "notify"
	cacheable = prefix + "facts_cacheable"
	delegated = prefix + "delegated_vars"
	events    = prefix + "events"
	failedBy  = prefix + "failed_by"
	cause     = prefix + "cause"
	notices   = prefix + "notices"
	secrets   = NewSecrets
)

// Gathered is the fact that shows Ansible that the facts of a host were gathered.
const Gathered = prefix + "facts_gathered"

// Internal reports whether playbooks are not meant to see a key: that of a mark, or one that a plug-in keeps for
// itself.
func Internal(key string) bool { return strings.HasPrefix(key, prefix) }

// Write adds the marks to a mapping.
func (m *Marks) Write(d *value.Dict) {
	m.each(func(key, v value.Value) { d.SetKey(key, v) })
}

// size returns about how many bytes they take as JSON, and no fewer.
func (m *Marks) size() int {
	n := 0
	m.each(func(key, v value.Value) { n += value.ShortSize(key) + value.ShortSize(v) })
	return n
}

// each calls f with the marks that are set, by their keys.
func (m *Marks) each(f func(key, v value.Value)) {
	m.eachShown(f)
	m.OfItem.give(f, value.Str(ofItem))
	m.Ignored.give(f, value.Str(ignored))
	m.Retried.give(f, value.Str(retried))
	if m.Notify != nil {
		f(value.Str(notify), value.FromGo(m.Notify, value.KindStr))
	}
	m.Cacheable.give(f, value.Str(cacheable))
	if m.Delegated != nil {
		f(value.Str(delegated), m.Delegated)
	}
	if m.Events != nil {
		f(value.Str(events), m.Events)
	}
	if m.FailedBy != "" {
		f(value.Str(failedBy), value.Str(m.FailedBy))
	}
	if m.Cause != "" {
		f(value.Str(cause), value.Str(m.Cause))
	}
	if m.Notices != nil {
		f(value.Str(notices), m.Notices)
	}
	if m.Secrets != nil {
		f(value.Str(secrets), value.FromGo(m.Secrets, value.KindStr))
	}
}

// eachShown calls f with the marks that Ansible leaves in what views print as data.
func (m *Marks) eachShown(f func(key, v value.Value)) {
	m.NoLog.give(f, value.Str(noLog))
	m.Verbose.give(f, value.Str(verbose))
	m.Quiet.give(f, value.Str(quiet))
	if m.Label != nil {
		f(value.Str(label), m.Label)
	}
}

func (f Flag) give(to func(key, v value.Value), key value.Value) {
	if f != Unsaid {
		to(key, value.Bool(f == Yes))
	}
}

// read reads an entry of a mapping; it returns false if that is no mark.
func (m *Marks) read(key string, v value.Value) bool {
	switch key {
	case noLog:
		m.NoLog = flagIn(v)
	case verbose:
		m.Verbose = flagIn(v)
	case quiet:
		m.Quiet = flagIn(v)
	case ofItem:
		m.OfItem = flagIn(v)
	case label:
		m.Label = v
	case ignored:
		m.Ignored = flagIn(v)
	case retried:
		m.Retried = flagIn(v)
	case notify:
		m.Notify = names(v)
	case cacheable:
		m.Cacheable = flagIn(v)
	case delegated:
		m.Delegated, _ = v.(*value.Dict)
	case events:
		m.Events, _ = v.(*value.List)
	case failedBy:
		m.FailedBy, _ = value.Text(v)
	case cause:
		m.Cause, _ = value.Text(v)
	case notices:
		m.Notices, _ = v.(*value.List)
	case secrets:
		m.Secrets = names(v)
	default:
		return false
	}
	return true
}

// flagIn returns a flag of a mapping. Plug-ins in Python may put any value there.
func flagIn(v value.Value) Flag { return FlagOf(value.IsTrue(v)) }

func names(v value.Value) []string {
	l, ok := v.(*value.List)
	if !ok {
		return nil
	}
	out := make([]string, 0, len(l.Items))
	for _, item := range l.Items {
		name, _ := value.Text(item)
		out = append(out, name)
	}
	return out
}

// take reads the marks of a mapping, and returns it without them. It returns a mapping without marks unchanged.
func (m *Marks) take(d *value.Dict) *value.Dict {
	if !marked(d) {
		return d
	}
	rest := value.NewDict()
	for i := range d.Len() {
		k, v := d.Kept(i)
		if name, ok := value.Text(k); !ok || !Internal(name) || !m.read(name, v) {
			rest.SetKey(k, v)
		}
	}
	return rest
}

// marked reports whether a mapping has any internal key. Most have none.
func marked(d *value.Dict) bool {
	for i := range d.Len() {
		k, _ := d.Kept(i)
		if name, ok := value.Text(k); ok && Internal(name) {
			return true
		}
	}
	return false
}

// MayHaveMarks reports whether JSON may have marks anywhere, in any escaped form.
func MayHaveMarks(text []byte) bool {
	return bytes.Contains(text, []byte(prefix)) || bytes.Contains(text, []byte(`\u00`))
}

// OfHouse reports whether a key is that of a mark which only sessions and the controller set, and no module.
func OfHouse(key string) bool {
	switch key {
	case ofItem, label, ignored, retried, notify, cacheable, delegated:
		return true
	}
	return false
}

// NewSecrets is the key under which modules of ansible-core 2.22 name the secrets in their results.
const NewSecrets = prefix + "new_secrets"

package result

import (
	"bytes"
	"strings"

	"hark/modules/py/value"
)

// Marks are what stands beside what a module says: what sessions, the controller and views go by. In a mapping they
// are keys that begin with "_ansible_", by the names that they have in Ansible, since callbacks in Python read them.
// Only this file reads and writes those.
type Marks struct {
	// NoLog: nothing of the result may be told.
	NoLog Flag
	// Verbose: it is shown whole, whatever the verbosity. Quiet: its members are not shown, whatever the verbosity.
	Verbose, Quiet Flag
	// OfItem: it is the result of an item of a loop. Label is what is shown of the item, nil for nothing. Ignored: a
	// failure of it is ignored, until the loop is summed up.
	OfItem  Flag
	Label   value.Value
	Ignored Flag
	// Parsed: a module on a host has returned it, and playbooks are told so. It is kept beside the mapping alone.
	Parsed bool
	// Retried: the task is tried again.
	Retried Flag
	// Notify are the names of the handlers that are notified if it has changed something; nil for none.
	Notify []string
	// Cacheable: facts in it are kept beyond the run.
	Cacheable Flag
	// Delegated are the variables of the host that has done the task for another.
	Delegated *value.Dict
	// Events are the errors that led to a failure and FailedBy what failed, Module or Action; Notices are warnings
	// and deprecations. They are of the tagged language, a mapping each; nil or "" where there are none.
	Events   *value.List
	FailedBy string
	// Cause is why a module failed, where that stands apart from what msg says. It is of the tagged language.
	Cause   string
	Notices *value.List
	// Secrets are texts that are hidden from now on wherever they would be shown (ansible-core 2.22): values of
	// no_log arguments, what register_secret was given.
	Secrets []string
}

// Flag is a mark that holds, does not, or is not there: callbacks in Python tell the last two apart.
type Flag uint8

// The values of a Flag.
const (
	Unsaid Flag = iota
	No
	Yes
)

// FlagOf is Yes or No.
func FlagOf(holds bool) Flag {
	if holds {
		return Yes
	}
	return No
}

// On reports whether it holds.
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

// Gathered is the fact by which Ansible knows that the facts of a host were gathered.
const Gathered = prefix + "facts_gathered"

// Internal reports whether a key is none that playbooks are meant to see: that of a mark, or one that a plug-in keeps
// for itself.
func Internal(key string) bool { return strings.HasPrefix(key, prefix) }

// Write puts the marks into a mapping.
func (m *Marks) Write(d *value.Dict) {
	m.each(func(key, v value.Value) { d.SetKey(key, v) })
}

// size is about how many bytes they take as JSON, and no fewer.
func (m *Marks) size() int {
	n := 0
	m.each(func(key, v value.Value) { n += value.ShortSize(key) + value.ShortSize(v) })
	return n
}

// each gives the marks that are there, by their keys.
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

// eachShown gives those that Ansible leaves in what views print as data.
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

// read takes in an entry of a mapping; false is that it is no mark.
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

// flagIn is a flag that a mapping has; plug-ins in Python may put there what they like.
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

// take reads the marks of a mapping, and gives it without them. One that has none comes back as it is.
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

// marked reports whether a mapping has any internal key: most have none.
func marked(d *value.Dict) bool {
	for i := range d.Len() {
		k, _ := d.Kept(i)
		if name, ok := value.Text(k); ok && Internal(name) {
			return true
		}
	}
	return false
}

// MayHaveMarks reports whether JSON may have marks anywhere, however they are written.
func MayHaveMarks(text []byte) bool {
	return bytes.Contains(text, []byte(prefix)) || bytes.Contains(text, []byte(`\u00`))
}

// OfHouse reports whether a key is that of a mark which sessions and the controller set, and no module.
func OfHouse(key string) bool {
	switch key {
	case ofItem, label, ignored, retried, notify, cacheable, delegated:
		return true
	}
	return false
}

// NewSecrets is the key under which modules of ansible-core 2.22 name the secrets in their results.
const NewSecrets = prefix + "new_secrets"

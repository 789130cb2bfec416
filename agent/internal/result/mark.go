package result

import "hark/modules/py/value"

// Mark is a key of a result that is not the module's: what the session, the controller and views go by. They have the names that Ansible's
// have, since callbacks in Python read them. A result is given them here, and nowhere else.
type Mark string

// The marks.
const (
	// NoLog: nothing of the result may be told.
	NoLog Mark = "_ansible_no_log"
	// OfItem: it is the result of an item of a loop; ItemLabel is what is shown of the item; IgnoredItem that a failure of it is ignored, until the
	// loop is summed up.
	OfItem      Mark = "_ansible_item_result"
	ItemLabel   Mark = "_ansible_item_label"
	IgnoredItem Mark = "_ansible_ignore_errors"
	// Notify are the names of the handlers that it notifies if it has changed something.
	Notify Mark = "_ansible_notify"
	// Cacheable: facts in it are kept beyond the run.
	Cacheable Mark = "_ansible_facts_cacheable"
	// Delegated are the variables of the host that has done the task for another.
	Delegated Mark = "_ansible_delegated_vars"
	// Retried: the task is tried again.
	Retried Mark = "_ansible_retry"
	// Verbose: it is shown whole, whatever the verbosity.
	Verbose Mark = "_ansible_verbose_always"
	// Events and FailedBy are what led to an error, in the tagged language.
	Events   Mark = "_ansible_events"
	FailedBy Mark = "_ansible_failed_by"
)

// Set gives a result the mark.
func (m Mark) Set(res *value.Dict, v value.Value) { res.Set(string(m), v) }

// Of is what a result has of the mark, nil for nothing.
func (m Mark) Of(res *value.Dict) value.Value {
	v, _ := res.Get(string(m))
	return v
}

// On tells whether a result has the mark and it holds.
func (m Mark) On(res *value.Dict) bool {
	v, ok := res.Get(string(m))
	return ok && value.IsTrue(v)
}

// Take is On, and takes the mark away.
func (m Mark) Take(res *value.Dict) bool {
	on := m.On(res)
	res.Delete(value.Str(string(m)))
	return on
}

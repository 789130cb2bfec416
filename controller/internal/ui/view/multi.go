package view

import "errors"

// All returns a view that hands everything to several, in order.
func All(views ...View) View { return multi(views) }

type multi []View

func (m multi) each(f func(View)) {
	for _, v := range m {
		f(v)
	}
}

func (m multi) PlaybookStart(path string)     { m.each(func(v View) { v.PlaybookStart(path) }) }
func (m multi) PlayStart(p Play)              { m.each(func(v View) { v.PlayStart(p) }) }
func (m multi) NoHostsMatched()               { m.each(func(v View) { v.NoHostsMatched() }) }
func (m multi) NoHostsRemaining()             { m.each(func(v View) { v.NoHostsRemaining() }) }
func (m multi) TaskStart(t Task)              { m.each(func(v View) { v.TaskStart(t) }) }
func (m multi) HostStart(t Task, host string) { m.each(func(v View) { v.HostStart(t, host) }) }
func (m multi) ItemDone(r Result)             { m.each(func(v View) { v.ItemDone(r) }) }
func (m multi) Retry(r Result)                { m.each(func(v View) { v.Retry(r) }) }
func (m multi) Done(r Result)                 { m.each(func(v View) { v.Done(r) }) }
func (m multi) Included(t Task, in Include)   { m.each(func(v View) { v.Included(t, in) }) }
func (m multi) Notified(handler, host string) { m.each(func(v View) { v.Notified(handler, host) }) }
func (m multi) Progress(r Result)             { m.each(func(v View) { v.Progress(r) }) }
func (m multi) AsyncDone(r Result)            { m.each(func(v View) { v.AsyncDone(r) }) }
func (m multi) Stats(s Stats)                 { m.each(func(v View) { v.Stats(s) }) }

func (m multi) Close() error {
	var errs []error
	m.each(func(v View) { errs = append(errs, v.Close()) })
	return errors.Join(errs...)
}

// Silent is a view that shows nothing. Views that care for a few calls embed it.
type Silent struct{}

func (Silent) PlaybookStart(string)    {}
func (Silent) PlayStart(Play)          {}
func (Silent) NoHostsMatched()         {}
func (Silent) NoHostsRemaining()       {}
func (Silent) TaskStart(Task)          {}
func (Silent) HostStart(Task, string)  {}
func (Silent) ItemDone(Result)         {}
func (Silent) Retry(Result)            {}
func (Silent) Done(Result)             {}
func (Silent) Included(Task, Include)  {}
func (Silent) Notified(string, string) {}
func (Silent) Progress(Result)         {}
func (Silent) AsyncDone(Result)        {}
func (Silent) Stats(Stats)             {}
func (Silent) Close() error            { return nil }

package runner

import (
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/modules/result"
)

// notice is a warning or a deprecation of the tagged language that is told with the result of a task, with what it is
// about.
type notice struct {
	link
	until string // the ansible-core that does not have it any more; of a deprecation
}

// notices are what is to be told with the next result; shared by the evals of a task.
type notices struct {
	list []notice
	// secrets are the new ones, and hidden what takes them; nil in a language that hides none.
	secrets []string
	hidden  *mask.Masker
}

// Add makes texts secrets, for filters.
func (ns *notices) Add(texts ...string) []string {
	fresh := ns.hidden.Add(texts...)
	ns.secrets = append(ns.secrets, fresh...)
	return fresh
}

// TextAs is s without secrets, for filters. A session knows its own ones.
func (ns *notices) TextAs(s, placeholder string) string { return ns.hidden.TextAs(s, placeholder) }

// deprecated notes a deprecation of a template or condition.
func (ns *notices) deprecated(msg, help, src, version string) {
	ns.note(link{msg: msg, help: help, spot: spot{text: src, nowhere: src == ""}}, version)
}

// warned notes a warning of a template or condition.
func (ns *notices) warned(msg, help, src string) {
	ns.note(link{msg: msg, help: help, spot: spot{text: src, nowhere: src == ""}}, "")
}

// note notes what is told with the result, once.
func (ns *notices) note(l link, until string) {
	n := notice{l, until}
	for _, known := range ns.list {
		if known == n {
			return
		}
	}
	ns.list = append(ns.list, n)
}

// confide has a result tell the secrets that are new with it.
func (ns *notices) confide(res *result.Result) {
	ns.hidden.Add(res.Secrets...)
	res.Secrets, ns.secrets = append(res.Secrets, ns.secrets...), nil
}

// put puts what was noted since into a result.
func (ns *notices) put(res *result.Result) {
	ns.confide(res)
	if len(ns.list) == 0 {
		return
	}
	list := value.NewList()
	for _, n := range ns.list {
		d := n.event()
		d.Set("deprecated", value.Bool(n.until != ""))
		if n.until != "" {
			d.Set("until", value.Str(n.until))
		}
		list.Items = append(list.Items, d)
	}
	ns.list = nil
	res.Notices = list
}

package runner

import (
	"hark/modules/mask"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
)

// notice is a warning or a deprecation of the tagged language, which is reported with the result of a task.
type notice struct {
	link
	until string // of a deprecation: the first ansible-core without the feature
}

// notices are reported with the next result; the evals of a task share them.
type notices struct {
	list []notice
	// secrets are the new ones; hidden collects them, nil at a level that hides none.
	secrets []string
	hidden  *mask.Masker
}

// Add makes texts secrets, for filters.
func (ns *notices) Add(texts ...string) []string {
	fresh := ns.hidden.Add(texts...)
	ns.secrets = append(ns.secrets, fresh...)
	return fresh
}

// TextAs returns s without secrets, for filters. A session knows only its own.
func (ns *notices) TextAs(s, placeholder string) string { return ns.hidden.TextAs(s, placeholder) }

// deprecated notes a deprecation of a template or condition; item is that of the loop, nil outside loops.
func (ns *notices) deprecated(d templar.Deprecation, item *loopItem) {
	l := link{msg: d.Msg, help: d.Help, of: d.Of, variable: d.Var, spot: spot{text: d.Src, nowhere: d.Src == ""}}
	l.ofItem(item)
	ns.note(l, d.Version)
}

// warned notes a warning of a template or condition.
func (ns *notices) warned(msg, help, src string) {
	ns.note(link{msg: msg, help: help, spot: spot{text: src, nowhere: src == ""}}, "")
}

// note adds a notice to the next result, once.
func (ns *notices) note(l link, until string) {
	n := notice{l, until}
	for _, known := range ns.list {
		if known == n {
			return
		}
	}
	ns.list = append(ns.list, n)
}

// addSecrets adds to a result the names of its new secrets.
func (ns *notices) addSecrets(res *result.Result) {
	ns.hidden.Add(res.Secrets...)
	res.Secrets, ns.secrets = append(res.Secrets, ns.secrets...), nil
}

// put writes the notices so far into a result.
func (ns *notices) put(res *result.Result) {
	ns.addSecrets(res)
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

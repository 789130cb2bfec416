package runner

import (
	"hark/modules/py/value"
	"hark/modules/result"
)

// notice is a warning or a deprecation of the tagged language that is told with the result of a task, with what it is about.
type notice struct {
	link
	deprecated bool
}

// deprecated notes a deprecation of a template or condition.
func (e *eval) deprecated(msg, help, src string) {
	e.note(link{msg, help, spot{text: src, nowhere: src == ""}}, true)
}

// note notes what is told with the result, once.
func (e *eval) note(l link, deprecated bool) {
	n := notice{l, deprecated}
	for _, known := range *e.notices {
		if known == n {
			return
		}
	}
	*e.notices = append(*e.notices, n)
}

// putNotices puts what was noted since into a result.
func (e *eval) putNotices(res *result.Result) {
	if len(*e.notices) == 0 {
		return
	}
	list := value.NewList()
	for _, n := range *e.notices {
		d := n.event()
		d.Set("deprecated", value.Bool(n.deprecated))
		list.Items = append(list.Items, d)
	}
	*e.notices = nil
	res.Notices = list
}

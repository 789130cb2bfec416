package runner

import (
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
)

// link is one of the errors that led to a failure, as ansible-core 2.19 tells of it.
type link struct {
	msg string
	// help is what can be done, if there is a word on it.
	help string
	// apart: it is told apart from what it led to, also where both are about the same.
	apart bool
	// of: the message names the place of a value, which is told on the screen only: that of the variable, by the path
	// to it, or of the spot.
	of       bool
	variable string
	item     int  // of a loop's variable: which of the items it is, from 1
	unsaid   bool // only the place is told, in what the result says
	// spot is what it is about, the task itself if nothing is said.
	spot
}

// spot is what an error is about.
type spot struct {
	text    string // of a template
	key     string // of the task or its arguments
	name    string // of a variable, where it is given a value
	value   bool   // what stands at the key
	file    string // of the controller
	nowhere bool   // nothing is said of it
}

// linksOf are the errors as which an error of a template is told.
func linksOf(err error) []link {
	var out []link
	for _, part := range templar.Parts(err) {
		out = append(out, link{msg: part.Msg, help: helpOf(err), of: part.Of, variable: part.Var, spot: spot{text: part.Src}})
	}
	return out
}

// helpOf is what can be done about an error of a class.
func helpOf(err error) string {
	switch templar.ErrorClass(err) {
	case "AnsibleBrokenConditionalError":
		return "Broken conditionals can be temporarily allowed with the `ALLOW_BROKEN_CONDITIONALS` configuration option."
	case "TemplateTrustCheckFailedError":
		return "Templates and expressions must be defined by trusted sources such as playbooks or roles, not untrusted sources such as module results."
	}
	return ""
}

// has reports whether the play is in a language that has a change.
func (e *eval) has(c *dialect.Change) bool { return e.g.play.Level.Has(c) }

// taskFault is the fault that links lead to.
func taskFault(err error, links ...link) *fault {
	return &fault{text: brief(links), kind: errorKind(err), class: templar.QualifiedClass(err), links: links}
}

// under is the fault with a link around it.
func (f *fault) under(outer ...link) *fault {
	out := *f
	out.links = append(append([]link(nil), outer...), f.links...)
	if len(f.links) == 0 {
		out.links = append(out.links, link{msg: f.text})
	}
	out.text = brief(out.links)
	return &out
}

// brief is the message of all links in one line.
func brief(links []link) string {
	msg := links[len(links)-1].msg
	for i := len(links) - 2; i >= 0; i-- {
		if outer := links[i].msg; strings.HasSuffix(outer, msg) {
			msg = outer
		} else {
			msg = strings.TrimRight(outer, ".") + ": " + msg
		}
	}
	return msg
}

// tell puts a fault of a task into its result.
func (f *fault) tell(res *result.Result) {
	task := link{msg: "Task failed."}
	whole := f
	if len(f.links) == 0 || f.links[0] != task && !f.bare {
		whole = f.under(task)
	}
	res.Set("msg", value.UnsafeStr(whole.text))
	say(res, whole.links...)
}

// event is the link as results have it.
func (l link) event() *value.Dict {
	d := value.NewDict()
	d.Set("msg", value.UnsafeStr(l.msg))
	for _, part := range []struct{ name, text string }{{"help", l.help}, {"var", l.variable}, {"text", l.text}, {"key", l.key}, {"name", l.name}, {"file", l.file}} {
		if part.text != "" {
			d.Set(part.name, value.UnsafeStr(part.text))
		}
	}
	for _, mark := range []struct {
		name string
		on   bool
	}{{"value", l.value}, {"nowhere", l.nowhere}, {"apart", l.apart}, {"of", l.of}, {"unsaid", l.unsaid}} {
		if mark.on {
			d.Set(mark.name, value.Bool(true))
		}
	}
	if l.item > 0 {
		d.Set("item", value.Int(l.item))
	}
	return d
}

// withoutEvents is a result as playbooks see it, without the keys that are for the screen.
func (t *task) withoutEvents(res *result.Result) *value.Dict {
	if !t.base.has(dialect.FailureCauses) {
		return res.Whole()
	}
	out := *res
	out.Events, out.FailedBy = nil, ""
	whole := out.Whole()
	if res.Parsed {
		whole.Set("ansible_parsed", value.Bool(true))
	}
	return whole
}

// traced gives a failed result the key by which playbooks of the tagged language know one.
func (t *task) traced(res *result.Result) {
	silent := t.base.has(dialect.RetriesLeft) && res.Events != nil && len(res.Events.Items) == 0
	if t.base.has(dialect.ResultException) && !res.Has("exception") && res.Failed() && !silent {
		res.Set("exception", value.UnsafeStr("(traceback unavailable)"))
	}
}

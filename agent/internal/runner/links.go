package runner

import (
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
)

// link is one of the errors that led to a failure, as ansible-core 2.19 reports them.
type link struct {
	msg string
	// help says what can be done, if anything is known.
	help string
	// apart says that it is shown apart from what it led to, even if both are about the same.
	apart bool
	// of says that the message names the place of a value, which only the screen shows: that of the variable, by the path
	// to it, or of the spot.
	of       bool
	variable string
	item     int  // of a loop's variable: the number of the item, from 1
	unsaid   bool // the result shows only the place
	// spot is what it is about; the zero value is the task itself.
	spot
}

// spot is what an error is about.
type spot struct {
	text    string // of a template
	key     string // of the task or its arguments
	name    string // of a variable, where it is given a value
	value   bool   // the value of the key
	file    string // of the controller
	nowhere bool   // it has no place
}

// linksOf returns the errors as which an error of a template is reported.
func linksOf(err error) []link {
	var out []link
	for _, part := range templar.Parts(err) {
		at := spot{text: part.Src}
		if part.File != "" {
			at = spot{file: part.File}
		}
		out = append(out, link{msg: part.Msg, help: helpOf(err), of: part.Of, variable: part.Var, spot: at})
	}
	return out
}

// ofItem says which item of a loop the value is, if it is of the loop's variable; item is nil outside loops.
func (l *link) ofItem(item *loopItem) {
	if name, _, _ := strings.Cut(l.variable, "."); item != nil && item.vars.Has(name) {
		l.item = item.n
	}
}

// helpOf returns what can be done about an error of a class.
func helpOf(err error) string {
	switch templar.ErrorClass(err) {
	case "AnsibleBrokenConditionalError":
		return "Broken conditionals can be temporarily allowed with the `ALLOW_BROKEN_CONDITIONALS` configuration option."
	case "TemplateTrustCheckFailedError":
		return "Templates and expressions must be defined by trusted sources such as playbooks or roles, not untrusted " +
			"sources such as module results."
	}
	return ""
}

// has reports whether the play's level has a change.
func (e *eval) has(c *dialect.Change) bool { return e.g.play.Level.Has(c) }

// taskFault returns the fault that links lead to.
func taskFault(err error, links ...link) *fault {
	return &fault{text: brief(links), kind: errorKind(err), class: templar.QualifiedClass(err), links: links}
}

// under returns the fault with a link around it.
func (f *fault) under(outer ...link) *fault {
	out := *f
	out.links = append(append([]link(nil), outer...), f.links...)
	if len(f.links) == 0 {
		out.links = append(out.links, link{msg: f.text})
	}
	out.text = brief(out.links)
	return &out
}

// brief returns the messages of all links in one line.
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

// tell writes a fault of a task into its result.
func (f *fault) tell(res *result.Result) {
	task := link{msg: "Task failed."}
	whole := f
	if len(f.links) == 0 || f.links[0] != task && !f.bare {
		whole = f.under(task)
	}
	res.Set("msg", value.UnsafeStr(whole.text))
	say(res, whole.links...)
}

// event returns the link in the form of results.
func (l link) event() *value.Dict {
	d := value.NewDict()
	d.Set("msg", value.UnsafeStr(l.msg))
	for _, part := range []struct{ name, text string }{{"help", l.help}, {"var", l.variable}, {"text", l.text},
		{"key", l.key}, {"name", l.name}, {"file", l.file}} {
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

// withoutEvents returns a result as playbooks see it, without the keys that are for the screen.
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

// traced adds to a failed result the key that shows playbooks of the tagged language that it failed.
func (t *task) traced(res *result.Result) {
	silent := t.base.has(dialect.RetriesLeft) && res.Events != nil && len(res.Events.Items) == 0
	if t.base.has(dialect.ResultException) && res.Failed() && !silent {
		excepted(res)
	}
}

// excepted adds the key.
func excepted(res *result.Result) {
	if !res.Has("exception") {
		res.Set("exception", value.UnsafeStr("(traceback unavailable)"))
	}
}

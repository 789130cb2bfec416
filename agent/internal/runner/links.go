package runner

import (
	"strings"

	"hark/agent/internal/result"
	"hark/modules/py/value"
	"hark/playbook/jinja/templar"
)

// link is one of the errors that led to a failure, as ansible-core 2.19 tells of it.
type link struct {
	msg string
	// at is the text of the template that it is about, "" for the task itself.
	at string
	// help is what can be done, if there is a word on it.
	help string
}

// eventsKey is where a result keeps the errors that led to its failure: lists of a message and the text that it is about.
const eventsKey = "_ansible_events"

// byKey is where a result keeps what failed, Module or Action.
const byKey = "_ansible_failed_by"

// helpOf is what can be done about an error of a class.
func helpOf(err error) string {
	if templar.ErrorClass(err) == "AnsibleBrokenConditionalError" {
		return "Broken conditionals can be temporarily allowed with the `ALLOW_BROKEN_CONDITIONALS` configuration option."
	}
	return ""
}

// tagged tells that the play is in the language of ansible-core 2.19.
func (e *eval) tagged() bool { return e.r.doc.Play.Level.Tagged() }

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
func (f *fault) tell(res *value.Dict) {
	task := link{msg: "Task failed."}
	whole := f
	if len(f.links) == 0 || f.links[0] != task {
		whole = f.under(task)
	}
	res.Set("msg", value.UnsafeStr(whole.text))
	events := value.NewList()
	for _, l := range whole.links {
		events.Items = append(events.Items, value.NewList(value.UnsafeStr(l.msg), value.UnsafeStr(l.at), value.UnsafeStr(l.help)))
	}
	res.Set(eventsKey, events)
}

// noteFailure notes what failed: the module of the task, or what stands for it on the controller.
func (x *execution) noteFailure(res *value.Dict) {
	by := "Module"
	switch strings.TrimPrefix(x.e.s.Action, "ansible.builtin.") {
	case "debug", "fail", "assert", "set_fact", "set_stats", "add_host", "group_by", "include_vars", "pause", "raw", "script", "fetch",
		"wait_for_connection", "reboot", "validate_argument_spec", "meta":
		by = "Action"
	}
	res.Set(byKey, value.Str(by))
}

// withoutEvents is a result as playbooks see it, without the keys that are for the screen.
func (t *task) withoutEvents(res *value.Dict) *value.Dict {
	if !t.base.tagged() {
		return res
	}
	out := res.Copy()
	out.Delete(value.Str(eventsKey))
	out.Delete(value.Str(byKey))
	return out
}

// traced gives a failed result the key by which playbooks of the tagged language know one.
func (t *task) traced(res *value.Dict) {
	failed, _ := res.Get("failed")
	if _, known := res.Get("exception"); t.base.tagged() && !known && result.True(failed) {
		res.Set("exception", value.UnsafeStr("(traceback unavailable)"))
	}
}

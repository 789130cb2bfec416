package syntax

import (
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
)

// task reads a task; it returns nil if it is too malformed.
func (r *reader) task(n *Node) *Task {
	what := "Task"
	keywords := taskKeywords
	if r.handlers {
		what, keywords = "Handler", handlerKeywords
	}
	o := object{n, r.place(n), what}
	t := &Task{Place: o.at, Handler: r.handlers, Args: value.NewDict()}
	t.Collections = r.ownCollections(o)
	defer r.inherit(t.Collections)()
	action := actionReader{report: r.report, grammar: r.g, object: o, task: t, collections: r.collections}
	actionKey, ok := action.read(keywords)
	if !ok {
		return nil
	}
	if r.isInclude(t.Action) {
		o.what = includeClass(t.Action, r.handlers)
	}
	t.Attrs = Attrs{}
	r.taskAttrs(o, t, keywords, actionKey)
	t.Vars, t.Tags = r.vars(o), r.tags(o)
	if name := t.Attrs.Get("name"); name != nil && !value.IsNone(name) {
		t.Name, _ = value.Text(name) // of a number Ansible shows nothing
	}
	r.checkInclude(o, t)
	return t
}

func (r *reader) isInclude(action string) bool { return taskFiles[action] || roleFiles[action] }

func includeClass(action string, handler bool) string {
	switch {
	case roleFiles[action]:
		return "IncludeRole"
	case handler:
		return "HandlerTaskInclude"
	}
	return "TaskInclude"
}

// taskAttrs reads all keys except the action and its arguments.
func (r *reader) taskAttrs(o object, t *Task, keywords wordSet, actionKey string) {
	for i, kn := range o.n.Keys {
		key, v := value.Printed(kn.Value), o.n.Vals[i]
		with, isWith := strings.CutPrefix(key, "with_")
		switch {
		case key == "action" || key == "local_action" || key == "args" || key == actionKey || key == "shell":
		case key == "vars" || key == "tags" || key == "collections":
		case key == "delegate_to" && o.n.Get("local_action") != nil:
		case isWith && (r.g.IsLookup == nil || r.g.IsLookup(with)):
			r.loop(o, t, with, v)
		case key == "loop":
			r.loop(o, t, "", v)
		case key == "loop_control":
			t.LoopControl = r.loopControl(v)
		case key == "listen" && t.Handler:
			t.Listen = r.listen(o, v)
		case keywords[key]:
			if r.refusedByInclude(o, t, key) {
				continue
			}
			if key == "async_val" {
				key = "async"
			}
			r.attr(o, t.Attrs, key, v)
		default:
			r.unknownKeyword(o, key)
		}
	}
	if o.n.Get("local_action") != nil {
		t.Attrs["delegate_to"] = Attr{Value: value.SourceText("localhost"), Place: o.at}
	}
}

func (r *reader) unknownKeyword(o object, key string) {
	if r.g.LenientTasks {
		r.loader.warn("Ignoring invalid attribute: %s", key)
		return
	}
	const advice = "\nThis error can be suppressed as a warning using the \"invalid_task_attribute_failed\" configuration"
	if r.loader.Level.Has(dialect.PlaybookWords) {
		r.failAt(placeOf(o.at.File, keyIn(o.n, key)), dialect.InvalidAttribute.Format+advice, key, o.what)
		return
	}
	e := r.loader.Errorf(o.at, dialect.InvalidAttribute.Format, key, o.what)
	// Ansible adds this to a message that already has its detail, and then shows the detail again.
	e.Msg = e.Error() + advice
	r.errs = append(r.errs, e)
}

func (r *reader) refusedByInclude(o object, t *Task, key string) bool {
	if !includeTasks[t.Action] && !includeRole[t.Action] || includeKeywords[key] || key == "listen" && t.Handler {
		return false
	}
	if r.g.LenientTasks {
		r.loader.warn("Ignoring invalid attribute: %s", key)
		return false
	}
	r.failAt(o.at, dialect.InvalidAttribute.Format, key, o.what)
	return true
}

func (r *reader) loop(o object, t *Task, with string, v *Node) {
	if with != "" {
		if t.Loop.Given() && !value.IsNone(t.Loop.Over.Value) {
			r.failAt(o.at, "duplicate loop in task: %s", with).General = true
			return
		}
		if value.IsNone(v.Value) {
			r.failAt(o.at, "you must specify a value when using with_%s", with).General = true
			return
		}
	}
	// A loop after a with_ replaces its items but keeps its lookup, as in Ansible.
	if with == "" {
		with = t.Loop.With
	}
	t.Loop = Loop{With: with, Over: Attr{Value: v.Value, Place: r.place(v)}}
}

func (r *reader) loopControl(n *Node) Attrs {
	if _, ok := n.Value.(*value.Dict); !ok {
		r.fail(n, "the `loop_control` value must be specified as a dictionary and cannot be a variable itself (though it "+
			"can contain variables)")
		return nil
	}
	return r.attrs(object{n, r.place(n), "LoopControl"}, loopKeywords, nil)
}

func (r *reader) listen(o object, n *Node) []string {
	items := []value.Value{n.Value}
	if l, ok := n.Value.(*value.List); ok {
		items = l.Items
	}
	var out []string
	for _, item := range items {
		s, ok := value.Text(item)
		if !ok {
			r.failAt(o.at, "the field 'listen' should be a list of (<class 'str'>,), but the item '%s' is a %s",
				value.Printed(item), Class(item))
			continue
		}
		out = append(out, s)
	}
	return out
}

package syntax

import (
	"slices"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// action finds what a task does, in whichever form it is written, and sets Action, Args and ArgsExpr. key is the task's
// key that holds it.
func (r *reader) action(o object, t *Task, keywords wordSet) (key string, ok bool) {
	found, ok := r.findAction(o, keywords)
	if !ok {
		return "", false
	}
	if n := o.n.Get("args"); n != nil && r.g.Loader.Level.Has(dialect.ArgsMapping) && !argsTagged(r, o, n) {
		return "", false
	}
	form := r.form(o, found)
	if form == nil {
		return "", false
	}
	t.Action = form.action
	return found.key, r.arguments(o, t, form)
}

// argsTagged checks the keyword args as level 2.19 does, before the action's own arguments.
func argsTagged(r *reader, o object, n *Node) bool {
	const wanted = "A mapping or template which resolves to a mapping is required."
	text, isText := value.Text(n.Value)
	_, isDict := n.Value.(*value.Dict)
	switch {
	case value.IsNone(n.Value):
		r.g.Loader.deprecated(o.at, "Ignoring empty task `args` keyword.", wanted)
	case !isDict && !(isText && isTemplate(text) && text[0] == '{' && text[len(text)-1] == '}'):
		r.fail(n, "The value of the task `args` keyword is invalid.").Msg += "\n\n" + wanted
		return false
	}
	return true
}

// foundAction is the key of a task that names its action.
type foundAction struct {
	key  string
	node *Node // the value of the key
	old  bool  // action: or local_action:
}

func (r *reader) findAction(o object, keywords wordSet) (foundAction, bool) {
	var found []foundAction
	for _, key := range []string{"action", "local_action"} {
		if n := o.n.Get(key); n != nil {
			found = append(found, foundAction{key, n, true})
		}
	}
	if len(found) > 1 {
		r.failAt(o.at, "action and local_action are mutually exclusive")
		return foundAction{}, false
	}
	var unknown []error
	for i, kn := range o.n.Keys {
		key := value.Printed(kn.Value)
		if keywords[key] || handlerKeywords[key] || key == "local_action" || key == "static" ||
			strings.HasPrefix(key, "with_") {
			continue
		}
		// Two keys that are no keywords are a conflict even if one of them is no action.
		found = append(found, foundAction{key: key, node: o.n.Vals[i]})
		if err := r.unknownAction(o, key); err != nil {
			unknown = append(unknown, err)
		}
	}
	if len(found) == 0 {
		r.noAction(o)
		return foundAction{}, false
	}
	if len(found) == 1 && len(unknown) == 0 {
		return found[0], true
	}
	// Errors of the first one's arguments come before anything else.
	first := r.form(o, found[0])
	switch {
	case first == nil:
	case len(found) > 1:
		r.failAt(o.at, dialect.ConflictingActions.Format, first.action, found[1].key)
	default:
		r.errs = append(r.errs, unknown[0])
	}
	return foundAction{}, false
}

// form reads an action as it is written.
func (r *reader) form(o object, f foundAction) *actionForm {
	if f.old {
		return r.oldStyle(o, f.node)
	}
	return r.newStyle(o, f.key, f.node)
}

// unknownAction returns the error of a key that names no action, nil if it names one.
func (r *reader) unknownAction(o object, key string) error {
	if builtinTasks[key] || r.g.IsAction == nil {
		return nil
	}
	if ok, err := r.g.IsAction(key, r.collections); ok || err != nil {
		return err
	}
	return r.g.Loader.Errorf(o.at,
		dialect.ActionNotFound.Format+". This often indicates a misspelling, missing collection, or incorrect module path.", key)
}

func (r *reader) noAction(o object) {
	e := r.g.Loader.Errorf(o.at, "no module/action detected in task.")
	if len(o.n.Keys) == 0 { // for {} Ansible shows the place twice
		e.Msg = e.Error()
	}
	r.errs = append(r.errs, e)
}

// actionForm is an action with the arguments beside it.
type actionForm struct {
	action string
	args   *value.Dict // nil if there are none
}

// newStyle reads `copy: src=a dest=b` and `copy: {src: a}`.
func (r *reader) newStyle(o object, action string, n *Node) *actionForm {
	form := &actionForm{action: action}
	switch v := n.Value.(type) {
	case *value.Dict:
		form.args = v.Copy()
	case value.None:
	default:
		s, ok := value.Text(v)
		if !ok {
			r.failAt(o.at, dialect.ActionNeedsText.Format, Class(v))
			return nil
		}
		args, ok := r.keyValues(o, s, freeForm[action])
		if !ok {
			return nil
		}
		form.args = args
		if names := merged(args); o.n.Get("args") != nil && len(names) > 0 {
			r.g.Loader.deprecated(r.place(n), "Merging legacy k=v args ("+strings.Join(names, ", ")+") into task args.",
				"Include all task args in the task `args` mapping.")
		}
	}
	return form
}

// merged returns the names, quoted and sorted, of arguments that were written as key=value.
func merged(args *value.Dict) []string {
	var names []string
	for _, k := range args.Keys() {
		if value.Printed(k) != "_raw_params" {
			names = append(names, value.PrintedRepr(k))
		}
	}
	slices.Sort(names)
	return names
}

// oldStyle reads `action: copy src=a dest=b` and `action: {module: copy, src: a}`.
func (r *reader) oldStyle(o object, n *Node) *actionForm {
	v := n.Value
	d, isDict := v.(*value.Dict)
	s, isText := value.Text(v)
	switch {
	case isDict:
		r.g.Loader.deprecated(r.place(n), "Using a mapping for `action` is deprecated.", "Use a string value for `action`.")
		module, ok := d.Get("module")
		if !ok {
			r.failAt(o.at, "no module/action detected in task.")
			return nil
		}
		if s, isText = value.Text(module); !isText {
			r.failAt(o.at, dialect.ActionNeedsText.Format, Class(module))
			return nil
		}
	case !isText:
		r.failAt(o.at, dialect.ActionNeedsText.Format, Class(v))
		return nil
	}
	words, err := Split(s)
	if err != nil || len(words) == 0 {
		if err == nil {
			r.failAt(o.at, "no module/action detected in task.")
		} else {
			unsplit(r, o, err)
		}
		return nil
	}
	form := &actionForm{action: strings.TrimSpace(words[0])}
	args, ok := r.keyValues(o, strings.Join(words[1:], " "), freeForm[form.action])
	if !ok {
		return nil
	}
	if isDict {
		form.args = d.Copy()
		form.args.Delete(value.Str("module"))
		overlay(form.args, args)
	} else {
		form.args = args
	}
	return r.liftArgs(o, form)
}

// liftArgs merges the entries of `args` within an old-style action with the others.
func (r *reader) liftArgs(o object, form *actionForm) *actionForm {
	inner, ok := form.args.Get("args")
	if !ok {
		return form
	}
	form.args.Delete(value.Str("args"))
	if s, isText := value.Text(inner); isText {
		d, ok := r.keyValues(o, s, false)
		if !ok {
			return nil
		}
		inner = d
	}
	if d, isDict := inner.(*value.Dict); isDict {
		overlay(form.args, d)
	}
	return form
}

func overlay(d, over *value.Dict) {
	over.Each(func(k, v value.Value) bool { d.SetKey(k, v); return true })
}

func (r *reader) keyValues(o object, text string, free bool) (*value.Dict, bool) {
	d, err := Args(text, free)
	if err != nil {
		unsplit(r, o, err)
	}
	return d, err == nil
}

// unsplit reports that arguments in one text cannot be split.
func unsplit(r *reader, o object, err error) {
	if r.g.Loader.Level.Has(dialect.PlaybookWords) {
		r.failAt(o.at, "Error loading tasks: %s", strings.TrimSpace(err.Error()))
		return
	}
	r.failAt(o.at, "%s", err)
}

// Args returns KV as a dict; raw text is under "_raw_params".
func Args(text string, freeForm bool) (*value.Dict, error) {
	pairs, raw, err := KV(text, freeForm)
	if err != nil {
		return nil, err
	}
	d := value.NewDict()
	for _, p := range pairs {
		d.SetKey(value.SourceText(p.Key), value.SourceText(p.Value))
	}
	if raw != "" {
		d.Set("_raw_params", value.SourceText(raw))
	}
	return d, nil
}

// arguments puts the arguments over the task's own args: and checks free-form text.
func (r *reader) arguments(o object, t *Task, form *actionForm) bool {
	if n := o.n.Get("args"); n != nil && !r.additional(o, t, n.Value) {
		return false
	}
	if form.args != nil {
		for _, k := range form.args.Keys() {
			if s := value.Printed(k); result.Internal(s) && !freeForm[t.Action] {
				r.say("invalid parameter specified for action '%s': '%s'", t.Action, s).General = true
				return false
			}
		}
		overlay(t.Args, form.args)
	}
	return r.rawText(o, t) && r.cmdArgument(o, t)
}

// additional reads the task's args:. It leaves a template in place of a mapping to package compile.
func (r *reader) additional(o object, t *Task, v value.Value) bool {
	if s, isText := value.Text(v); isText {
		switch {
		case s == "":
		case isTemplate(s):
			t.ArgsExpr = s
		default:
			r.failAt(o.at, "Complex args containing variables cannot use bare variables (without Jinja2 delimiters), and "+
				"must use the full variable style ('{{var_name}}')")
			return false
		}
		return true
	}
	d, ok := v.(*value.Dict)
	if truth, err := value.Truth(v); !ok && (err != nil || truth) {
		r.failAt(o.at, `Complex args must be a dictionary or variable string ("{{var}}").`)
		return false
	}
	if ok {
		overlay(t.Args, d)
	}
	return true
}

func (r *reader) rawText(o object, t *Task) bool {
	raw, ok := t.Args.Get("_raw_params")
	if !ok || rawParams[t.Action] {
		return true
	}
	s, isText := value.Text(raw)
	switch {
	case isText && s == "":
	case isTemplate(s):
		t.Args.Delete(value.Str("_raw_params"))
		t.ArgsExpr = s
	default:
		r.failAt(o.at, "this task '%s' has extra params, which is only allowed in the following modules: %s", t.Action,
			rawParams.sorted())
		return false
	}
	return true
}

// cmdArgument makes the argument cmd of command, shell and script their free-form text.
func (r *reader) cmdArgument(o object, t *Task) bool {
	cmd, ok := t.Args.Get("cmd")
	if !ok || !withCmd[t.Action] {
		return true
	}
	if raw, given := t.Args.Get("_raw_params"); given {
		if s, isText := value.Text(raw); !isText || s != "" {
			r.failAt(o.at, "The 'cmd' argument cannot be used when other raw parameters are specified. Please put everything "+
				"in one or the other place.").General = true
			return false
		}
	}
	t.Args.Delete(value.Str("cmd"))
	t.Args.Set("_raw_params", cmd)
	return true
}

// isTemplate reports whether text holds an opening with its closing, which Ansible takes for a template.
func isTemplate(s string) bool {
	for _, d := range [][2]string{{"{{", "}}"}, {"{%", "%}"}, {"{#", "#}"}} {
		if i := strings.Index(s, d[0]); i >= 0 && strings.Contains(s[i:], d[1]) {
			return true
		}
	}
	return false
}

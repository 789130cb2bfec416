package syntax

import (
	"slices"
	"strings"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
)

// actionReader reads what one task does: its action and the arguments of it.
type actionReader struct {
	*report
	grammar *Grammar
	object  object
	task    *Task
	// collections are those in force for the task.
	collections []string
}

// read finds what a task does, in whichever form it is written, and sets Action, Args and ArgsExpr. key is the task's
// key that holds it.
func (a *actionReader) read(keywords wordSet) (key string, ok bool) {
	found, ok := a.find(keywords)
	if !ok {
		return "", false
	}
	if n := a.object.n.Get("args"); n != nil && a.loader.Level.Has(dialect.ArgsMapping) && !a.argsTagged(n) {
		return "", false
	}
	form := a.form(found)
	if form == nil {
		return "", false
	}
	a.task.Action = form.action
	return found.key, a.arguments(form)
}

// argsTagged checks the keyword args as level 2.19 does, before the action's own arguments.
func (a *actionReader) argsTagged(n *Node) bool {
	const wanted = "A mapping or template which resolves to a mapping is required."
	text, isText := value.Text(n.Value)
	_, isDict := n.Value.(*value.Dict)
	switch {
	case value.IsNone(n.Value):
		a.loader.deprecated(a.object.at, "Ignoring empty task `args` keyword.", wanted)
	case !isDict && !(isText && isTemplate(text) && text[0] == '{' && text[len(text)-1] == '}'):
		a.fail(n, "The value of the task `args` keyword is invalid.").Msg += "\n\n" + wanted
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

func (a *actionReader) find(keywords wordSet) (foundAction, bool) {
	var found []foundAction
	for _, key := range []string{"action", "local_action"} {
		if n := a.object.n.Get(key); n != nil {
			found = append(found, foundAction{key, n, true})
		}
	}
	if len(found) > 1 {
		a.failAt(a.object.at, "action and local_action are mutually exclusive")
		return foundAction{}, false
	}
	var unknown []error
	for i, kn := range a.object.n.Keys {
		key := value.Printed(kn.Value)
		if keywords[key] || handlerKeywords[key] || key == "local_action" || key == "static" ||
			strings.HasPrefix(key, "with_") {
			continue
		}
		// Two keys that are no keywords are a conflict even if one of them is no action.
		found = append(found, foundAction{key: key, node: a.object.n.Vals[i]})
		if err := a.unknown(key); err != nil {
			unknown = append(unknown, err)
		}
	}
	if len(found) == 0 {
		a.missing()
		return foundAction{}, false
	}
	if len(found) == 1 && len(unknown) == 0 {
		return found[0], true
	}
	// Errors of the first one's arguments come before anything else.
	first := a.form(found[0])
	switch {
	case first == nil:
	case len(found) > 1:
		a.failAt(a.object.at, dialect.ConflictingActions.Format, first.action, found[1].key)
	default:
		a.errs = append(a.errs, unknown[0])
	}
	return foundAction{}, false
}

// form reads an action as it is written.
func (a *actionReader) form(f foundAction) *actionForm {
	if f.old {
		return a.oldStyle(f.node)
	}
	return a.newStyle(f.key, f.node)
}

// unknown returns the error of a key that names no action, nil if it names one.
func (a *actionReader) unknown(key string) error {
	if builtinTasks[key] || a.grammar.IsAction == nil {
		return nil
	}
	if ok, err := a.grammar.IsAction(key, a.collections); ok || err != nil {
		return err
	}
	return a.loader.Errorf(a.object.at,
		dialect.ActionNotFound.Format+". This often indicates a misspelling, missing collection, or incorrect module path.",
		key)
}

func (a *actionReader) missing() {
	e := a.loader.Errorf(a.object.at, "no module/action detected in task.")
	if len(a.object.n.Keys) == 0 { // for {} Ansible shows the place twice
		e.Msg = e.Error()
	}
	a.errs = append(a.errs, e)
}

// actionForm is an action with the arguments beside it.
type actionForm struct {
	action string
	args   *value.Dict // nil if there are none
}

// newStyle reads `copy: src=a dest=b` and `copy: {src: a}`.
func (a *actionReader) newStyle(action string, n *Node) *actionForm {
	form := &actionForm{action: action}
	switch v := n.Value.(type) {
	case *value.Dict:
		form.args = v.Copy()
	case value.None:
	default:
		s, ok := value.Text(v)
		if !ok {
			a.failAt(a.object.at, dialect.ActionNeedsText.Format, a.loader.class(v))
			return nil
		}
		args, ok := a.keyValues(s, freeForm[action])
		if !ok {
			return nil
		}
		form.args = args
		if names := merged(args); a.object.n.Get("args") != nil && len(names) > 0 {
			a.loader.deprecated(a.place(n), "Merging legacy k=v args ("+strings.Join(names, ", ")+") into task args.",
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
func (a *actionReader) oldStyle(n *Node) *actionForm {
	v := n.Value
	d, isDict := v.(*value.Dict)
	s, isText := value.Text(v)
	switch {
	case isDict:
		a.loader.deprecated(a.place(n), "Using a mapping for `action` is deprecated.", "Use a string value for `action`.")
		module, ok := d.Get("module")
		if !ok {
			a.failAt(a.object.at, "no module/action detected in task.")
			return nil
		}
		if s, isText = value.Text(module); !isText {
			a.failAt(a.object.at, dialect.ActionNeedsText.Format, a.loader.class(module))
			return nil
		}
	case !isText:
		a.failAt(a.object.at, dialect.ActionNeedsText.Format, a.loader.class(v))
		return nil
	}
	words, err := Split(s)
	if err != nil || len(words) == 0 {
		if err == nil {
			a.failAt(a.object.at, "no module/action detected in task.")
		} else {
			a.unsplit(err)
		}
		return nil
	}
	form := &actionForm{action: strings.TrimSpace(words[0])}
	args, ok := a.keyValues(strings.Join(words[1:], " "), freeForm[form.action])
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
	return a.liftArgs(form)
}

// liftArgs merges the entries of `args` within an old-style action with the others.
func (a *actionReader) liftArgs(form *actionForm) *actionForm {
	inner, ok := form.args.Get("args")
	if !ok {
		return form
	}
	form.args.Delete(value.Str("args"))
	if s, isText := value.Text(inner); isText {
		d, ok := a.keyValues(s, false)
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

func (a *actionReader) keyValues(text string, free bool) (*value.Dict, bool) {
	d, err := Args(text, free)
	if err != nil {
		a.unsplit(err)
	}
	return d, err == nil
}

// unsplit reports that arguments in one text cannot be split.
func (a *actionReader) unsplit(err error) {
	if a.loader.Level.Has(dialect.PlaybookWords) {
		a.failAt(a.object.at, "Error loading tasks: %s", strings.TrimSpace(err.Error()))
		return
	}
	a.failAt(a.object.at, "%s", err)
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
func (a *actionReader) arguments(form *actionForm) bool {
	if n := a.object.n.Get("args"); n != nil && !a.additional(n.Value) {
		return false
	}
	if form.args != nil {
		for _, k := range form.args.Keys() {
			if s := value.Printed(k); result.Internal(s) && !freeForm[a.task.Action] {
				a.say("invalid parameter specified for action '%s': '%s'", a.task.Action, s).General = true
				return false
			}
		}
		overlay(a.task.Args, form.args)
	}
	return a.rawText() && a.cmdArgument()
}

// additional reads the task's args:. It leaves a template in place of a mapping to package compile.
func (a *actionReader) additional(v value.Value) bool {
	if s, isText := value.Text(v); isText {
		switch {
		case s == "":
		case isTemplate(s):
			a.task.ArgsExpr = s
		default:
			a.failAt(a.object.at, "Complex args containing variables cannot use bare variables (without Jinja2 delimiters), "+
				"and must use the full variable style ('{{var_name}}')")
			return false
		}
		return true
	}
	d, ok := v.(*value.Dict)
	if truth, err := value.Truth(v); !ok && (err != nil || truth) {
		a.failAt(a.object.at, `Complex args must be a dictionary or variable string ("{{var}}").`)
		return false
	}
	if ok {
		overlay(a.task.Args, d)
	}
	return true
}

func (a *actionReader) rawText() bool {
	raw, ok := a.task.Args.Get("_raw_params")
	if !ok || rawParams[a.task.Action] {
		return true
	}
	s, isText := value.Text(raw)
	switch {
	case isText && s == "":
	case isTemplate(s):
		a.task.Args.Delete(value.Str("_raw_params"))
		a.task.ArgsExpr = s
	default:
		a.failAt(a.object.at, "this task '%s' has extra params, which is only allowed in the following modules: %s",
			a.task.Action, rawParams.sorted())
		return false
	}
	return true
}

// cmdArgument makes the argument cmd of command, shell and script their free-form text.
func (a *actionReader) cmdArgument() bool {
	cmd, ok := a.task.Args.Get("cmd")
	if !ok || !withCmd[a.task.Action] {
		return true
	}
	if raw, given := a.task.Args.Get("_raw_params"); given {
		if s, isText := value.Text(raw); !isText || s != "" {
			a.failAt(a.object.at, "The 'cmd' argument cannot be used when other raw parameters are specified. "+
				"Please put everything in one or the other place.").General = true
			return false
		}
	}
	a.task.Args.Delete(value.Str("cmd"))
	a.task.Args.Set("_raw_params", cmd)
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

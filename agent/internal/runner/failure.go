package runner

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"hark/modules"
	"hark/modules/dialect"
	"hark/modules/foreign"
	"hark/modules/py/shlex"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
)

// Messages of failed modules and actions at the level of ansible-core 2.19, where they differ from earlier ones.

// failureReport collects what a failed call is reported with.
type failureReport struct {
	e *eval
	// cause is the fault of the template or condition that the module rendered last; only in the tagged language.
	cause *fault
	// staged says that the call failed before the module was reached.
	staged bool
}

// caused notes the fault of what a module rendered, and what it is about. What a template file fails with may be about
// another template, as of a variable.
func (b *failureReport) caused(err error, about spot) error {
	f, ok := err.(*fault)
	if !ok || !b.e.has(dialect.FailureCauses) {
		return err
	}
	b.cause = f
	if len(f.links) > 0 && (about.file == "" || f.links[0].spot == spot{}) {
		links := slices.Clone(f.links)
		links[0].spot = about
		b.cause = &fault{text: f.text, kind: f.kind, class: f.class, links: links}
	}
	return b.cause
}

// looked returns what debug shows for a var that cannot be rendered.
func (b *failureReport) looked(ctx context.Context, expr value.Value, err error) (value.Value, error) {
	source, isSource := expr.(value.Source)
	if !isSource {
		return b.untrusted(value.Printed(expr))
	}
	name := source.Text()
	if templar.IsUndefined(err) {
		m := &errorPlaceholders{about: name}
		v, err := templar.Marked(ctx, b.e.tpl, source, func(err error) string { return m.placeholder(err, name) })
		m.warn(b.e.notices)
		if err == nil {
			return value.Unsafe(v), nil
		}
	}
	if _, again := b.e.tpl.Expr(ctx, source); again != nil {
		err = again
	}
	f, ok := b.e.check(ctx, err).(*fault)
	if !ok {
		return nil, err
	}
	at := spot{text: name}
	f, _ = b.caused(f, at).(*fault)
	b.cause = f.under(link{msg: "Error while resolving `var` expression.", spot: at})
	return nil, b.cause
}

// untrusted returns what debug says of a var that a template made.
func (b *failureReport) untrusted(name string) (value.Value, error) {
	at := spot{text: name}
	if raw, ok := b.e.s.Args.Get("var"); ok {
		at.text, _ = value.Text(raw)
	}
	err := templar.Untrusted()
	msg := "Error while resolving `var` expression."
	b.cause = (&fault{text: err.Error(), links: []link{{msg: err.Error(), spot: at, help: helpOf(err)}}}).
		under(link{msg: msg, spot: at})
	return nil, b.cause
}

// tell writes into the result what failed: a template of the module's, the stage on the controller, or the module or
// action itself. args are the task's.
func (b *failureReport) tell(res *result.Result, args *value.Dict) {
	msg := res.Text("msg")
	mod := b.e.g.cfg.Modules.Declared(b.e.s.Action)
	does := func(traits modules.Trait) bool { return mod != nil && mod.Has(traits) }
	task := link{msg: "Task failed."}
	switch {
	case b.cause != nil && strings.Contains(msg, b.cause.text):
		res.Delete(value.Str("exception"))
		b.cause.tell(res)
	case unread(msg):
		b.unread(res, msg, does)
	case does(modules.LoadsVariables) && !res.Has("msg"):
		say(res, task, link{msg: "Action failed."}, link{msg: "Unknown error."})
		res.Set("msg", value.UnsafeStr("Task failed: Action failed: Unknown error."))
		why, _, _ := strings.Cut(res.Text("message"), "\nOrigin: ")
		if b.e.has(dialect.RemoteSrcHint) {
			why = strings.TrimSuffix(why, "\n"+remoteSrc)
		}
		res.Set("message", value.UnsafeStr(why))
	case (does(modules.SetsVariables) || does(modules.IsAction)) && dialect.InvalidVariableName.In(msg):
		args, _ := dialect.InvalidVariableName.Find(msg)
		name := args[0]
		f := &fault{links: []link{{msg: "Invalid variable name " + value.ReprText(name) + ".", spot: spot{key: name},
			help: "Variable names must be strings starting with a letter or underscore character, and contain only letters, " +
				"numbers and underscores."}}}
		res.Set("msg", value.UnsafeStr("Task failed: "+f.links[0].msg))
		f.tell(res)
	case does(modules.SetsVariables):
		say(res, task, link{msg: msg})
	case does(modules.ShowsOnly) && dialect.InvalidOptions.In(msg):
		msg = dialect.UnsupportedOptions.Text("debug", strings.TrimPrefix(msg, dialect.InvalidOptions.Text("debug", "")),
			"msg, var, verbosity.")
		res.Set("msg", value.UnsafeStr(msg))
		say(res, task, link{msg: msg})
	case does(modules.ShowsOnly) && msg == "'msg' and 'var' are incompatible options":
		msg = "parameters are mutually exclusive: msg|var"
		res.Set("msg", value.UnsafeStr(msg))
		say(res, task, link{msg: msg})
	case strings.HasPrefix(msg, foreign.Raised):
		say(res, task, link{msg: "Module failed."}, link{msg: strings.TrimPrefix(msg, foreign.Raised)})
	case foreign.Broken(msg) != "":
		say(res, task, link{msg: "Action failed."}, link{msg: msg, help: foreign.Broken(msg)})
	case res.FailedBy == modules.ByTask || res.FailedBy == modules.ByCaught:
		res.Delete(value.Str("exception"))
		res.FailedBy, res.Parsed = "", false
		say(res, task, link{msg: msg})
	default:
		own := res.FailedBy != ""
		res.FailedBy = cmp.Or(res.FailedBy, "Module")
		if !own && (b.staged || does(modules.IsAction)) || res.Has("async_result") {
			res.FailedBy = "Action"
		}
		if res.Cause != "" && own { // the module that the action ran has said more
			say(res, task, link{msg: res.FailedBy + " failed."}, link{msg: res.Cause})
			res.Cause = ""
		}
		if res.Cause != "" {
			say(res, task, link{msg: res.FailedBy + " failed."}, link{msg: msg}, link{msg: res.Cause})
			res.Cause = ""
		}
		if b.e.has(dialect.CommandWords) {
			reword(res, msg)
		}
		// of a role or a play, which has no place
		if spec, _ := args.Get("argument_spec"); args.Has("validate_args_context") && spec != nil {
			text := "'action': 'ansible.builtin.validate_argument_spec', 'args': {'argument_spec': " + value.PrintedRepr(spec)
			if v, _ := args.Get("validate_args_context"); isPlay(v) {
				text = "'name': " + value.ReprText(b.e.s.Name) + ", " + text
			} else {
				text += ", 'provided_arguments': "
			}
			at := spot{text: "{" + text}
			say(res, link{msg: "Task failed.", spot: at}, link{msg: "Action failed.", spot: at},
				link{msg: res.Text("msg"), spot: at})
		}
	}
}

// isPlay reports whether an argument spec is that of a play, by where it comes from.
func isPlay(context value.Value) bool {
	of, _ := value.Text(value.OrNone(value.Under(context, "type")))
	return of == "play"
}

// reword replaces the message of a failure by what ansible-core 2.21 says of commands, and of failures without a
// message.
func reword(res *result.Result, msg string) {
	said, _ := res.Get("msg")
	switch {
	case msg == "non-zero return code" && res.FailedBy == "Module":
		res.Set("msg", value.UnsafeStr("The command exited with a non-zero return code."))
	case msg == "Error executing command.":
		cmd := res.Text("cmd")
		if words, err := shlex.Split(cmd); err == nil && cmd != "" {
			argv := value.NewList()
			for _, word := range words {
				argv.Items = append(argv.Items, value.UnsafeStr(word))
			}
			res.Set("cmd", argv)
		}
	case !value.IsTrue(said):
		say(res, link{msg: "Task failed."}, link{msg: res.FailedBy + " failed."}, link{msg: "Unknown error."})
	}
}

// say writes the errors that led to a failure into its result.
func say(res *result.Result, links ...link) {
	events := value.NewList()
	for _, l := range links {
		events.Items = append(events.Items, l.event())
	}
	res.Events = events
}

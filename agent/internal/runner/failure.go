package runner

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"hark/modules"
	"hark/modules/foreign"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
)

// What failed modules and actions say at the level of ansible-core 2.19, where it is not what they said before.

// blame is what a failed call is told with.
type blame struct {
	e *eval
	// cause is the fault of a template or a condition that the module had rendered last; only in the tagged language.
	cause *fault
	// staged: the call failed before the module was reached.
	staged bool
}

// caused notes the fault of what a module had rendered, with what it is about.
func (b *blame) caused(err error, about spot) error {
	f, ok := err.(*fault)
	if !ok || !b.e.tagged() {
		return err
	}
	b.cause = f
	if len(f.links) > 0 {
		links := slices.Clone(f.links)
		links[0].spot = about
		b.cause = &fault{text: f.text, kind: f.kind, class: f.class, links: links}
	}
	return b.cause
}

// looked is what debug shows for a var that cannot be rendered.
func (b *blame) looked(ctx context.Context, text string, err error) (value.Value, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}")
	if templar.IsUndefined(err) {
		n := 0
		v, err := templar.Marked(ctx, b.e.tpl, name, func(err error) string {
			n++
			return b.e.marked(err, n, cmp.Or(templar.Source(err), name))
		})
		if err == nil {
			return value.Unsafe(v), nil
		}
	}
	if _, again := b.e.tpl.Expr(ctx, name); again != nil {
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

// marked is the mark that stands for a template that cannot be rendered, in names and what debug shows. A warning tells of it.
func (e *eval) marked(err error, n int, about string) string {
	msg := "error " + strconv.Itoa(n) + " - " + err.Error()
	e.notices.note(link{msg: "Encountered 1 template error.\n" + msg, spot: spot{text: about}}, false)
	return "<< " + msg + " >>"
}

var expression = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{.*?\}\}`) })

// markedName is a name in which marks stand for the expressions that cannot be rendered.
func (e *eval) markedName(ctx context.Context, name string) string {
	n := 0
	return expression().ReplaceAllStringFunc(name, func(x string) string {
		text, err := e.tpl.Text(ctx, value.YAMLStr(x))
		if err == nil {
			return text
		}
		n++
		return e.marked(err, n, name)
	})
}

// listed tells that a text as the condition of assert is a template that gives a list.
func listed(ctx context.Context, e *eval, text string) bool {
	v, err := e.tpl.Template(ctx, value.YAMLStr(text))
	_, isList := v.(*value.List)
	return err == nil && isList && templar.AllTemplate(text)
}

// trusted is a condition of the task's arguments with its trust: that of the playbook's text, or of the variable that it comes from.
func trusted(ctx context.Context, e *eval, text string) value.Value {
	for i := range e.s.Args.Len() {
		_, raw := e.s.Args.At(i)
		if trusts(raw, text) {
			return value.YAMLStr(text)
		}
		if v, err := e.tpl.Template(ctx, raw); err == nil && trusts(v, text) {
			return value.YAMLStr(text)
		}
	}
	return value.Str(text)
}

// trusts tells that a text stands in a value as one of the playbook.
func trusts(v value.Value, text string) bool {
	switch v := v.(type) {
	case value.YAMLStr:
		return string(v) == text
	case *value.List:
		for _, item := range v.Items {
			if trusts(item, text) {
				return true
			}
		}
	}
	return false
}

// tell tells what failed: a template of the module's, the stage on the controller, or the module or action itself. args are the task's.
func (b *blame) tell(res *result.Result, args *value.Dict) {
	msg := res.Text("msg")
	mod := b.e.g.cfg.Modules.Declared(b.e.s.Action)
	does := func(traits modules.Trait) bool { return mod != nil && mod.Has(traits) }
	task := link{msg: "Task failed."}
	switch {
	case b.cause != nil && strings.Contains(msg, b.cause.text):
		res.Delete(value.Str("exception"))
		b.cause.tell(res)
	case b.staged && needle().MatchString(msg) && b.e.s.Action == modules.Copy:
		msg = "Unexpected AnsibleActionFail error: " + msg
		res.Set("msg", value.UnsafeStr(msg))
		say(res, task, link{msg: msg})
	case needle().MatchString(msg) && (b.staged || does(modules.IsAction)):
		say(res, task, link{msg: msg, apart: true, spot: spot{nowhere: true}})
	case needle().MatchString(msg):
		say(res, task, link{msg: msg})
		res.Set("msg", value.UnsafeStr("Task failed: "+msg))
	case does(modules.LoadsVariables) && !res.Has("msg"):
		say(res, task, link{msg: "Action failed."}, link{msg: "Unknown error."})
		res.Set("msg", value.UnsafeStr("Task failed: Action failed: Unknown error."))
		if why, _, cut := strings.Cut(res.Text("message"), "\nOrigin: "); cut {
			res.Set("message", value.UnsafeStr(why))
		}
	case (does(modules.SetsVariables) || does(modules.IsAction)) && strings.HasPrefix(msg, "The variable name '"):
		name := strings.Split(msg, "'")[1]
		f := &fault{links: []link{{msg: "Invalid variable name " + value.ReprText(name) + ".", spot: spot{key: name},
			help: "Variable names must be strings starting with a letter or underscore character, and contain only letters, numbers and underscores."}}}
		res.Set("msg", value.UnsafeStr("Task failed: "+f.links[0].msg))
		f.tell(res)
	case does(modules.SetsVariables):
		say(res, task, link{msg: msg})
	case does(modules.ShowsOnly) && strings.HasPrefix(msg, "Invalid options for debug: "):
		msg = "Unsupported parameters for (debug) module: " + strings.TrimPrefix(msg, "Invalid options for debug: ") + ". Supported parameters include: msg, var, verbosity."
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
	default:
		res.FailedBy = "Module"
		if b.staged || does(modules.IsAction) || res.Has("async_result") {
			res.FailedBy = "Action"
		}
		reword(res, args, msg, does(modules.TakesCommand))
		if spec, _ := args.Get("argument_spec"); args.Has("validate_args_context") && spec != nil { // a role's, which stands nowhere
			at := spot{text: "{'action': 'ansible.builtin.validate_argument_spec', 'args': {'argument_spec': " + value.PrintedRepr(spec) + ", 'provided_arguments': "}
			say(res, link{msg: "Task failed.", spot: at}, link{msg: "Action failed.", spot: at}, link{msg: res.Text("msg"), spot: at})
		}
	}
}

// needle is what is said of a file that the controller does not have.
var needle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Could not find or access '.*'\nSearched in:`) })

// say puts the errors that led to a failure into its result.
func say(res *result.Result, links ...link) {
	events := value.NewList()
	for _, l := range links {
		events.Items = append(events.Items, l.event())
	}
	res.Events = events
}

var (
	badType   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`is of type <class '([^']*)'> and we were`) })
	badNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`argument '([^']*)'([^\n]*)unable to convert to (int|float): <class '[^']*'> cannot be converted`)
	})
)

// reword gives a failure of a module the words that it has since. command says that the module runs a command.
func reword(res *result.Result, args *value.Dict, msg string, command bool) {
	plain, cause := msg, ""
	switch {
	case command && msg == "no command given":
		plain = "one of the following is required: _raw_params, cmd, argv"
		for _, name := range []string{"cmd", "delta", "end", "rc", "start", "stderr", "stderr_lines", "stdout", "stdout_lines"} {
			res.Delete(value.Str(name))
		}
	case command && strings.HasPrefix(msg, "[Errno "):
		plain, cause = "Error executing command.", msg
	case strings.HasPrefix(msg, "Error, could not touch target: "):
		plain, cause = "Error, could not touch target.", strings.TrimPrefix(msg, "Error, could not touch target: ")
	default:
		plain = retyped(msg, args)
		rewordErrors(res, args)
	}
	if plain != msg {
		res.Set("msg", value.UnsafeStr(plain))
	}
	if cause != "" {
		say(res, link{msg: "Task failed."}, link{msg: res.FailedBy + " failed."}, link{msg: plain}, link{msg: cause})
	}
}

// retyped is a message on arguments of a wrong type.
func retyped(msg string, args *value.Dict) string {
	msg = badNumber().ReplaceAllStringFunc(msg, func(s string) string {
		part := badNumber().FindStringSubmatch(s)
		given, ok := args.Get(part[1])
		if checked, _ := args.Get("provided_arguments"); !ok { // those that a role's specification checks
			if d, isDict := checked.(*value.Dict); isDict {
				given, ok = d.Get(part[1])
			}
		}
		if !ok {
			return s
		}
		return "argument '" + part[1] + "'" + part[2] + "unable to convert to " + part[3] + ": " + value.ReprText(value.PrintedRepr(given)) + " cannot be converted"
	})
	msg = badType().ReplaceAllStringFunc(msg, func(s string) string {
		kind := badType().FindStringSubmatch(s)[1]
		if strings.HasPrefix(kind, "ansible.") {
			kind = "str"
		}
		return "is of type " + kind + " and we were"
	})
	return strings.Replace(msg, "boolean.  Valid", "boolean. Valid", 1)
}

// rewordErrors does the same for the list of errors of a specification.
func rewordErrors(res *result.Result, args *value.Dict) {
	v, _ := res.Get("argument_errors")
	l, ok := v.(*value.List)
	if !ok {
		return
	}
	out := value.NewList()
	for _, item := range l.Items {
		if text, isText := value.Text(item); isText {
			item = value.UnsafeStr(retyped(text, args))
		}
		out.Items = append(out.Items, item)
	}
	res.Set("argument_errors", out)
}

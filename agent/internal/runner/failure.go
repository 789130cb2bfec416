package runner

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"hark/modules/foreign"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
)

// What failed modules and actions say at the level of ansible-core 2.19, where it is not what they said before.

// caused notes the fault of what a module had rendered, with what it is about.
func (x *execution) caused(err error, about spot) error {
	f, ok := err.(*fault)
	if !ok || !x.e.tagged() {
		return err
	}
	x.cause = f
	if n := len(f.links); n > 0 {
		last := f.links[n-1]
		last.spot = about
		x.cause = &fault{text: f.text, kind: f.kind, class: f.class, links: append(append([]link(nil), f.links[:n-1]...), last)}
	}
	return x.cause
}

// looked is what debug shows for a var that cannot be rendered.
func looked(ctx context.Context, x *execution, text string, err error) (value.Value, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}")
	if templar.IsUndefined(err) {
		return value.UnsafeStr(x.e.marked(err, 1, name)), nil
	}
	if _, again := x.e.tpl.Expr(ctx, name); again != nil {
		err = again
	}
	f, ok := x.e.check(ctx, err).(*fault)
	if !ok {
		return nil, err
	}
	return nil, x.caused(f.under(link{msg: "Error while resolving `var` expression."}), spot{text: name})
}

// marked is the mark that stands for a template that cannot be rendered, in names and what debug shows. A warning tells of it.
func (e *eval) marked(err error, n int, about string) string {
	msg := "error " + strconv.Itoa(n) + " - " + err.Error()
	e.note(link{msg: "Encountered 1 template error.\n" + msg, spot: spot{text: about}}, false)
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

// noteFailure tells what failed: a template of the module's, the stage on the controller, or the module or action itself.
func (x *execution) noteFailure(res *result.Result) {
	v, _ := res.Get("msg")
	msg, _ := value.Text(v)
	action := strings.TrimPrefix(x.e.s.Action, "ansible.builtin.")
	task := link{msg: "Task failed."}
	switch {
	case x.cause != nil && strings.Contains(msg, x.cause.text):
		res.Delete(value.Str("exception"))
		x.cause.tell(res)
	case x.staged && needle().MatchString(msg) && action == "copy":
		msg = "Unexpected AnsibleActionFail error: " + msg
		res.Set("msg", value.UnsafeStr(msg))
		say(res, task, link{msg: msg})
	case x.staged && needle().MatchString(msg):
		say(res, task, link{msg: msg, spot: spot{nowhere: true}})
	case action == "set_fact" && strings.HasPrefix(msg, "The variable name '"):
		name := strings.Split(msg, "'")[1]
		f := &fault{links: []link{{msg: "Invalid variable name " + value.ReprText(name) + ".", spot: spot{key: name},
			help: "Variable names must be strings starting with a letter or underscore character, and contain only letters, numbers and underscores."}}}
		f.tell(res)
	case action == "set_fact":
		say(res, task, link{msg: msg})
	case action == "debug" && strings.HasPrefix(msg, "Invalid options for debug: "):
		msg = "Unsupported parameters for (debug) module: " + strings.TrimPrefix(msg, "Invalid options for debug: ") + ". Supported parameters include: msg, var, verbosity."
		res.Set("msg", value.UnsafeStr(msg))
		say(res, task, link{msg: msg})
	case action == "debug" && msg == "'msg' and 'var' are incompatible options":
		msg = "parameters are mutually exclusive: msg|var"
		res.Set("msg", value.UnsafeStr(msg))
		say(res, task, link{msg: msg})
	case strings.HasPrefix(msg, foreign.Raised):
		say(res, task, link{msg: "Module failed."}, link{msg: strings.TrimPrefix(msg, foreign.Raised)})
	case foreign.Broken(msg) != "":
		say(res, task, link{msg: "Action failed."}, link{msg: msg, help: foreign.Broken(msg)})
	default:
		by := failedBy(action, x.staged)
		res.FailedBy = by
		reword(res, x.f.args, action, msg, by)
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

// failedBy is Module or Action.
func failedBy(action string, staged bool) string {
	switch action {
	case "debug", "fail", "assert", "set_stats", "add_host", "group_by", "include_vars", "pause", "raw", "script", "fetch",
		"wait_for_connection", "reboot", "validate_argument_spec", "meta":
		return "Action"
	}
	if staged {
		return "Action"
	}
	return "Module"
}

var (
	badType   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`is of type <class '([^']*)'> and we were`) })
	badNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`argument '([^']*)'([^\n]*)unable to convert to (int|float): <class '[^']*'> cannot be converted`)
	})
)

// reword gives a failure of a module the words that it has since.
func reword(res *result.Result, args *value.Dict, action, msg, by string) {
	plain, cause := msg, ""
	switch {
	case (action == "command" || action == "shell") && msg == "no command given":
		plain = "one of the following is required: _raw_params, cmd, argv"
		for _, name := range []string{"cmd", "delta", "end", "rc", "start", "stderr", "stderr_lines", "stdout", "stdout_lines"} {
			res.Delete(value.Str(name))
		}
	case (action == "command" || action == "shell") && strings.HasPrefix(msg, "[Errno "):
		plain, cause = "Error executing command.", msg
	case action == "file" && strings.HasPrefix(msg, "Error, could not touch target: "):
		plain, cause = "Error, could not touch target.", strings.TrimPrefix(msg, "Error, could not touch target: ")
	default:
		plain = retyped(msg, args)
		rewordErrors(res, args)
	}
	if plain != msg {
		res.Set("msg", value.UnsafeStr(plain))
	}
	if cause != "" {
		say(res, link{msg: "Task failed."}, link{msg: by + " failed."}, link{msg: plain}, link{msg: cause})
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

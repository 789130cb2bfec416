package debugger

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hark/modules/py/value"
	"hark/playbook/jinja"
	"hark/playbook/jinja/filters"
)

// Statements are Python's in Ansible. Here they are expressions as templates have them, assignments to names,
// attributes and keys, and del.

// pretty shows the value of an expression. Objects show as Python's do.
func (d *dialogue) pretty(ctx context.Context, src string) {
	switch src {
	case "task":
		d.t.Print(d.Task)
		return
	case "host":
		d.t.Print(d.Host)
		return
	case "result":
		d.t.Print("<TaskResult of " + d.Host + ">")
		return
	}
	v, err := d.eval(ctx, src)
	if err == nil {
		v, err = filters.Filters()["pprint"](nil, v, nil)
	}
	if err != nil {
		d.fail(err)
		return
	}
	text, _ := value.Text(v)
	d.t.Print(text)
}

// statement does what is no command.
func (d *dialogue) statement(ctx context.Context, line string) {
	var err error
	target, op, src := assignment(line)
	deleted, isDel := strings.CutPrefix(line, "del ")
	switch {
	case op != "":
		if op != "=" {
			src = "(" + target + ")" + op[:len(op)-1] + "(" + src + ")"
		}
		var v value.Value
		if v, err = d.eval(ctx, src); err == nil {
			err = d.change(ctx, target, v)
		}
	case isDel:
		err = d.change(ctx, strings.TrimSpace(deleted), nil)
	default:
		var v value.Value
		var text string
		if v, err = d.eval(ctx, line); err == nil && !value.IsNone(v) {
			if text, err = value.Repr(v); err == nil {
				d.t.Print(text)
			}
		}
	}
	if err != nil {
		d.fail(err)
	}
}

// assignment parts "target = expression". op is "=", or with an operator before it as in "+=", and "" if there is none.
func assignment(line string) (target, op, src string) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		case c != '=' || depth > 0:
		case i+1 < len(line) && line[i+1] == '=', i > 0 && strings.IndexByte("=!<>", line[i-1]) >= 0:
			i++ // a comparison
		default:
			start := i
			if i > 0 && strings.IndexByte("+-*/%", line[i-1]) >= 0 {
				start--
			}
			return strings.TrimSpace(line[:start]), line[start : i+1], strings.TrimSpace(line[i+1:])
		}
	}
	return "", "", ""
}

var (
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]\w*$`) })
	attribute = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)\.([A-Za-z_]\w*)$`) })
	variable  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^task_vars\s*\[\s*(?:'([^']*)'|` + `"([^"]*)")\s*\]`)
	})
)

// change assigns to a name, an attribute or a key; v nil deletes it.
func (d *dialogue) change(ctx context.Context, target string, v value.Value) error {
	if m := variable().FindStringSubmatch(target); m != nil {
		d.touch(m[1] + m[2])
	}
	if plainName().MatchString(target) {
		return set(d.names, value.Str(target), v)
	}
	holder, key := "", value.Value(nil)
	if open := lastIndexed(target); open > 0 {
		k, err := d.eval(ctx, target[open+1:len(target)-1])
		if err != nil {
			return err
		}
		holder, key = target[:open], k
	} else if m := attribute().FindStringSubmatch(target); m != nil {
		if m[1] == "task" && m[2] != "args" {
			return &value.Error{Type: "AttributeError", Msg: "hark's debugger changes task.args and task_vars, not task." + m[2]}
		}
		holder, key = m[1], value.Str(m[2])
	} else {
		return &value.Error{Type: "SyntaxError", Msg: "cannot assign to " + target}
	}
	in, err := d.eval(ctx, holder)
	if err != nil {
		return err
	}
	if name, isText := value.Text(key); isText && holder == "task_vars" {
		d.touch(name)
	}
	return set(in, key, v)
}

func (d *dialogue) touch(name string) {
	if !slices.Contains(d.touched, name) {
		d.touched = append(d.touched, name)
	}
}

// lastIndexed returns where the index begins with which a target ends, -1 if it ends with none.
func lastIndexed(target string) int {
	if !strings.HasSuffix(target, "]") {
		return -1
	}
	depth, quote, open := 0, byte(0), -1
	for i := 0; i < len(target); i++ {
		c := target[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[':
			if depth == 0 {
				open = i
			}
			depth++
		case c == ']':
			depth--
		}
	}
	return open
}

// set changes a dict or a list in place; v nil deletes.
func set(in, key, v value.Value) error {
	switch in := in.(type) {
	case *value.Dict:
		if v != nil {
			in.SetKey(key, v)
			return nil
		}
		if _, ok := in.GetKey(key); !ok {
			text, _ := value.Repr(key)
			return &value.Error{Type: "KeyError", Msg: text}
		}
		in.Delete(key)
		return nil
	case *value.List:
		n, ok := value.AsInt(key)
		if n < 0 {
			n += int64(len(in.Items))
		}
		switch {
		case !ok:
			return &value.Error{Type: "TypeError", Msg: "list indices must be integers or slices, not " + key.Type()}
		case n < 0 || n >= int64(len(in.Items)):
			return &value.Error{Type: "IndexError", Msg: "list assignment index out of range"}
		case v == nil:
			in.Items = slices.Delete(in.Items, int(n), int(n)+1)
		default:
			in.Items[n] = v
		}
		return nil
	}
	return &value.Error{Type: "TypeError", Msg: "'" + in.Type() + "' object does not support item assignment"}
}

// eval returns the value of an expression; what is not defined is an error.
func (d *dialogue) eval(ctx context.Context, src string) (value.Value, error) {
	x, err := jinja.ParseExpr(src, jinja.Options{Env: &jinja.Env{}, Syntax: jinja.NewSyntax()})
	if err != nil {
		return nil, &value.Error{Type: "SyntaxError", Msg: "invalid syntax"}
	}
	v, _, err := x.EvalUnsafe(ctx, scope{d.names})
	if err != nil {
		return nil, err
	}
	if _, undefined := v.(*value.Undefined); undefined {
		_, err = value.ToStr(v)
		return nil, err
	}
	return v, nil
}

// scope are the names of a dialogue as an expression sees them.
type scope struct{ names *value.Dict }

func (s scope) Var(_ context.Context, name string) (value.Value, bool, error) {
	v, ok := s.names.Get(name)
	return v, ok, nil
}

func (s scope) Call(context.Context, string, string, []value.Value, *value.Dict) (value.Value, error) {
	return nil, errors.New("there are no lookups in the debugger")
}

var (
	unknownName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^'(.*)' is undefined$`) })
	unknownKey  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`has no attribute '(.*)'$`) })
)

// fail shows an error as Python's class and repr.
func (d *dialogue) fail(err error) {
	class, repr := "Exception", ""
	var undefined *value.UndefinedError
	var raised *value.Error
	switch {
	case err == nil:
		return
	case errors.As(err, &undefined):
		if m := unknownName().FindStringSubmatch(undefined.Msg); m != nil {
			class, repr = "NameError", value.ReprText("name '"+m[1]+"' is not defined")
		} else if m := unknownKey().FindStringSubmatch(undefined.Msg); m != nil {
			class, repr = "KeyError", value.ReprText(m[1])
		} else {
			class, repr = "UndefinedError", value.ReprText(undefined.Msg)
		}
	case errors.As(err, &raised):
		class, repr = raised.Type, value.ReprText(raised.Msg)
		if class == "KeyError" {
			repr = raised.Msg
		}
	default:
		repr = value.ReprText(err.Error())
	}
	d.t.Print("***" + class + ":" + class + "(" + repr + ")")
}

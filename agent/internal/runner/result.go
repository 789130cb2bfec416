package runner

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"hark/agent/wire"
	"hark/playbook/jinja/value"
	"hark/playbook/plan"
)

const censoredText = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

// outcome is a result as the controller gets it, without effects.
func (t *task) outcome(res *value.Dict, f *fields) *wire.Outcome {
	hidden, _ := res.Get("_ansible_no_log")
	o := &wire.Outcome{Status: statusOf(res), NoLog: f.noLog || truth(hidden), Delegated: f.delegate}
	if o.NoLog {
		o.Result = censored(res)
		return o
	}
	o.Result = shownJSON(res, t.r.doc.Play.Verbosity >= 3)
	if _, isItem := res.Get("_ansible_item_result"); isItem {
		loopVar, _ := res.Get("ansible_loop_var")
		if item, ok := res.GetKey(loopVar); ok {
			o.Item = plainJSON(item)
		}
		if label, ok := res.Get("_ansible_item_label"); ok {
			o.Label, _ = value.ToStr(label)
		}
	}
	attempts, _ := res.Get("attempts")
	if n, ok := value.AsInt(value.Value(orNil(attempts))); ok {
		o.Attempts = int(n)
	}
	return o
}

func orNil(v value.Value) value.Value {
	if v == nil {
		return value.None{}
	}
	return v
}

// censored is what may be shown of a result that is not to be logged.
func censored(res *value.Dict) json.RawMessage {
	d := value.NewDict()
	d.Set("censored", value.Str(censoredText))
	for _, name := range []string{"attempts", "changed", "retries", "_ansible_delegated_vars"} {
		if v, ok := res.Get(name); ok {
			d.Set(name, v)
		}
	}
	return plainJSON(d)
}

// statusOf counts a result as Ansible does: failed_when_result decides where there is one, and a loop is
// skipped if all of its items were.
func statusOf(res *value.Dict) wire.Status {
	key := "failed"
	if hasDeep(res, "failed_when_result") {
		key = "failed_when_result"
	}
	switch {
	case anyTrue(res, key):
		return wire.StatusFailed
	case anyTrue(res, "unreachable"):
		return wire.StatusUnreachable
	case allSkipped(res):
		return wire.Skipped
	case anyTrue(res, "changed"):
		return wire.Changed
	}
	return wire.OK
}

func itemsOf(res *value.Dict) []value.Value {
	v, _ := res.Get("results")
	if l, ok := v.(*value.List); ok {
		return l.Items
	}
	return nil
}

func hasDeep(res *value.Dict, key string) bool {
	if _, ok := res.Get(key); ok {
		return true
	}
	for _, item := range itemsOf(res) {
		if d, ok := item.(*value.Dict); ok {
			if _, ok := d.Get(key); ok {
				return true
			}
		}
	}
	return false
}

// anyTrue is the key of the result or, where it has none, of any of its items.
func anyTrue(res *value.Dict, key string) bool {
	if v, ok := res.Get(key); ok {
		return truth(v)
	}
	for _, item := range itemsOf(res) {
		if d, ok := item.(*value.Dict); ok {
			if v, _ := d.Get(key); truth(v) {
				return true
			}
		}
	}
	return false
}

func allSkipped(res *value.Dict) bool {
	items := itemsOf(res)
	for _, item := range items {
		d, ok := item.(*value.Dict)
		if !ok {
			items = nil
			break
		}
		if v, _ := d.Get("skipped"); !truth(v) {
			items = nil
			break
		}
	}
	v, _ := res.Get("skipped")
	return len(items) > 0 || truth(v)
}

// cleanResult is what register keeps: no internal keys, and no invocation of the task as a whole.
func cleanResult(res *value.Dict) *value.Dict {
	out, _ := stripInternal(res).(*value.Dict)
	out.Delete(value.Str("invocation"))
	return out
}

func stripInternal(v value.Value) value.Value {
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		v.Each(func(k, item value.Value) bool {
			if name, ok := value.Text(k); !ok || !strings.HasPrefix(name, "_ansible_") {
				out.SetKey(k, stripInternal(item))
			}
			return true
		})
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, stripInternal(item))
		}
		return out
	}
	return v
}

// shownJSON is a result for the views. Nobody sees invocation before -vvv, so it does not travel.
func shownJSON(res *value.Dict, invocation bool) json.RawMessage {
	if invocation {
		return plainJSON(res)
	}
	out := res.Copy()
	out.Delete(value.Str("invocation"))
	if items := itemsOf(res); items != nil {
		l := value.NewList()
		for _, item := range items {
			if d, ok := item.(*value.Dict); ok {
				d = d.Copy()
				d.Delete(value.Str("invocation"))
				item = d
			}
			l.Items = append(l.Items, item)
		}
		out.Set("results", l)
	}
	return plainJSON(out)
}

// plainJSON is a value as plain JSON: kinds of text and tuples are not told apart, numbers print as Python's.
func plainJSON(v value.Value) json.RawMessage {
	var b bytes.Buffer
	writeJSON(&b, v)
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, v value.Value) {
	switch v := v.(type) {
	case nil, value.None:
		b.WriteString("null")
	case value.Bool:
		b.WriteString(strconv.FormatBool(bool(v)))
	case value.Int:
		b.WriteString(strconv.FormatInt(int64(v), 10))
	case *value.BigInt:
		b.WriteString(v.Int.String())
	case value.Float:
		writeFloat(b, v)
	case *value.List:
		writeItems(b, v.Items)
	case *value.Tuple:
		writeItems(b, v.Items)
	case *value.Dict:
		writeDict(b, v)
	default:
		text, ok := value.Text(v)
		if !ok {
			text, _ = value.ToStr(v)
		}
		writeText(b, text)
	}
}

func writeText(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	b.Truncate(b.Len() - 1)
}

// writeFloat: JSON has no infinities; Python's names for them go as text.
func writeFloat(b *bytes.Buffer, f value.Float) {
	text := value.FloatText(float64(f))
	if strings.ContainsAny(text, "0123456789") {
		b.WriteString(text)
		return
	}
	writeText(b, text)
}

func writeItems(b *bytes.Buffer, items []value.Value) {
	b.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		writeJSON(b, item)
	}
	b.WriteByte(']')
}

func writeDict(b *bytes.Buffer, d *value.Dict) {
	b.WriteByte('{')
	for i := 0; i < d.Len(); i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		k, v := d.At(i)
		name, ok := value.Text(k)
		if !ok {
			name, _ = value.ToStr(k)
		}
		writeText(b, name)
		b.WriteByte(':')
		writeJSON(b, v)
	}
	b.WriteByte('}')
}

// described is the task as ansible_failed_task shows it.
func (t *task) described() *value.Dict {
	d := value.NewDict()
	set := func(name string, x plan.Expr) { d.Set(name, orNone(x)) }
	list := func(name string, xs []plan.Expr) { d.Set(name, value.NewList(conditions(xs)...)) }
	d.Set("name", value.Str(t.name))
	d.Set("action", value.Str(t.s.Written))
	args := t.s.Args.Dict
	if t.f.args != nil {
		args = t.f.args
	}
	if args == nil {
		args = value.NewDict()
	}
	d.Set("args", args)
	list("when", t.s.When)
	list("changed_when", t.s.ChangedWhen)
	list("failed_when", t.s.FailedWhen)
	list("until", t.s.Until)
	list("environment", t.s.Environment)
	set("notify", t.s.Notify)
	set("delegate_to", t.s.DelegateTo)
	set("delegate_facts", t.s.DelegateFacts)
	set("become", t.s.Become)
	set("become_user", t.s.BecomeUser)
	set("become_method", t.s.BecomeMethod)
	set("run_once", t.s.RunOnce)
	set("remote_user", t.s.RemoteUser)
	set("connection", t.s.Connection)
	d.Set("ignore_errors", value.Bool(t.f.ignoreErrors))
	d.Set("ignore_unreachable", value.Bool(t.f.ignoreUnreachable))
	d.Set("no_log", value.Bool(t.f.noLog))
	d.Set("check_mode", value.Bool(t.f.check))
	d.Set("diff", value.Bool(t.f.diff))
	d.Set("async", value.Int(t.f.async))
	d.Set("timeout", value.Int(t.f.timeout))
	register := value.Value(value.None{})
	if t.s.Register != "" {
		register = value.Str(t.s.Register)
	}
	d.Set("register", register)
	tags := value.NewList()
	for _, tag := range t.s.Tags {
		tags.Items = append(tags.Items, value.Str(tag))
	}
	d.Set("tags", tags)
	own := t.s.Vars.Dict
	if own == nil {
		own = value.NewDict()
	}
	d.Set("vars", own)
	return d
}

package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"hark/modules/dialect"
	"hark/modules/py/value"
	"hark/modules/result"
	"hark/playbook/jinja/templar"
	"hark/playbook/plan"
)

// processing returns the fault of a keyword in the tagged language.
func (rd *reader) processing(name string, x plan.Expr, f *fault) error {
	text, _ := value.Text(x.V)
	if name == "environment" {
		all := value.NewList()
		for _, part := range rd.e.s.Environment {
			all.Items = append(all.Items, part.V)
		}
		text = value.PrintedRepr(all)
	}
	if len(f.links) == 0 {
		f.links = []link{{msg: f.text, spot: spot{text: text}}}
	}
	if name == "delegate_to" { // which is rendered before all others
		return f
	}
	return f.under(link{msg: "Error processing keyword " + value.ReprText(strings.TrimSuffix(name, "_val")) + ".",
		spot: spot{text: text}})
}

// delegate returns the name of the host that delegate_to names; it must be text. None, if it is omitted.
func (rd *reader) delegate() string {
	x := rd.e.s.DelegateTo
	v := rd.once("delegate_to", x)
	if rd.err == nil && templar.IsOmit(value.OrNone(v)) {
		x = rd.e.s.Otherwise["delegate_to"]
		v = rd.once("delegate_to", x)
	}
	if rd.err != nil || v == nil || templar.IsOmit(v) {
		return ""
	}
	text, isText := value.Text(v)
	_, isBool := v.(value.Bool)
	_, isInt := value.AsInt(v)
	switch {
	case !value.IsTrue(v):
		rd.err = &fault{text: "Empty hostname produced from delegate_to: \"" + value.Printed(x.V) + "\""}
	case isText:
		return text
	case value.IsMapping(v):
		rd.err = &fault{text: "unhashable type: '_AnsibleTaggedDict'"}
	case value.IsSequence(v):
		rd.err = &fault{text: "unhashable type: '_AnsibleTaggedList'"}
	case isBool:
		rd.err = &fault{text: "expected string or bytes-like object, got 'bool'"}
	case isInt:
		rd.err = &fault{text: "expected string or bytes-like object, got '_AnsibleTaggedInt'"}
	default:
		rd.err = &fault{text: "expected string or bytes-like object, got '_AnsibleTaggedFloat'"}
	}
	return ""
}

// ofCondition returns the fault of a condition of when. A condition that is empty or no text has no text to show.
func (x *execution) ofCondition(f *fault, c value.Value) error {
	if len(f.links) > 0 {
		f.links[0].ofItem(x.item)
	}
	if text, isText := value.Text(c); len(f.links) > 0 && (!isText || strings.TrimSpace(text) == "") {
		f.links[0].spot = spot{key: "when", value: true}
	}
	return f
}

// overlayTagged renders arguments in the tagged language, where an error names the argument.
func (rd *reader) overlayTagged(out, d *value.Dict) {
	for i := range d.Len() {
		k, raw := d.At(i)
		v, err := rd.e.tpl.Template(rd.ctx, raw)
		if err == nil {
			out.SetKey(k, v)
			continue
		}
		rd.err = rd.e.check(rd.ctx, err)
		var f *fault
		if errors.As(rd.err, &f) {
			at := spot{key: value.Printed(k), value: true}
			if text, isText := value.Text(raw); isText {
				at = spot{text: text}
			}
			rd.err = f.under(link{msg: "Finalization of task args for " + value.ReprText(rd.e.s.Action) + " failed.",
				spot: spot{key: rd.e.s.Written}},
				link{msg: "Error while resolving value for " + value.PrintedRepr(k) + ".", spot: at})
		}
		return
	}
}

// includeFault returns the fault of an include whose file cannot be rendered.
func (e *eval) includeFault(err error, file value.Value) error {
	f, ok := err.(*fault)
	if !ok || !e.has(dialect.KeywordWords) {
		return err
	}
	name := "_raw_params"
	if _, free := e.s.Args.Get(name); !free {
		name = "file"
	}
	text, _ := value.Text(file)
	return f.under(link{msg: "Finalization of task args for " + value.ReprText(e.s.Action) + " failed."},
		link{msg: "Error while resolving value for " + value.ReprText(name) + ".", spot: spot{text: text}})
}

// timedOut returns the result of a call that took longer than its timeout, in the tagged language.
func (e *eval) timedOut(seconds int64) *result.Result {
	text := fmt.Sprintf("Timed out after %d second(s).", seconds)
	res := e.failed(context.Background(), &fault{text: text, links: []link{{msg: text}}})
	late := value.NewDict()
	late.Set("frame", value.Str("Configure `DISPLAY_TRACEBACK` to see a traceback on timeout errors."))
	late.Set("period", value.Int(seconds))
	res.Set("timedout", late)
	return res
}

// titled names the destination of a text in its diff, not the temporary file with the text.
func titled(res *result.Result, args *value.Dict) {
	v, _ := res.Get("diff")
	list, _ := v.(*value.List)
	if list == nil {
		list = value.NewList(v)
	}
	dest, given := args.Get("dest")
	for _, item := range list.Items {
		d, ok := item.(*value.Dict)
		if !ok || !given {
			continue
		}
		if header, _ := d.Get("after_header"); header != nil && ofText().MatchString(value.Printed(header)) {
			d.Set("after_header", dest)
		}
	}
}

// ofText matches the file in which Ansible keeps a text that it copies.
var ofText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/ansible-local-[^/]+/tmp[^/]+$`) })

// jobState converts the numbers about a job in a result to bools, also for one that took too long: conditions of the
// tagged language accept nothing else.
func jobState(res *result.Result) {
	v, _ := res.Get("async_result")
	if last, ok := v.(*value.Dict); ok {
		last = last.Copy()
		last.Delete(value.Str("invocation"))
		asBools(last)
		res.Set("async_result", last)
	}
	if res.Job() != "" {
		asBools(res.Dict)
	}
}

func asBools(job *value.Dict) {
	for _, name := range []string{"started", "finished"} {
		if v, ok := job.Get(name); ok {
			job.Set(name, value.Bool(value.IsTrue(v)))
		}
	}
}

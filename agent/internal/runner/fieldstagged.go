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
	"hark/playbook/plan"
)

// processing is a fault of a keyword in the tagged language.
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
	return f.under(link{msg: "Error processing keyword " + value.ReprText(strings.TrimSuffix(name, "_val")) + ".", spot: spot{text: text}})
}

// ofCondition is the fault of a condition of when. One that is empty or no text is not found by its text.
func (x *execution) ofCondition(f *fault, c value.Value) error {
	if x.item != nil && len(f.links) > 0 {
		if name, _, _ := strings.Cut(f.links[0].variable, "."); x.item.vars.Has(name) {
			f.links[0].item = x.item.n
		}
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
			rd.err = f.under(link{msg: "Finalization of task args for " + value.ReprText(rd.e.s.Action) + " failed.", spot: spot{key: rd.e.s.Written}},
				link{msg: "Error while resolving value for " + value.PrintedRepr(k) + ".", spot: at})
		}
		return
	}
}

// includeFault is the fault of the file of an include that cannot be rendered.
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

// timedOut is the result of a call that took longer than its timeout, in the tagged language.
func (e *eval) timedOut(seconds int64) *result.Result {
	text := fmt.Sprintf("Timed out after %d second(s).", seconds)
	res := e.failed(context.Background(), &fault{text: text, links: []link{{msg: text}}})
	late := value.NewDict()
	late.Set("frame", value.Str("Configure `DISPLAY_TRACEBACK` to see a traceback on timeout errors."))
	late.Set("period", value.Int(seconds))
	res.Set("timedout", late)
	return res
}

// titled names the destination of a text in its diff, and not the file in which the text was.
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

// ofText is the file in which Ansible keeps a text that is copied.
var ofText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/ansible-local-[^/]+/tmp[^/]+$`) })

// jobState makes bools of what a result says of a job in numbers, also of one that took too long: conditions of the
// tagged language take nothing else.
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

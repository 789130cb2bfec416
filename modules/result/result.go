// Package result is the result of a task, of an item of its loop, or of a call: what it says, as playbooks see it, and
// the marks on it, as fields. It is decoded once on either side: by a session from what a module returned, and by the
// controller from what a host reported.
package result

import (
	"encoding/json"

	"hark/modules/py/value"
)

// Result is a result. The dict is what playbooks see; results of other hosts and of plug-ins may hold anything there.
type Result struct {
	*value.Dict
	Marks
	// Items are the results of a loop's items, in their order; nil outside loops. Their dicts are "results".
	Items []*Result
	// Final says that the module was never called or the action let an exception out, so that until, changed_when and
	// failed_when do not apply.
	Final bool
}

// New returns an empty result.
func New() *Result { return &Result{Dict: value.NewDict()} }

// Of returns the result of a mapping in which marks are keys, as modules and other hosts return it. The result owns the
// mapping.
func Of(d *value.Dict) *Result {
	r := &Result{}
	r.Dict = r.take(d)
	return r
}

// Decode returns the result of JSON from an agent. JSON that is no mapping is an empty result. Marks of a loop's items
// stay keys in "results".
func Decode(raw json.RawMessage) *Result {
	v, err := value.Decode(raw, value.KindUnsafe)
	d, ok := v.(*value.Dict)
	if err != nil || !ok {
		return New()
	}
	return Of(d)
}

// Copy returns a separate result with the same entries.
func (r *Result) Copy() *Result {
	out := *r
	out.Dict = r.Dict.Copy()
	return &out
}

// Whole returns the result as a mapping in which marks are keys, those of a loop's items too.
func (r *Result) Whole() *value.Dict {
	const few = 6 // marks, mostly
	out := r.Dict.CopyFor(few)
	if r.Items != nil {
		l := value.NewList(make([]value.Value, len(r.Items))...)
		for i, item := range r.Items {
			l.Items[i] = item.Whole()
		}
		out.Set("results", l)
	}
	r.Write(out)
	return out
}

// Each returns the results of a loop's items, or else the result itself.
func (r *Result) Each() []*Result {
	if r.Items == nil {
		return []*Result{r}
	}
	return r.Items
}

// Failed reports whether its own "failed" is true.
func (r *Result) Failed() bool { return r.True("failed") }

// Changed reports whether its own "changed" is true.
func (r *Result) Changed() bool { return r.True("changed") }

// Message returns its msg as text, "" if there is none.
func (r *Result) Message() string {
	v, ok := r.Get("msg")
	if !ok || value.IsNone(v) {
		return ""
	}
	return value.Printed(v)
}

// Reason returns why something could not be included, "" for other results.
func (r *Result) Reason() string { return r.Text("reason") }

// Job returns the id of the job that it names, "" if it names none.
func (r *Result) Job() string { return r.Text("ansible_job_id") }

// Clean returns what register keeps: no internal keys, and no invocation of the task as a whole.
func (r *Result) Clean() *value.Dict {
	out, _ := Strip(r.Dict).(*value.Dict)
	out.Delete(value.Str("invocation"))
	if r.Parsed {
		out.Set("ansible_parsed", value.Bool(true))
	}
	results, _ := out.Get("results")
	if list, ok := results.(*value.List); ok && len(list.Items) == len(r.Items) {
		for i, item := range r.Items {
			if d, isDict := list.Items[i].(*value.Dict); isDict && item.Parsed {
				d.Set("ansible_parsed", value.Bool(true))
			}
		}
	}
	return out
}

// Shown returns what views print: without internal keys at any depth, except the marks that Ansible leaves there.
func (r *Result) Shown() *value.Dict {
	out, _ := strip(r.Dict, shownMark).(*value.Dict)
	r.eachShown(func(key, v value.Value) { out.SetKey(key, v) })
	if r.Delegated != nil {
		out.Set(delegated, r.Delegated)
	}
	return out
}

// Hidden replaces a result that nobody may see.
const Hidden = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

// Censored returns what may be shown of a no_log result.
func (r *Result) Censored() *Result {
	out := New()
	out.Set("censored", value.Str(Hidden))
	for _, name := range []string{"attempts", "changed", "retries"} {
		if v, ok := r.Get(name); ok {
			out.Set(name, v)
		}
	}
	out.Delegated, out.Secrets = r.Delegated, r.Secrets
	return out
}

// Strip returns a value without internal keys, at every depth.
func Strip(v value.Value) value.Value { return strip(v, func(string) bool { return false }) }

// shownMark reports whether Shown leaves the mark with a key.
func shownMark(key string) bool {
	switch key {
	case noLog, verbose, quiet, label:
		return true
	}
	return false
}

func strip(v value.Value, keep func(key string) bool) value.Value {
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		for i := range v.Len() {
			k, item := v.Kept(i)
			if name, ok := value.Text(k); !ok || !Internal(name) || keep(name) {
				out.SetKey(k, strip(item, keep))
			}
		}
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, strip(item, keep))
		}
		return out
	}
	return v
}

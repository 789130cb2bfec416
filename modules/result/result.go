// Package result is what the house knows of the result of a task, of an item of its loop, or of a call: what it says,
// as playbooks see it, and the marks on it that the house goes by, as fields. It is made once on either side: by a
// session of what a module returned, and by the controller of what it was told.
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
	// Final: the call never came to pass, and so neither until nor changed_when and failed_when are asked.
	Final bool
}

// New is a result that says nothing yet.
func New() *Result { return &Result{Dict: value.NewDict()} }

// Of is a result of a mapping in which marks are keys, as modules and other hosts return it. The mapping is the
// result's then.
func Of(d *value.Dict) *Result {
	r := &Result{}
	r.Dict = r.take(d)
	return r
}

// Decode is the result of JSON as agents tell it. What is no mapping says nothing. Marks of a loop's items stay keys
// in "results".
func Decode(raw json.RawMessage) *Result {
	v, err := value.Decode(raw, value.KindUnsafe)
	d, ok := v.(*value.Dict)
	if err != nil || !ok {
		return New()
	}
	return Of(d)
}

// Copy is a result of its own with the same entries.
func (r *Result) Copy() *Result {
	out := *r
	out.Dict = r.Dict.Copy()
	return &out
}

// Whole is the result as a mapping in which marks are keys, those of a loop's items too.
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

// Each are the results of a loop's items, or else the result itself.
func (r *Result) Each() []*Result {
	if r.Items == nil {
		return []*Result{r}
	}
	return r.Items
}

// Failed reports whether it says so of itself.
func (r *Result) Failed() bool { return r.True("failed") }

// Changed reports whether it says so of itself.
func (r *Result) Changed() bool { return r.True("changed") }

// Message is its msg as text, "" if there is none.
func (r *Result) Message() string {
	v, ok := r.Get("msg")
	if !ok || value.IsNone(v) {
		return ""
	}
	return value.Printed(v)
}

// Reason is why something could not be included, "" for other results.
func (r *Result) Reason() string { return r.Text("reason") }

// Job is the id of the job that it tells of, "" if it tells of none.
func (r *Result) Job() string { return r.Text("ansible_job_id") }

// Clean is what register keeps: no internal keys, and no invocation of the task as a whole.
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

// Shown is what views print that print all: without internal keys at any depth, but for those marks that Ansible
// leaves there.
func (r *Result) Shown() *value.Dict {
	out, _ := strip(r.Dict, shownMark).(*value.Dict)
	r.eachShown(func(key, v value.Value) { out.SetKey(key, v) })
	if r.Delegated != nil {
		out.Set(delegated, r.Delegated)
	}
	return out
}

// Hidden is what is said in place of a result that nobody may see.
const Hidden = "the output has been hidden due to the fact that 'no_log: true' was specified for this result"

// Censored is what may be shown of a result that is no_log.
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

// Strip is a value without internal keys, at every depth.
func Strip(v value.Value) value.Value { return strip(v, func(string) bool { return false }) }

// shownMark tells the keys of the marks that Shown leaves.
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

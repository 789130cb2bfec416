package modules

import (
	"encoding/json"

	"hark/modules/py/value"
	"hark/modules/result"
)

// Result is what a module returns. Data is merged into the top level of the JSON that users register.
type Result struct {
	Changed, Failed, Skipped bool
	Msg                      string
	// Facts are ansible_facts.
	Facts        *value.Dict
	Diff         []Diff
	Warnings     []string
	Deprecations []map[string]any
	// Data holds everything else, in the order in which Ansible's module writes it: users print results, and loop over
	// them. The fields above stand where most of Ansible's modules have them, "changed" first and "msg" last, or where
	// Data has Here or AtEnd under their names.
	Data *value.Dict
	// Raised says that the result comes from an error that Ansible raises itself, not a module or action. Such results
	// have no "changed".
	Raised bool
	// Class is the class of such an error in Python, "" for Ansible's own: other ones are told as unexpected.
	Class string
	// Plain says that the result does not get the state of the file that it names, because an action produces it in
	// Ansible.
	Plain bool
	// Invocation are the arguments as the module understood them, if Env asks for them.
	Invocation *value.Dict
	// Marks are the marks of the result, see package result.
	Marks result.Marks
}

// FieldPlace stands in Data for a field of the result.
type FieldPlace string

const (
	// Here marks the position of the field.
	Here FieldPlace = "here"
	// AtEnd says that the module does not report "changed", and Ansible adds it at the end.
	AtEnd FieldPlace = "at end"
)

// Type implements value.Value. Users never see a mark.
func (FieldPlace) Type() string { return "mark" }

// Diff is one entry of a result's diff.
type Diff struct {
	Before       any
	After        any
	BeforeHeader string
	AfterHeader  string
	// Prepared is a diff that the module made itself.
	Prepared string
	// Raw, if set, is the whole entry.
	Raw *value.Dict
}

// Set adds a key to Data.
func (r *Result) Set(key string, v any) {
	if r.Data == nil {
		r.Data = value.NewDict()
	}
	r.Data.Put(key, v)
}

// Dict returns the result as users register it. Data stays unchanged.
func (r Result) Dict() *value.Dict {
	d := value.NewDict()
	late := r.told(d)
	for _, name := range []string{"skipped", "ansible_facts", "diff", "msg", "invocation", "warnings", "deprecations"} {
		r.tell(d, name)
	}
	if late {
		r.tell(d, "changed")
	}
	r.Marks.Write(d)
	return d
}

// told writes Data, and the fields before it and in it. late says that "changed" is still to come; a failure does not
// have it.
func (r Result) told(d *value.Dict) (late bool) {
	at, placed := r.Data.Get("changed")
	mark, _ := at.(FieldPlace)
	late = mark == AtEnd || r.Failed && !r.Changed || r.Facts != nil && r.Data.Len() == 0 // it has nothing but facts
	if !late && !placed {
		r.tell(d, "changed")
	}
	for i := range r.Data.Len() {
		k, v := r.Data.Kept(i)
		name, _ := value.Text(k)
		_, marked := v.(FieldPlace)
		switch {
		case name == "changed" && late:
		case marked || name == "changed":
			r.tell(d, name)
		default:
			d.SetKey(k, v)
		}
	}
	return late
}

// tell writes a field, if it is set.
func (r Result) tell(d *value.Dict, name string) {
	switch {
	case name == "changed" && !r.Raised:
		d.Put(name, r.Changed)
	case name == "skipped" && r.Skipped:
		d.Put(name, true)
	case name == "msg":
		if r.Failed {
			d.Put("failed", true)
		}
		if r.Msg != "" {
			d.Put(name, r.Msg)
		}
	case name == "ansible_facts" && r.Facts != nil:
		d.Put(name, r.Facts)
	case name == "diff":
		if v := diffs(r.Diff); v != nil {
			d.Put(name, v)
		}
	case name == "warnings" && len(r.Warnings) > 0:
		d.Put(name, r.Warnings)
	case name == "deprecations" && len(r.Deprecations) > 0:
		d.Put(name, r.Deprecations)
	case name == "invocation" && r.Invocation != nil:
		if _, told := d.Get(name); !told {
			d.Put(name, value.DictOf("module_args", r.Invocation))
		}
	}
}

// diffs returns one entry as a mapping and several as a list, as Ansible's modules do.
func diffs(diffs []Diff) any {
	list := make([]any, 0, len(diffs))
	for _, d := range diffs {
		list = append(list, d.entry())
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

func (d *Diff) entry() *value.Dict {
	if d.Raw != nil {
		return d.Raw
	}
	entry := value.NewDict()
	if d.Before != nil || d.After != nil {
		entry.Put("before", d.Before)
		entry.Put("after", d.After)
	}
	for _, text := range []struct{ name, text string }{{"before_header", d.BeforeHeader}, {"after_header", d.AfterHeader},
		{"prepared", d.Prepared}} {
		if text.text != "" {
			entry.Put(text.name, text.text)
		}
	}
	return entry
}

// JSON returns Dict as JSON. A float keeps its point: 1.0.
func (r Result) JSON() (json.RawMessage, error) { return value.PlainJSON(r.Dict()), nil }

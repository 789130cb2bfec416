package view

import (
	"strings"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
)

// shown is a result prepared for the eye: what the user may see, and nothing of the engine's own keys.
type shown struct {
	Result
	res *value.Dict
	// loop: the step ran over a loop and this is its sum, with all results.
	loop bool
	// events are the errors that led to a failure, by what failed (Module or Action) where they are those of a module.
	events   []event
	notices  []event // warnings and deprecations
	failedBy string
}

// prepare reads the JSON of a result and takes out what is never shown. A result that is not a mapping
// is shown as empty.
func prepare(r Result) shown {
	s := shown{Result: r, res: value.NewDict()}
	if r.Outcome == nil {
		s.Outcome = &wire.Outcome{}
		return s
	}
	s.loop = r.Outcome.Loop
	if v, err := value.Decode(r.Outcome.Result, value.KindStr); err == nil {
		if d, ok := v.(*value.Dict); ok {
			s.res = d
		}
	}
	delegated, _ := s.res.Get("_ansible_delegated_vars")
	s.notices = eventsOf(s.res, "_ansible_notices")
	s.events, s.failedBy = eventsOf(s.res, "_ansible_events"), textOf(s.res, "_ansible_failed_by")
	if r.Outcome.NoLog || r.Task.NoLog || s.res.True("_ansible_no_log") {
		s.res = censor(s.res)
	} else {
		drop(s.res, "failed", "skipped")
		if isDebug(r.Task.Action) {
			drop(s.res, "invocation")
		}
		s.res = stripInternal(s.res, true).(*value.Dict)
	}
	if d, ok := delegated.(*value.Dict); ok {
		s.res.Set("_ansible_delegated_vars", d)
	}
	return s
}

// Censored is what views show of a result that is hidden: by its task, or as it says itself. Others stay as they are.
func Censored(d *value.Dict, byTask bool) *value.Dict {
	if !byTask && !d.True("_ansible_no_log") {
		return d
	}
	out := censor(d)
	if delegated, ok := d.Get("_ansible_delegated_vars"); ok {
		out.Set("_ansible_delegated_vars", delegated)
	}
	return out
}

func censor(d *value.Dict) *value.Dict {
	out := value.NewDict()
	out.Set("censored", value.Str("the output has been hidden due to the fact that 'no_log: true' was specified for this result"))
	for _, key := range []string{"attempts", "changed", "retries"} {
		if v, ok := d.Get(key); ok {
			out.Set(key, v)
		}
	}
	return out
}

// stripInternal is v without the keys of the engine, at every depth; keep leaves those that views read.
func stripInternal(v value.Value, keep bool) value.Value {
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		for i := range v.Len() {
			k, item := v.Kept(i)
			if name, ok := value.Text(k); !ok || !internal(name, keep) {
				out.SetKey(k, stripInternal(item, keep))
			}
		}
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Items = append(out.Items, stripInternal(item, keep))
		}
		return out
	}
	return v
}

func internal(name string, keep bool) bool {
	if !strings.HasPrefix(name, "_ansible_") {
		return false
	}
	switch name {
	case "_ansible_verbose_always", "_ansible_item_label", "_ansible_no_log", "_ansible_verbose_override":
		return !keep
	}
	return true
}

// cleanDebug leaves of a debug task's result what it was meant to print.
func (s shown) cleanDebug() {
	if !isDebug(s.Task.Action) {
		return
	}
	if _, ok := s.res.Get("msg"); !ok {
		drop(s.res, "changed", "failed", "skipped", "invocation", "skip_reason")
		return
	}
	for _, k := range s.res.Keys() {
		switch name, _ := value.Text(k); name {
		case "msg", "exception", "warnings", "deprecations":
		default:
			if !strings.HasPrefix(name, "_") {
				s.res.Delete(k)
			}
		}
	}
}

// host is the host as lines show it: with the host that did the work, if that was another.
func (s shown) host() string {
	to := s.Outcome.Delegated
	if to == "" || to == s.Host {
		return s.Host
	}
	label := s.Host + " -> " + to
	if address := s.delegate(); address != "" && address != to {
		label += "(" + address + ")"
	}
	return label
}

// delegate is the address of the host that a step was delegated to, "" if it was not.
func (s shown) delegate() string {
	vars, _ := s.res.Get("_ansible_delegated_vars")
	if d, ok := vars.(*value.Dict); ok {
		return s.line(textOf(d, "ansible_host"))
	}
	return ""
}

// item is the label of a loop's item. Of a censored result nothing is left but None, as in Ansible.
func (s shown) item() string {
	if label, ok := s.label(); ok {
		return label
	}
	return "None"
}

// line is a text as a part of a line.
func (s shown) line(text string) string {
	if s.flat {
		return flat(text)
	}
	return text
}

func (s shown) label() (string, bool) {
	for _, key := range []string{"_ansible_item_label", "item"} {
		if label, ok := s.res.Get(key); ok {
			return s.line(pyText(label)), true
		}
	}
	return "", false
}

// verbose tells whether the result is printed at a verbosity.
func (s shown) verbose(verbosity, above int) bool {
	return (verbosity > above || isTrue(s.res, "_ansible_verbose_always")) && !isTrue(s.res, "_ansible_verbose_override")
}

// dumper prints results.
type dumper struct {
	verbosity int
	format    string
	pretty    *bool
}

func (o Options) dumper() dumper {
	return dumper{verbosity: o.Display.Verbosity(), format: o.ResultFormat, pretty: o.Pretty}
}

// dump is the result as JSON, or as YAML if the user chose so. An indent of -1 leaves it to the options.
func (d dumper) dump(s shown, indent int) string {
	yaml := d.format == "yaml"
	pretty := s.res.True("_ansible_verbose_always") || d.pretty == nil && yaml || d.pretty != nil && *d.pretty || d.verbosity > 2
	if indent <= 0 && pretty {
		indent = 4
	}
	if d.pretty != nil && !*d.pretty {
		indent = -1
	}
	res := d.abridge(s)
	if yaml {
		return "\n" + d.yaml(res, indent)
	}
	return value.JSONText(res, value.JSONOptions{Lines: indent >= 0, Indent: strings.Repeat(" ", max(indent, 0)), Sorted: true})
}

// abridge is the result without what the verbosity does not show.
func (d dumper) abridge(s shown) *value.Dict {
	res := stripInternal(s.res, false).(*value.Dict)
	if d.verbosity < 3 {
		drop(res, "invocation", "diff")
	}
	drop(res, "exception")
	return res
}

func isDebug(action string) bool {
	return modules.ShortName(action) == "debug"
}

func drop(d *value.Dict, keys ...string) {
	for _, key := range keys {
		d.Delete(value.Str(key))
	}
}

// isTrue is whether an entry is the boolean true itself.
func isTrue(d *value.Dict, key string) bool {
	v, _ := d.Get(key)
	b, _ := v.(value.Bool)
	return bool(b)
}

// textOf is an entry as text, "" if it is not there or None.
func textOf(d *value.Dict, key string) string {
	v, ok := d.Get(key)
	if !ok || value.IsNone(v) {
		return ""
	}
	return pyText(v)
}

// pyText is v as Python prints it.
func pyText(v value.Value) string {
	s, err := value.ToStr(v)
	if err != nil {
		return err.Error()
	}
	return s
}

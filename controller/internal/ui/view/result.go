package view

import (
	"strings"

	"hark/agent/wire"
	"hark/modules"
	"hark/modules/py/value"
	"hark/modules/result"
)

// shown is a result prepared for the eye: what the user may see, and nothing of the engine's own keys.
type shown struct {
	Result
	res   *value.Dict
	marks result.Marks
	// loop: the step ran over a loop and this is its sum, with all results.
	loop bool
	// events are the errors that led to a failure, by what failed (Module or Action) where they are those of a module.
	events  []event
	notices []event // warnings and deprecations
}

// prepare takes out of a result what is never shown. A result that is not a mapping is shown as empty.
func prepare(r Result) shown {
	s := shown{Result: r, res: value.NewDict()}
	if r.Outcome == nil {
		s.Outcome = &wire.Outcome{}
		return s
	}
	s.loop = r.Outcome.Loop
	all := r.Outcome.Said().Marks
	s.events, s.notices = eventsOf(all.Events), eventsOf(all.Notices)
	said := r.Visible()
	s.marks = said.Marks
	s.res = r.bare(result.Strip(said.Dict).(*value.Dict))
	return s
}

// Visible returns what the user may see of the result.
func (r Result) Visible() *result.Result {
	said := r.Outcome.Said()
	if r.Outcome.NoLog || r.Task.NoLog || said.NoLog.On() {
		return said.Censored()
	}
	return said
}

// bare takes out of data what the line of a result says already.
func (r Result) bare(data *value.Dict) *value.Dict {
	drop(data, "failed", "skipped")
	if isDebug(r.Task.Action) {
		drop(data, "invocation")
	}
	return data
}

// data returns the result for those who print nothing else, with the marks that Ansible leaves in it.
func (r Result) data() *value.Dict {
	if r.Outcome == nil {
		return value.NewDict()
	}
	return r.bare(r.Visible().Shown())
}

// cleanDebug leaves of a debug task's result what it was meant to print; at level 2.19 (tagged) that is less of a
// loop's items.
func (s shown) cleanDebug(tagged bool) {
	if !isDebug(s.Task.Action) {
		return
	}
	if _, ok := s.res.Get("msg"); !ok {
		drop(s.res, "changed", "failed", "skipped", "invocation", "skip_reason")
		if tagged {
			drop(s.res, "ansible_loop_var", "ansible_index_var", "ansible_loop")
		}
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

// host returns the host as lines show it: with the host that did the work, if that was another.
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

// delegate returns the address of the host that a step was delegated to, "" if it was not.
func (s shown) delegate() string {
	return s.line(textOf(s.marks.Delegated, "ansible_host"))
}

// item returns the label of a loop's item. Of a censored result nothing is left but None, as in Ansible.
func (s shown) item() string {
	if label, ok := s.label(); ok {
		return label
	}
	return "None"
}

// line returns a text as a part of a line.
func (s shown) line(text string) string {
	if s.flat {
		return flat(text)
	}
	return text
}

func (s shown) label() (string, bool) {
	label := s.marks.Label
	if label == nil {
		label, _ = s.res.Get("item")
	}
	if label == nil {
		return "", false
	}
	return s.line(pyText(label)), true
}

// verbose reports whether the result is printed at a verbosity.
func (s shown) verbose(verbosity, above int) bool {
	return (verbosity > above || s.marks.Verbose.On()) && !s.marks.Quiet.On()
}

// dumper prints results.
type dumper struct {
	verbosity int
	format    string
	pretty    *bool
	// indent is that of results of several lines, width that of lines of YAML.
	indent, width int
}

const usualIndent = 4

func (o Options) dumper() dumper {
	d := dumper{verbosity: o.Display.Verbosity(), format: o.ResultFormat, pretty: o.Pretty, indent: usualIndent,
		width: o.YAMLWidth}
	if o.Indent != nil {
		d.indent = *o.Indent
	}
	return d
}

// dump returns the result as JSON, or as YAML if the user chose so. An indent of -1 leaves it to the options.
func (d dumper) dump(s shown, indent int) string {
	yaml := d.format == "yaml"
	pretty := s.marks.Verbose.On() || d.pretty == nil && yaml || d.pretty != nil && *d.pretty || d.verbosity > 2
	if indent <= 0 && pretty {
		indent = d.indent
	}
	if d.pretty != nil && !*d.pretty {
		indent = -1
	}
	res := d.abridge(s)
	if yaml {
		return "\n" + d.yaml(res, indent)
	}
	return value.JSONText(res, value.JSONOptions{Lines: indent >= 0, Indent: strings.Repeat(" ", max(indent, 0)),
		Sorted: true})
}

// abridge returns the result without what the verbosity does not show.
func (d dumper) abridge(s shown) *value.Dict {
	res := s.res.Copy()
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

// textOf returns an entry as text, "" if it is not there or None.
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

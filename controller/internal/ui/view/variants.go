package view

import (
	"strings"

	"hark/modules/py/value"
	"hark/modules/result"
)

// newDebug returns the default view with the output of commands as text below each result.
func newDebug(o Options) (View, error) {
	v := newDefaultView(o)
	d := o.dumper()
	v.dump = func(s shown, _ int) string { return d.withOutput(s) }
	return v, nil
}

// withOutput prints a result without its texts, and then each of them by itself.
func (d dumper) withOutput(s shown) string {
	rest := value.NewDict()
	texts := map[string]string{}
	s.res.Each(func(k, v value.Value) bool {
		switch name, _ := value.Text(k); name {
		case "stdout", "stderr", "msg", "module_stdout", "module_stderr":
			if value.IsTrue(v) {
				texts[name] = pyText(v)
			}
		case "stdout_lines", "stderr_lines":
		default:
			rest.SetKey(k, v)
		}
		return true
	})
	s.res, s.marks.Verbose = rest, result.Yes
	out := d.dump(s, -1)
	for _, name := range []string{"stdout", "stderr", "msg", "module_stdout", "module_stderr"} {
		if text, ok := texts[name]; ok {
			out += "\n\n" + strings.ToUpper(name) + ":\n\n" + text + "\n"
		}
	}
	return out
}

// newSkippy returns the default view without the hosts that skip; unlike with display_skipped_hosts=no, tasks that
// all hosts skip have their banner.
func newSkippy(o Options) (View, error) {
	v := newDefaultView(o)
	v.noSkips = true
	return v, nil
}

// newNull shows nothing.
func newNull(Options) (View, error) { return Silent{}, nil }
